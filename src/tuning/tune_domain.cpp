#include <algorithm>
#include <cmath>

#include "domain_regret.hpp"
#include "tuned_matrix.hpp"

namespace heddle {

namespace {

/// Of one matrix, plans this near to its best may be the domain's: the best ones, and the best of
/// each other layout, since schedules of one layout are many and alike.
constexpr double near_best = 1.05;
constexpr std::size_t most_near_best = 8, best_ones = 3;

void add_near_best(std::vector<Trial> trials, std::vector<Plan>& candidates) {
  std::erase_if(trials, [](const Trial& trial) {
    return trial.outcome != Trial::Outcome::measured || !std::isfinite(trial.score);
  });
  std::stable_sort(trials.begin(), trials.end(),
                   [](const Trial& a, const Trial& b) { return a.score < b.score; });
  std::vector<Plan> taken;
  for (const Trial& trial : trials) {
    if (trial.score > near_best * trials.front().score || taken.size() == most_near_best) break;
    const bool is_known_layout = std::any_of(taken.begin(), taken.end(), [&](const Plan& plan) {
      return same_layout(plan, trial.plan);
    });
    if (taken.size() < best_ones || !is_known_layout) taken.push_back(trial.plan);
  }
  for (const Plan& plan : taken) {
    if (std::find(candidates.begin(), candidates.end(), plan) == candidates.end()) {
      candidates.push_back(plan);
    }
  }
}

}  // namespace

void detail::check_domain(const std::vector<NamedMatrix>& matrices, const TuneOptions& options) {
  if (matrices.empty()) throw Error(ErrorKind::usage, "tuning: a domain has at least one matrix");
  for (const NamedMatrix& matrix : matrices) {
    check_tuning(matrix, options);
    const AnyMatrix& first = *matrices.front().matrix;
    const AnyMatrix& other = *matrix.matrix;
    if (other.entry().name() == first.entry().name() && other.precision() == first.precision()) {
      continue;
    }
    throw Error(ErrorKind::usage, "tuning: a domain's matrices have one entry and precision, " +
                                      matrix.name + " has " + std::string(other.entry().name()) +
                                      " in " + std::string(name(other.precision())) + ", " +
                                      matrices.front().name + " has " +
                                      std::string(first.entry().name()) + " in " +
                                      std::string(name(first.precision())));
  }
}

Profile detail::tune_domain(const std::string& domain, const std::vector<NamedMatrix>& matrices,
                            const TuningDevice& on, const TuneOptions& options) {
  Profile profile = empty_profile(on);
  std::vector<Plan> candidates;
  bool cancelled = false;
  TuneOptions watched = options;
  watched.observer = [&](const TuneProgress& progress) {
    if (options.observer && !options.observer(progress)) cancelled = true;
    return !cancelled;
  };
  for (const NamedMatrix& matrix : matrices) {
    TunedMatrix tuned(matrix, on, watched);
    std::vector<Trial> trials;
    const SearchResult found = tuned.search(trials);
    if (auto record = tuned.record(found)) profile.records.push_back(*std::move(record));
    add_near_best(std::move(trials), candidates);
    if (cancelled) return profile;
  }
  if (options.search == Search::predict || candidates.empty()) return profile;

  std::vector<std::vector<double>> scores;
  for (const NamedMatrix& matrix : matrices) {
    TunedMatrix tuned(matrix, on, watched);
    scores.emplace_back();
    for (const Trial& trial : tuned.measure(candidates)) scores.back().push_back(trial.score);
    if (scores.back().size() < candidates.size()) return profile;
  }
  const std::optional<DomainBest> best = least_regret(scores);
  if (!best) return profile;
  const ProfileRecord& first = profile.records.front();
  DomainRecord record;
  record.domain = domain;
  record.entry = first.entry;
  record.precision = first.precision;
  record.objective = options.objective;
  record.plan = candidates[best->plan];
  record.regret = best->regret;
  for (const ProfileRecord& of_matrix : profile.records) {
    record.fingerprints.push_back(of_matrix.fingerprint);
  }
  profile.domains.push_back(std::move(record));
  return profile;
}

Profile tune_domain(const std::string& domain, const std::vector<NamedMatrix>& matrices,
                    const Device& device, const TuneOptions& options) {
  detail::check_domain(matrices, options);
  return detail::tune_domain(domain, matrices, detail::tuning_device(device), options);
}

}  // namespace heddle
