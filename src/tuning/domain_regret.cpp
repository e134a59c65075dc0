#include "domain_regret.hpp"

#include <algorithm>
#include <cmath>

namespace heddle {

namespace {

double least_of(const std::vector<double>& scores) {
  return *std::min_element(scores.begin(), scores.end());
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
    best = DomainBest{plan, std::expm1(total / static_cast<double>(scores.size()))};
  }
  return best;
}

std::vector<double> losses_left_out(const std::vector<std::vector<double>>& scores,
                                    const std::vector<std::vector<bool>>& proposed,
                                    std::size_t otherwise) {
  std::vector<double> losses;
  if (scores.size() < 2) return losses;
  for (std::size_t out = 0; out < scores.size(); ++out) {
    std::vector<std::size_t> plans;
    for (std::size_t plan = 0; plan < scores[out].size(); ++plan) {
      bool is_known = false;
      for (std::size_t other = 0; other < scores.size(); ++other) {
        is_known = is_known || (other != out && proposed[other][plan]);
      }
      if (is_known) plans.push_back(plan);
    }
    std::vector<std::vector<double>> known;
    for (std::size_t other = 0; other < scores.size(); ++other) {
      if (other == out) continue;
      known.emplace_back();
      for (const std::size_t plan : plans) known.back().push_back(scores[other][plan]);
    }
    const auto best = least_regret(known);
    std::size_t plan = best ? plans[best->plan] : otherwise;
    if (!std::isfinite(scores[out][plan])) plan = otherwise;
    losses.push_back(scores[out][plan] / least_of(scores[out]) - 1);
  }
  return losses;
}

}  // namespace heddle
