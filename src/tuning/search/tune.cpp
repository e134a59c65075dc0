#include "heddle/tune.hpp"

#include <algorithm>
#include <array>

#include "tuned_matrix.hpp"

namespace heddle {

namespace {

constexpr std::array<std::string_view, 3> search_names = {"full", "pruned", "predict"};

}  // namespace

std::string_view name(Search search) { return search_names[static_cast<std::size_t>(search)]; }

Search parse_search(std::string_view text) {
  const auto found = std::find(search_names.begin(), search_names.end(), text);
  if (found != search_names.end()) return static_cast<Search>(found - search_names.begin());
  throw Error(ErrorKind::usage,
              "no search is named '" + std::string(text) + "'; there are full, pruned and predict");
}

Profile detail::tune(const NamedMatrix& matrix, const TuningDevice& on,
                     const TuneOptions& options) {
  Profile profile = empty_profile(on);
  TunedMatrix tuned(matrix, on, options);
  std::vector<Trial> trials;
  const SearchResult found = tuned.search(trials);
  if (auto record = tuned.record(found)) profile.records.push_back(*std::move(record));
  return profile;
}

Profile tune(const NamedMatrix& matrix, const Device& device, const TuneOptions& options) {
  detail::check_tuning(matrix, options);
  return detail::tune(matrix, detail::tuning_device(device), options);
}

}  // namespace heddle
