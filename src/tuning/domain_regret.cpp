#include "domain_regret.hpp"

#include <algorithm>
#include <cmath>

namespace heddle {

std::optional<DomainBest> least_regret(const std::vector<std::vector<double>>& scores) {
  if (scores.empty()) return {};
  std::optional<DomainBest> best;
  double least = 0;
  for (std::size_t plan = 0; plan < scores.front().size(); ++plan) {
    double total = 0;
    for (const std::vector<double>& of_matrix : scores) {
      total += std::log(of_matrix[plan] / *std::min_element(of_matrix.begin(), of_matrix.end()));
    }
    if (!std::isfinite(total) || (best && !(total < least))) continue;
    least = total;
    best = DomainBest{plan, std::expm1(total / static_cast<double>(scores.size()))};
  }
  return best;
}

}  // namespace heddle
