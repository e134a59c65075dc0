// The tuning of one matrix, for profiles of one and of many.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "heddle/tune.hpp"

namespace heddle::detail {

/// Makes the trials of a matrix, or their stand-in in a test.
using MakeTrials =
    std::function<std::unique_ptr<Trials>(const AnyMatrix&, const Device&, Objective)>;
std::unique_ptr<Trials> trials_on_device(const AnyMatrix& matrix, const Device& device,
                                         Objective objective);

/// A device as every matrix tuned on it sees it.
struct TuningDevice {
  Device device;
  DeviceProperties properties;
  Ceilings ceilings;
  MakeTrials make_trials;
};

/// One matrix being tuned. The constructor's arguments must outlive it.
class TunedMatrix {
 public:
  TunedMatrix(const NamedMatrix& matrix, const TuningDevice& on, const TuneOptions& options);

  /// Searches by options.search; every trial also goes to `tried`. Throws the last refusal where no
  /// plan could be measured, unless it was cancelled.
  SearchResult search(std::vector<Trial>& tried);
  /// Measures plans in turn, in their order; no time limit. Fewer if cancelled or if none runs.
  std::vector<Trial> measure(const std::vector<Plan>& plans);

  /// The record of what `search` found; none where it found nothing. Under `Search::predict` it is
  /// the first plan of the options, else the one that their profiles know, else the prediction.
  std::optional<ProfileRecord> record(const SearchResult& found);

  const PatternFeatures& features() const { return features_; }
  /// The first prediction, whatever profiles know.
  const Plan& predicted() const { return starts_.front(); }

 private:
  Trials& trials();

  NamedMatrix matrix_;
  const TuningDevice& on_;
  const TuneOptions& options_;
  TuningSubject subject_;
  PatternFeatures features_;
  std::vector<Plan> starts_;        // predicted ones, then those of the options
  Plan untried_;                    // the answer of Search::predict
  std::unique_ptr<Trials> trials_;  // made when needed
};

/// Today's date as in records: 2026-11-21.
std::string today();

/// Measures the ceilings.
TuningDevice tuning_device(const Device& device);

/// Throws `Error` (usage) for a meaningless matrix or options, and the errors of `check_objective`.
void check_tuning(const NamedMatrix& matrix, const TuneOptions& options);
/// The same for all matrices of a domain, which share one entry and precision.
void check_domain(const std::vector<NamedMatrix>& matrices, const TuneOptions& options);

/// Like `heddle::tune` and the others, for arguments that have been checked.
Profile tune(const NamedMatrix& matrix, const TuningDevice& on, const TuneOptions& options);
Profile tune_domain(const std::string& domain, const std::vector<NamedMatrix>& matrices,
                    const TuningDevice& on, const TuneOptions& options);
Evaluation evaluate(const Profile& profile, const NamedMatrix& matrix, const TuningDevice& on,
                    const TuneOptions& options);

/// A profile without records, for measurements on that device.
Profile empty_profile(const TuningDevice& on);

}  // namespace heddle::detail
