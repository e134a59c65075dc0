// The plan that is best over a set of matrices, and its loss on a matrix of another set.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace heddle {

/// Scores of plans on the matrices of a domain; at least one of each.
struct DomainScores {
  /// scores[matrix][plan]: positive, infinite where it does not run.
  std::vector<std::vector<double>> scores;
  /// proposed[matrix][plan]: by the search on that matrix. For a subset of the matrices, only the
  /// plans that they proposed are known.
  std::vector<std::vector<bool>> proposed;
  /// kind[plan]: kind 0 transfers least from one matrix to another.
  std::vector<int> kind;
  /// The plan of a matrix on which its domain's plan does not run: the prediction.
  std::size_t otherwise = 0;
};

struct DomainBest {
  std::size_t plan = 0;  // column of the plan
  double regret = 0;     // geometric mean over the matrices of score / least score, less 1
};

/// The plan of least total regret, the sum over matrices of log(score / the matrix's least score),
/// the first of equals, among plans of one kind. Plans chosen from many suit the matrices that they
/// were chosen on better than others, so a kind is judged by the losses of its plans on each matrix
/// in turn where the others choose. It is the first kind that loses no more than the best one, or
/// more by less than 1% or the standard error of the differences (after Breiman et al. 1984,
/// section 3.4.3). For one matrix, plans of any kind. None where no plan runs on every matrix.
std::optional<DomainBest> best_of_domain(const DomainScores& known);

/// The loss of each matrix, score / least score - 1, under the best plan for the domain of all
/// others; infinite where neither that nor `otherwise` runs. Empty for fewer than three matrices:
/// one matrix by itself says nothing about kinds.
std::vector<double> losses_left_out(const DomainScores& known);

}  // namespace heddle
