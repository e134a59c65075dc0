#include "domain_regret.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace heddle {

namespace {

double least_of(const std::vector<double>& scores) {
  return *std::min_element(scores.begin(), scores.end());
}

/// Only these matrices and plans; plans and predictions stay as they are numbered.
std::vector<std::vector<double>> part_of(const DomainScores& domain,
                                         const std::vector<std::size_t>& matrices,
                                         const std::vector<std::size_t>& plans) {
  std::vector<std::vector<double>> part;
  for (const std::size_t matrix : matrices) {
    part.emplace_back();
    for (const std::size_t plan : plans) part.back().push_back(domain.scores[matrix][plan]);
  }
  return part;
}

/// `best_of_each_loop` over some of the matrices and plans.
std::vector<DomainBest> best_among(const DomainScores& domain,
                                   const std::vector<std::size_t>& matrices,
                                   const std::vector<std::size_t>& plans) {
  std::vector<DomainBest> found;
  for (const bool one_kernel : {true, false}) {
    std::vector<std::size_t> of_kind, suited;
    std::copy_if(plans.begin(), plans.end(), std::back_inserter(of_kind),
                 [&](std::size_t plan) { return domain.one_kernel[plan] == one_kernel; });
    std::copy_if(
        matrices.begin(), matrices.end(), std::back_inserter(suited), [&](std::size_t matrix) {
          const std::vector<double>& scores = domain.scores[matrix];
          const std::size_t best = *std::min_element(
              plans.begin(), plans.end(), [&](auto a, auto b) { return scores[a] < scores[b]; });
          return domain.one_kernel[best] == one_kernel;
        });
    if (suited.empty()) continue;
    std::optional<DomainBest> best = least_regret(part_of(domain, suited, of_kind));
    if (!best) continue;
    best->plan = of_kind[best->plan];
    best->matrices = suited;
    found.push_back(*std::move(best));
  }
  return found;
}

}  // namespace

std::optional<DomainBest> least_regret(const std::vector<std::vector<double>>& scores) {
  if (scores.empty()) return {};
  std::optional<DomainBest> best;
  double least = 0;
  for (std::size_t plan = 0; plan < scores.front().size(); ++plan) {
    double total = 0;
    for (const std::vector<double>& of_matrix : scores) {
      total += std::log(of_matrix[plan] / least_of(of_matrix));
    }
    if (!std::isfinite(total) || (best && !(total < least))) continue;
    least = total;
    best = DomainBest{plan, std::expm1(total / static_cast<double>(scores.size())), {}};
  }
  if (best) {
    best->matrices.resize(scores.size());
    std::iota(best->matrices.begin(), best->matrices.end(), std::size_t{0});
  }
  return best;
}

std::vector<DomainBest> best_of_each_loop(const DomainScores& domain) {
  std::vector<std::size_t> matrices(domain.scores.size()), plans(domain.one_kernel.size());
  std::iota(matrices.begin(), matrices.end(), std::size_t{0});
  std::iota(plans.begin(), plans.end(), std::size_t{0});
  if (plans.empty()) return {};
  return best_among(domain, matrices, plans);
}

std::vector<double> losses_left_out(const DomainScores& domain) {
  std::vector<double> losses;
  if (domain.scores.size() < 2) return losses;
  for (std::size_t out = 0; out < domain.scores.size(); ++out) {
    std::vector<std::size_t> others, plans;
    for (std::size_t matrix = 0; matrix < domain.scores.size(); ++matrix) {
      if (matrix != out) others.push_back(matrix);
    }
    for (std::size_t plan = 0; plan < domain.one_kernel.size(); ++plan) {
      const bool is_known = std::any_of(others.begin(), others.end(), [&](std::size_t matrix) {
        return domain.proposed[matrix][plan];
      });
      if (is_known) plans.push_back(plan);
    }
    const std::vector<double>& scores = domain.scores[out];
    const std::size_t predicted = domain.predicted[out];
    std::vector<DomainBest> best;
    if (!plans.empty()) best = best_among(domain, others, plans);
    const auto of_its_kind = std::find_if(best.begin(), best.end(), [&](const DomainBest& b) {
      return domain.one_kernel[b.plan] == domain.one_kernel[predicted];
    });
    std::size_t plan = predicted;
    if (of_its_kind != best.end()) {
      plan = of_its_kind->plan;
    } else if (!best.empty()) {
      plan = best.front().plan;
    }
    const double score = std::isfinite(scores[plan]) ? scores[plan] : scores[predicted];
    losses.push_back(score / least_of(scores) - 1);
  }
  return losses;
}

}  // namespace heddle
