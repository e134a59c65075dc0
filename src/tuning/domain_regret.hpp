// The plan that is best over a set of matrices, and what it loses on a matrix of another.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace heddle {

/// Plans on the matrices of a domain; at least one of each.
struct DomainScores {
  /// scores[matrix][plan]: positive, infinite where it does not run.
  std::vector<std::vector<double>> scores;
  /// proposed[matrix][plan]: by the search on that matrix. Of fewer matrices, only what they
  /// proposed is known.
  std::vector<std::vector<bool>> proposed;
  /// kind[plan]: 0 takes least from one matrix to another.
  std::vector<int> kind;
};

struct DomainBest {
  std::size_t plan = 0;  // the column
  double regret = 0;     // geometric mean over the matrices of score / least score, less 1
};

/// The plan of least total regret, the sum over matrices of log(score / the matrix's least score),
/// of the first kind than which none after it loses less where each matrix in turn is left out, by
/// more than the standard error of that (Breiman et al. 1984, section 3.4.3): plans that are chosen
/// of many suit the matrices that they are chosen on better than others. The first of equals. Of
/// one matrix of any kind. None where no plan runs on every matrix.
std::optional<DomainBest> best_of_domain(const DomainScores& known);

/// What each matrix would lose, of score / least score - 1, under the plan that is best of the
/// domain of all others. Where there is none, or it does not run, under `otherwise`; infinite where
/// that does not run either. Of fewer than two matrices none.
std::vector<double> losses_left_out(const DomainScores& known, std::size_t otherwise);

}  // namespace heddle
