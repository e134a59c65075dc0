#include "domain_regret.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

namespace heddle {

namespace {

using Matrices = std::vector<std::size_t>;

double loss(const DomainScores& known, std::size_t matrix, std::size_t plan) {
  const std::vector<double>& scores = known.scores[matrix];
  return scores[plan] / *std::min_element(scores.begin(), scores.end());
}

double total_regret(const DomainScores& known, const Matrices& matrices, std::size_t plan) {
  double total = 0;
  for (const std::size_t matrix : matrices) total += std::log(loss(known, matrix, plan));
  return total;
}

Matrices without(const Matrices& matrices, std::size_t out) {
  Matrices others = matrices;
  std::erase(others, out);
  return others;
}

/// Of the plans that these matrices proposed, of one kind or of any.
std::optional<std::size_t> least_regret(const DomainScores& known, const Matrices& matrices,
                                        std::optional<int> kind) {
  std::optional<std::size_t> best;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t plan = 0; plan < known.kind.size(); ++plan) {
    const bool is_known = std::any_of(matrices.begin(), matrices.end(), [&](std::size_t matrix) {
      return known.proposed[matrix][plan];
    });
    if (!is_known || (kind && known.kind[plan] != *kind)) continue;
    const double total = total_regret(known, matrices, plan);
    if (!(total < least)) continue;
    least = total;
    best = plan;
  }
  return best;
}

/// What each matrix loses, log(score / least), under the plan of that kind for the others.
std::vector<double> logs_left_out(const DomainScores& known, const Matrices& matrices, int kind) {
  std::vector<double> logs;
  for (const std::size_t out : matrices) {
    const auto plan = least_regret(known, without(matrices, out), kind);
    logs.push_back(plan ? std::log(loss(known, out, *plan))
                        : std::numeric_limits<double>::infinity());
  }
  return logs;
}

/// Whether `logs` are less than `others` on average, by more than the standard error of the
/// differences: infinite of one.
bool is_clearly_less(const std::vector<double>& logs, const std::vector<double>& others) {
  const auto count = static_cast<double>(logs.size());
  double mean = 0, squares = 0;
  for (std::size_t i = 0; i < logs.size(); ++i) mean += (others[i] - logs[i]) / count;
  if (!std::isfinite(mean)) return mean > 0;  // the others fail; not a number where both do
  for (std::size_t i = 0; i < logs.size(); ++i) {
    squares += (others[i] - logs[i] - mean) * (others[i] - logs[i] - mean);
  }
  return mean > 0 && count > 1 && mean > std::sqrt(squares / (count * (count - 1)));
}

std::optional<std::size_t> best_for(const DomainScores& known, const Matrices& matrices) {
  if (matrices.size() < 2) return least_regret(known, matrices, {});
  std::optional<int> best_kind;
  std::vector<double> best;
  for (const int kind : std::set<int>(known.kind.begin(), known.kind.end())) {
    if (!least_regret(known, matrices, kind)) continue;
    const std::vector<double> logs = logs_left_out(known, matrices, kind);
    if (best_kind && !is_clearly_less(logs, best)) continue;
    best = logs;
    best_kind = kind;
  }
  return least_regret(known, matrices, best_kind);
}

Matrices all_of(const DomainScores& known) {
  Matrices matrices(known.scores.size());
  std::iota(matrices.begin(), matrices.end(), std::size_t{0});
  return matrices;
}

}  // namespace

std::optional<DomainBest> best_of_domain(const DomainScores& known) {
  const Matrices matrices = all_of(known);
  const auto plan = best_for(known, matrices);
  if (!plan) return {};
  const auto count = static_cast<double>(matrices.size());
  return DomainBest{*plan, std::expm1(total_regret(known, matrices, *plan) / count)};
}

std::vector<double> losses_left_out(const DomainScores& known, std::size_t otherwise) {
  std::vector<double> losses;
  const Matrices matrices = all_of(known);
  if (matrices.size() < 2) return losses;
  for (const std::size_t out : matrices) {
    const std::size_t plan = best_for(known, without(matrices, out)).value_or(otherwise);
    const bool runs = std::isfinite(known.scores[out][plan]);
    losses.push_back(loss(known, out, runs ? plan : otherwise) - 1);
  }
  return losses;
}

}  // namespace heddle
