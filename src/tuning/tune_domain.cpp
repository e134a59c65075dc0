#include <algorithm>
#include <cmath>

#include "domain_regret.hpp"
#include "tuned_matrix.hpp"

namespace heddle {

namespace {

/// Of one matrix, plans this near to its best may be the domain's, the best ones of them.
constexpr double near_best = 1.05;
constexpr std::size_t most_near_best = 8;

void add_near_best(std::vector<Trial> trials, std::vector<Plan>& candidates) {
  std::erase_if(trials, [](const Trial& trial) {
    return trial.outcome != Trial::Outcome::measured || !std::isfinite(trial.score);
  });
  std::stable_sort(trials.begin(), trials.end(),
                   [](const Trial& a, const Trial& b) { return a.score < b.score; });
  for (std::size_t i = 0; i < std::min(trials.size(), most_near_best); ++i) {
    if (trials[i].score > near_best * trials.front().score) return;
    if (std::find(candidates.begin(), candidates.end(), trials[i].plan) == candidates.end()) {
      candidates.push_back(trials[i].plan);
    }
  }
}

/// One kind of entry and precision, or there is no plan for all of them.
void check_alike(const std::vector<NamedMatrix>& matrices) {
  if (matrices.empty()) throw Error(ErrorKind::usage, "tuning: a domain has at least one matrix");
  for (const NamedMatrix& matrix : matrices) {
    if (matrix.matrix == nullptr) throw Error(ErrorKind::usage, "tuning: no matrix is given");
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

}  // namespace

Profile detail::tune_domain(const std::string& domain, const std::vector<NamedMatrix>& matrices,
                            const Device& device, const TuneOptions& options,
                            const MakeTrials& make_trials) {
  check_alike(matrices);
  const TuningDevice on = tuning_device(device, make_trials);
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
  return detail::tune_domain(domain, matrices, device, options, detail::trials_on_device);
}

}  // namespace heddle
