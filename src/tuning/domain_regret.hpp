// The plan that is best over a set of matrices.
#pragma once

#include <optional>
#include <vector>

namespace heddle {

struct DomainBest {
  std::size_t plan = 0;  // the column
  double regret = 0;     // geometric mean over the rows of score / least score, less 1
};

/// Of scores[matrix][plan], positive, infinite where a plan does not run: the plan of least total
/// regret, the sum over matrices of log(score / the matrix's least score); the first of equals.
/// None where no plan runs on every matrix.
std::optional<DomainBest> least_regret(const std::vector<std::vector<double>>& scores);

}  // namespace heddle
