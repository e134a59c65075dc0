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
  /// The plan that a matrix gets on which that of its domain does not run: the prediction.
  std::size_t otherwise = 0;
};

struct DomainBest {
  std::size_t plan = 0;  // the column
  double regret = 0;     // geometric mean over the matrices of score / least score, less 1
};

/// The plan of least total regret, the sum over matrices of log(score / the matrix's least score),
/// the first of equals, of one kind: plans that are chosen of many suit the matrices that they are
/// chosen on better than others, so that what counts for a kind is what its plans lose on each
/// matrix in turn where the others choose. It is the first kind that loses no more than the best
/// one, or more by less than 1% or the standard error of the differences (after Breiman et al.
/// 1984, section 3.4.3). Of one matrix of any kind. None where no plan runs on every matrix.
std::optional<DomainBest> best_of_domain(const DomainScores& known);

/// What each matrix would lose, of score / least score - 1, under the plan that is best of the
/// domain of all others; infinite where neither that nor `otherwise` runs. Of fewer than three
/// matrices none: one matrix by itself says nothing of kinds.
std::vector<double> losses_left_out(const DomainScores& known);

}  // namespace heddle
