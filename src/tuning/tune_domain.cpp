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

std::vector<Plan> near_best_of(std::vector<Trial> trials) {
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
  return taken;
}

bool contains(const std::vector<Plan>& plans, const Plan& plan) {
  return std::find(plans.begin(), plans.end(), plan) != plans.end();
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
  std::vector<std::vector<Plan>> plans_of;
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
    plans_of.push_back(near_best_of(std::move(trials)));
    if (cancelled) return profile;
    plans_of.back().push_back(tuned.predicted());
  }
  std::vector<Plan> candidates;
  for (const std::vector<Plan>& plans : plans_of) {
    for (const Plan& plan : plans) {
      if (!contains(candidates, plan)) candidates.push_back(plan);
    }
  }
  if (options.search == Search::predict || candidates.empty()) return profile;

  DomainScores scores;
  for (const Plan& plan : candidates) {
    scores.one_kernel.push_back(options.objective != Objective::product && is_one_kernel(plan));
  }
  for (std::size_t matrix = 0; matrix < matrices.size(); ++matrix) {
    TunedMatrix tuned(matrices[matrix], on, watched);
    scores.scores.emplace_back();
    for (const Trial& trial : tuned.measure(candidates)) {
      scores.scores.back().push_back(trial.score);
    }
    if (scores.scores.back().size() < candidates.size()) return profile;
    scores.proposed.emplace_back();
    for (const Plan& plan : candidates) {
      scores.proposed.back().push_back(contains(plans_of[matrix], plan));
    }
    const auto predicted = std::find(candidates.begin(), candidates.end(), tuned.predicted());
    scores.predicted.push_back(static_cast<std::size_t>(predicted - candidates.begin()));
  }
  std::vector<double> losses = losses_left_out(scores);
  const auto is_known = [](double loss) { return std::isfinite(loss); };
  if (!std::all_of(losses.begin(), losses.end(), is_known)) losses.clear();
  for (const DomainBest& best : best_of_each_loop(scores)) {
    const ProfileRecord& first = profile.records.front();
    DomainRecord record;
    record.domain = domain;
    record.entry = first.entry;
    record.precision = first.precision;
    record.objective = options.objective;
    record.plan = candidates[best.plan];
    record.regret = best.regret;
    for (const std::size_t matrix : best.matrices) {
      record.fingerprints.push_back(profile.records[matrix].fingerprint);
      if (!losses.empty()) record.left_out.push_back(losses[matrix]);
    }
    profile.domains.push_back(std::move(record));
  }
  return profile;
}

Profile tune_domain(const std::string& domain, const std::vector<NamedMatrix>& matrices,
                    const Device& device, const TuneOptions& options) {
  detail::check_domain(matrices, options);
  return detail::tune_domain(domain, matrices, detail::tuning_device(device), options);
}

}  // namespace heddle
