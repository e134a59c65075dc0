// The plans that are best over a set of matrices, and what they lose on matrices of another.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace heddle {

struct DomainBest {
  std::size_t plan = 0;
  double regret = 0;                  // geometric mean over the matrices of score / least, less 1
  std::vector<std::size_t> matrices;  // it is the best for these
};

/// Of scores[matrix][plan], positive, infinite where a plan does not run: the plan of least total
/// regret, the sum over matrices of log(score / the matrix's least score); the first of equals.
/// None where no plan runs on every matrix.
std::optional<DomainBest> least_regret(const std::vector<std::vector<double>>& scores);

/// What plans took on the matrices of a domain.
struct DomainScores {
  /// [plan]: all iterations run in one kernel. That is for matrices up to some size: no such plan
  /// suits larger ones, nor another the smaller ones. Of products none does.
  std::vector<bool> one_kernel;
  std::vector<std::vector<double>> scores;  // [matrix][plan], as above
  std::vector<std::vector<bool>> proposed;  // [matrix][plan]: what is known of that matrix alone
  std::vector<std::size_t> predicted;       // [matrix]: a plan, among those proposed for it
};

/// Of the matrices whose best plan runs in one kernel, and of the others, the plan of that kind
/// that has the least regret; none for a kind that no matrix is of.
std::vector<DomainBest> best_of_each_loop(const DomainScores& domain);

/// What each matrix would lose, of score / least score - 1, had the domain been without it: under
/// the plan for its predicted kind of loop, or where that does not run its prediction. Infinite
/// where that does not run either. Of fewer than two matrices none.
std::vector<double> losses_left_out(const DomainScores& domain);

}  // namespace heddle
