#include "tuned_matrix.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <limits>

#include "contest.hpp"
#include "heddle/detail/sliced.hpp"
#include "operator_trials.hpp"

namespace heddle::detail {

namespace {

/// Host device for matrices to be tuned.
Device host_of(const Device& device) { return Device::cpu(device.threads()); }

}  // namespace

std::string today() {
  using namespace std::chrono;
  const year_month_day date{floor<days>(system_clock::now())};
  char text[16];
  std::snprintf(text, sizeof text, "%04d-%02u-%02u", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
  return text;
}

void check_tuning(const NamedMatrix& matrix, const TuneOptions& options) {
  const auto refuse = [](const std::string& what) {
    throw Error(ErrorKind::usage, "tuning: " + what);
  };
  if (matrix.matrix == nullptr) refuse("no matrix is given");
  if (!(options.max_memory_ratio > 0)) refuse("the memory ratio is a positive number");
  if (!std::isfinite(options.memory_weight) || options.memory_weight < 0) {
    refuse("the memory weight is 0 or more");
  }
  if (!(options.confidence > 0 && options.confidence < 1)) {
    refuse("the confidence lies between 0 and 1");
  }
  if (!(options.tightness > 0)) refuse("the tightness is a positive number");
  if (options.min_runs < 1 || options.max_runs < options.min_runs) {
    refuse("the minimum number of runs is 1 or more, the maximum no less");
  }
  if (!(options.seconds_limit >= 0)) refuse("the limit in seconds is 0 or more");
  if (matrix.matrix->rows() == 0 || matrix.matrix->entries() == 0) {
    refuse("the matrix has no entries");
  }
  check_objective(*matrix.matrix, options.objective);
}

std::unique_ptr<Trials> trials_on_device(const AnyMatrix& matrix, const Device& device,
                                         Objective objective) {
  return std::make_unique<OperatorTrials>(matrix, device, objective);
}

TunedMatrix::TunedMatrix(const NamedMatrix& matrix, const TuningDevice& on,
                         const TuneOptions& options)
    : matrix_(matrix), on_(on), options_(options) {
  const PatternView pattern = matrix.matrix->pattern();
  subject_ = tuning_subject(*matrix.matrix, options.objective, on.device.threads());
  features_ = pattern_features(pattern, host_of(on.device));
  const EntrySize size = heddle::subject_of(*matrix.matrix).size();
  starts_ = predicted_plans(pattern, size, on.properties, on.ceilings, options.objective);
  std::vector<Plan> others = options.starts;
  const PlanChoice known = options.known.choose(*matrix.matrix, on.device, options.objective);
  if (known.tuned) others.push_back(known.plan);
  untried_ = others.empty() ? starts_.front() : others.front();
  for (const Plan& plan : others) {
    if (std::find(starts_.begin(), starts_.end(), plan) == starts_.end()) starts_.push_back(plan);
  }
}

Trials& TunedMatrix::trials() {
  if (!trials_) trials_ = on_.make_trials(*matrix_.matrix, on_.device, options_.objective);
  return *trials_;
}

SearchResult TunedMatrix::search(std::vector<Trial>& tried) {
  if (options_.search == Search::predict) return {};
  if (options_.on_matrix) options_.on_matrix(matrix_.name);
  TuneOptions options = options_;
  options.on_trial = [&](const Trial& trial) {
    tried.push_back(trial);
    if (options_.on_trial) options_.on_trial(trial);
  };
  SearchResult found;
  if (options_.search == Search::full) {
    found = full_search(trials(), SearchSpace::papers(subject_, on_.properties), starts_.front(),
                        options);
  } else {
    found = pruned_search(trials(), SearchSpace::whole(subject_, on_.properties), starts_, options);
  }
  if (found.best || found.cancelled) return found;
  const auto refused = std::find_if(tried.rbegin(), tried.rend(), [](const Trial& trial) {
    return trial.outcome != Trial::Outcome::measured;
  });
  throw Error(
      ErrorKind::unsupported,
      "no plan could be measured" +
          (refused == tried.rend() ? std::string()
                                   : "; the last: " + std::string(name(refused->outcome)) +
                                         (refused->reason.empty() ? "" : ", " + refused->reason)));
}

std::vector<Trial> TunedMatrix::measure(const std::vector<Plan>& plans) {
  const SearchSpace bare(Plan{}, {}, subject_, on_.properties);
  TuneOptions options = options_;
  options.seconds_limit = std::numeric_limits<double>::infinity();
  options.on_trial = {};
  if (options_.observer) {
    options.observer = [this](TuneProgress progress) {
      progress.compares = true;
      return options_.observer(progress);
    };
  }
  const Effort effort{options.min_runs, options.max_runs, options.confidence, options.tightness};
  trials().announce(plans);
  Contest contest(trials(), bare, options, static_cast<int>(plans.size()));
  std::vector<Trial> measured;
  if (!contest.begin(plans)) return measured;
  for (const Plan& plan : plans) {
    const Contest::Entrant* const entrant = contest.attempt(plan, effort);
    if (entrant == nullptr) break;
    measured.push_back(entrant->trial);
  }
  return measured;
}

std::optional<ProfileRecord> TunedMatrix::record(const SearchResult& found) {
  const bool predicts = options_.search == Search::predict;
  if (!predicts && !found.best) return {};
  const AnyMatrix& matrix = *matrix_.matrix;
  ProfileRecord record;
  record.matrix = matrix_.name;
  record.entry = matrix.entry().name();
  record.precision = name(matrix.precision());
  record.objective = options_.objective;
  record.fingerprint = fingerprint(matrix.pattern());
  record.features = features_;
  record.search = name(options_.search);
  record.date = today();
  if (predicts) {
    record.plan = untried_;
    record.natural = natural_layout(record.plan);
    const auto bytes_under = [&](const Plan& plan) {
      return static_cast<double>(
          memory_use(matrix.pattern(), plan, matrix.entry_bytes(), host_of(on_.device)).product());
    };
    record.memory_ratio = bytes_under(record.plan) / bytes_under(Plan{});
    return record;
  }
  record.plan = found.best->plan;
  record.seconds = found.best->seconds;
  record.memory_ratio = found.best->memory_ratio;
  // If cancelled before a natural layout was measured, the speed-up is unknown, and not claimed.
  record.natural = found.natural ? found.natural->plan : natural_layout(record.plan);
  if (found.natural) {
    record.natural_seconds = found.natural->seconds;
    record.speedup = found.natural->seconds.median / found.best->seconds.median;
  }
  return record;
}

Profile empty_profile(const TuningDevice& on) {
  Profile profile = Profile::of(on.device);
  profile.ceilings = on.ceilings;
  return profile;
}

TuningDevice tuning_device(const Device& device) {
  return {device, properties_of(device), measure_ceilings(device), trials_on_device};
}

}  // namespace heddle::detail
