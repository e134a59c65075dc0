// The plan that is best over a set of matrices, and what it loses on a matrix of another.
#pragma once

#include <cstddef>
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

/// What each matrix would lose, of score / least score - 1, under the plan of least regret over the
/// others: of the plans that one of these proposed, as proposed[matrix][plan] says. Where there is
/// none, or it does not run, under `otherwise`; infinite where that does not run either. Of fewer
/// than two matrices none.
std::vector<double> losses_left_out(const std::vector<std::vector<double>>& scores,
                                    const std::vector<std::vector<bool>>& proposed,
                                    std::size_t otherwise);

}  // namespace heddle
