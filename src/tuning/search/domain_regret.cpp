#include "domain_regret.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

namespace heddle {

namespace {

using Matrices = std::vector<std::size_t>;

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Replaces scores by log(score / the matrix's least).
DomainScores with_logs(DomainScores known) {
  for (std::vector<double>& of_matrix : known.scores) {
    const double least = *std::min_element(of_matrix.begin(), of_matrix.end());
    for (double& score : of_matrix) score = std::log(score / least);
  }
  return known;
}

Matrices all_of(const DomainScores& known) {
  Matrices matrices(known.scores.size());
  std::iota(matrices.begin(), matrices.end(), std::size_t{0});
  return matrices;
}

Matrices without(const Matrices& matrices, std::size_t out) {
  Matrices others = matrices;
  std::erase(others, out);
  return others;
}

double total_of(const DomainScores& logs, const Matrices& matrices, std::size_t plan) {
  double total = 0;
  for (const std::size_t matrix : matrices) total += logs.scores[matrix][plan];
  return total;
}

/// The least-regret plan among those that these matrices proposed, of one kind or of any.
std::optional<std::size_t> min_regret(const DomainScores& logs, const Matrices& matrices,
                                      std::optional<int> kind) {
  std::optional<std::size_t> best;
  double least = infinity;
  for (std::size_t plan = 0; plan < logs.kind.size(); ++plan) {
    if (kind && logs.kind[plan] != *kind) continue;
    const bool is_known = std::any_of(matrices.begin(), matrices.end(), [&](std::size_t matrix) {
      return logs.proposed[matrix][plan];
    });
    const double total = is_known ? total_of(logs, matrices, plan) : infinity;
    if (!(total < least)) continue;
    least = total;
    best = plan;
  }
  return best;
}

/// The loss of a matrix under a domain's plan, as in its solves.
double log_under(const DomainScores& logs, std::size_t matrix, std::optional<std::size_t> plan) {
  const std::vector<double>& of_matrix = logs.scores[matrix];
  return of_matrix[plan && std::isfinite(of_matrix[*plan]) ? *plan : logs.otherwise];
}

/// The loss of each matrix under the plan of that kind for the others.
std::vector<double> logs_left_out(const DomainScores& logs, const Matrices& matrices, int kind) {
  std::vector<double> left_out;
  for (const std::size_t out : matrices) {
    left_out.push_back(log_under(logs, out, min_regret(logs, without(matrices, out), kind)));
  }
  return left_out;
}

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// True if `logs` are less than `others` on average, by more than the resolution of times and than
/// the standard error of the differences.
bool is_clearly_less(const std::vector<double>& logs, const std::vector<double>& others) {
  std::vector<double> gains;
  gains.reserve(logs.size());
  for (std::size_t i = 0; i < logs.size(); ++i) gains.push_back(others[i] - logs[i]);
  const double gain = mean_of(gains);
  if (!std::isfinite(gain)) return gain > 0;  // the others fail; not a number where both do
  double squares = 0;
  for (const double of_one : gains) squares += (of_one - gain) * (of_one - gain);
  const auto count = static_cast<double>(gains.size());
  constexpr double tie = 0.01;  // the same as at the end of a search
  return gain > tie && gain > std::sqrt(squares / (count * (count - 1)));
}

std::optional<std::size_t> best_for(const DomainScores& logs, const Matrices& matrices) {
  if (matrices.size() < 2) return min_regret(logs, matrices, {});
  std::map<int, std::vector<double>> left_out;
  for (const int kind : logs.kind) {
    const bool is_new = !left_out.contains(kind) && min_regret(logs, matrices, kind);
    if (is_new) left_out[kind] = logs_left_out(logs, matrices, kind);
  }
  if (left_out.empty()) return {};
  const auto best = std::min_element(
      left_out.begin(), left_out.end(),
      [](const auto& a, const auto& b) { return mean_of(a.second) < mean_of(b.second); });
  const auto kind = std::find_if(left_out.begin(), left_out.end(), [&](const auto& of_kind) {
    return !is_clearly_less(best->second, of_kind.second);
  });
  return min_regret(logs, matrices, kind->first);
}

}  // namespace

std::optional<DomainBest> best_of_domain(const DomainScores& known) {
  const DomainScores logs = with_logs(known);
  const Matrices matrices = all_of(logs);
  const auto plan = best_for(logs, matrices);
  if (!plan) return {};
  const double mean = total_of(logs, matrices, *plan) / static_cast<double>(matrices.size());
  return DomainBest{*plan, std::expm1(mean)};
}

std::vector<double> losses_left_out(const DomainScores& known) {
  constexpr std::size_t min_matrices = 3;
  std::vector<double> losses;
  if (known.scores.size() < min_matrices) return losses;
  const DomainScores logs = with_logs(known);
  const Matrices matrices = all_of(logs);
  for (const std::size_t out : matrices) {
    losses.push_back(std::expm1(log_under(logs, out, best_for(logs, without(matrices, out)))));
  }
  return losses;
}

}  // namespace heddle
