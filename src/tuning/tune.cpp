#include "heddle/tune.hpp"

#include "tuned_matrix.hpp"

namespace heddle {

Profile detail::tune(const NamedMatrix& matrix, const Device& device, const TuneOptions& options,
                     const MakeTrials& make_trials) {
  const TuningDevice on = tuning_device(device, make_trials);
  Profile profile = empty_profile(on);
  TunedMatrix tuned(matrix, on, options);
  std::vector<Trial> trials;
  const SearchResult found = tuned.search(trials);
  if (auto record = tuned.record(found)) profile.records.push_back(*std::move(record));
  return profile;
}

Profile tune(const NamedMatrix& matrix, const Device& device, const TuneOptions& options) {
  return detail::tune(matrix, device, options, detail::trials_on_device);
}

}  // namespace heddle
