#include <algorithm>
#include <cmath>

#include "domain_regret.hpp"
#include "tuned_matrix.hpp"

namespace heddle {

namespace {

/// Plans this near to a matrix's best may become the domain's: the best ones, and the best of each
/// other layout, since schedules of one layout are many and similar.
constexpr double near_best = 1.05;
constexpr std::size_t max_near_best = 8, best_ones = 3;

std::vector<Plan> near_best_of(std::vector<Trial> trials, const SearchResult& found) {
  std::erase_if(trials, [](const Trial& trial) {
    return trial.outcome != Trial::Outcome::measured || !std::isfinite(trial.score);
  });
  std::stable_sort(trials.begin(), trials.end(),
                   [](const Trial& a, const Trial& b) { return a.score < b.score; });
  std::vector<Plan> taken;
  if (found.best) taken.push_back(found.best->plan);
  for (const Trial& trial : trials) {
    if (trial.score > near_best * trials.front().score || taken.size() == max_near_best) break;
    const bool is_known_layout = std::any_of(taken.begin(), taken.end(), [&](const Plan& plan) {
      return plan.layout == trial.plan.layout;
    });
    const bool is_taken = std::find(taken.begin(), taken.end(), trial.plan) != taken.end();
    if (!is_taken && (taken.size() < best_ones || !is_known_layout)) taken.push_back(trial.plan);
  }
  return taken;
}

/// A plan for all matrices, or the part of it that does not depend on their size.
struct Candidate {
  Plan plan;
  DomainUse use = DomainUse::plan;
};

/// True if both are the same plan for every matrix.
bool is_same(const Candidate& a, const Candidate& b) {
  return a.use == b.use && plan_for_others(a.plan, a.use) == plan_for_others(b.plan, b.use);
}

void add(const Candidate& candidate, std::vector<Candidate>& candidates) {
  const bool is_new = std::none_of(candidates.begin(), candidates.end(),
                                   [&](const Candidate& c) { return is_same(c, candidate); });
  if (is_new) candidates.push_back(candidate);
}

std::vector<Candidate> proposed_by(const std::vector<Plan>& near_best, const Plan& predicted) {
  std::vector<Candidate> proposed = {{predicted, DomainUse::predicted}};
  for (const DomainUse use : {DomainUse::order, DomainUse::storage, DomainUse::plan}) {
    for (const Plan& plan : near_best) add({plan, use}, proposed);
  }
  return proposed;
}

/// Candidates that transfer least between matrices come first, since ties go to the first.
std::vector<Candidate> all_of(const std::vector<std::vector<Candidate>>& proposed) {
  std::vector<Candidate> all;
  for (const std::vector<Candidate>& of_matrix : proposed) {
    for (const Candidate& candidate : of_matrix) add(candidate, all);
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Candidate& a, const Candidate& b) { return a.use < b.use; });
  return all;
}

std::size_t place_of(const Plan& plan, const std::vector<Plan>& plans) {
  return static_cast<std::size_t>(std::find(plans.begin(), plans.end(), plan) - plans.begin());
}

}  // namespace

void detail::check_domain(const std::vector<NamedMatrix>& matrices, const TuneOptions& options) {
  if (matrices.empty()) throw Error(ErrorKind::usage, "tuning: a domain needs at least one matrix");
  for (const NamedMatrix& matrix : matrices) {
    check_tuning(matrix, options);
    const AnyMatrix& first = *matrices.front().matrix;
    const AnyMatrix& other = *matrix.matrix;
    if (other.entry().name() == first.entry().name() && other.precision() == first.precision()) {
      continue;
    }
    throw Error(ErrorKind::usage,
                "tuning: a domain's matrices must have the same entry and precision; " +
                    matrix.name + " has " + std::string(other.entry().name()) + " in " +
                    std::string(name(other.precision())) + ", " + matrices.front().name + " has " +
                    std::string(first.entry().name()) + " in " +
                    std::string(name(first.precision())));
  }
}

Profile detail::tune_domain(const std::string& domain, const std::vector<NamedMatrix>& matrices,
                            const TuningDevice& on, const TuneOptions& options) {
  Profile profile = empty_profile(on);
  std::vector<std::vector<Candidate>> candidates_of;
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
    candidates_of.push_back(proposed_by(near_best_of(std::move(trials), found), tuned.predicted()));
    if (cancelled) return profile;
  }
  if (options.search == Search::predict) return profile;
  const std::vector<Candidate> candidates = all_of(candidates_of);
  DomainScores known;  // the first candidate is the predictions
  for (const Candidate& candidate : candidates)
    known.kind.push_back(static_cast<int>(candidate.use));
  for (std::size_t matrix = 0; matrix < matrices.size(); ++matrix) {
    TunedMatrix tuned(matrices[matrix], on, watched);
    // Several candidates may be the same plan for this matrix.
    std::vector<Plan> plans, once;
    for (const Candidate& candidate : candidates) {
      plans.push_back(plan_of_domain(candidate.plan, candidate.use, tuned.predicted()));
      if (place_of(plans.back(), once) == once.size()) once.push_back(plans.back());
    }
    const std::vector<Trial> trials = tuned.measure(once);
    if (trials.size() < once.size()) return profile;
    known.scores.emplace_back();
    known.proposed.emplace_back();
    for (std::size_t c = 0; c < candidates.size(); ++c) {
      known.scores.back().push_back(trials[place_of(plans[c], once)].score);
      const auto& own = candidates_of[matrix];
      known.proposed.back().push_back(
          std::any_of(own.begin(), own.end(),
                      [&](const Candidate& other) { return is_same(other, candidates[c]); }));
    }
  }
  const std::optional<DomainBest> best = best_of_domain(known);
  if (!best) return profile;
  const ProfileRecord& first = profile.records.front();
  DomainRecord record;
  record.domain = domain;
  record.entry = first.entry;
  record.precision = first.precision;
  record.objective = options.objective;
  record.plan = candidates[best->plan].plan;
  record.use = candidates[best->plan].use;
  record.regret = best->regret;
  for (const ProfileRecord& of_matrix : profile.records) {
    record.fingerprints.push_back(of_matrix.fingerprint);
  }
  record.left_out = losses_left_out(known);
  const auto is_known = [](double loss) { return std::isfinite(loss); };
  if (!std::all_of(record.left_out.begin(), record.left_out.end(), is_known)) {
    record.left_out.clear();
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
