// Solves whose iterations have every field in floats, to the residual that doubles reach: iterative
// refinement (Wilkinson 1963; Higham, Accuracy and Stability of Numerical Algorithms, 2002, ch.
// 12).
#pragma once

#include <memory>
#include <vector>

#include "heddle/export.hpp"
#include "heddle/krylov_solver.hpp"

namespace heddle {

/// A run of the solver over floats solves for b - A x, which the one over doubles has computed, and
/// x is corrected by what it finds. Runs go on while each halves the true residual at least; where
/// one does not, the solver over doubles goes on from the best x, so that what it solves is solved.
///
/// Between runs x and the residual pass through the host's memory, whatever the device is.
class HEDDLE_EXPORT RefinedSolver {
 public:
  /// The same matrix twice. The options of `narrow` say what a run gains, by its tolerance (1e-2
  /// where that is by precision), and how many iterations it takes; those of `wide` say what a
  /// solve comes to, and its limits of all iterations and of time. Its observer is asked by runs
  /// too, with the numbers of the whole solve. A plan may keep a copy of 16 bits of the matrix over
  /// floats (docs/encodings.md). Nobody else uses the two while this object solves. Histories are
  /// those of the last run of each. Throws `Error`: usage for null, size_mismatch for other sizes,
  /// unsupported for ranks, whose clocks differ.
  RefinedSolver(std::shared_ptr<KrylovSolver<float>> narrow,
                std::shared_ptr<KrylovSolver<double>> wide);

  /// As `KrylovSolver::solve`, in the report all iterations, and the runs over floats among the
  /// restarts. `stored` is float where these sufficed.
  Report solve(const FieldView<const double>& b, const FieldView<double>& x);

 private:
  /// Corrects x by a run over floats for the residual of `wide_`, and keeps what it was in `best_`.
  Report run(double norm, const SolverOptions& options, const FieldView<double>& x);

  std::shared_ptr<KrylovSolver<float>> narrow_;
  std::shared_ptr<KrylovSolver<double>> wide_;
  std::vector<double> best_, scratch_;  // in the user's order, as what follows
  std::vector<float> right_hand_side_, correction_;
};

}  // namespace heddle
