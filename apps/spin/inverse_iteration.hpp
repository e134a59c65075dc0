// The similarity transformation of a spin transformation: the eigenvector of (D - rho)*(D - rho)
// for the least eigenvalue, by inverse iteration (Crane, Pinkall, Schroeder 2011, section 5).
#pragma once

#include <vector>

#include "eigenvector.hpp"
#include "heddle/krylov_solver.hpp"
#include "heddle/operator.hpp"

namespace heddle::spin {

struct InverseIterationOptions {
  /// The iteration ends when the sine of the angle between two iterates is at most this.
  double angle = 1e-3;
  int max_steps = 100;
  /// Each solve starts from the last iterate, scaled, and ends when the residual is a tenth of its
  /// initial value, or within the solver's tolerance. Otherwise it starts from zero and ends within
  /// the tolerance.
  bool warm_start = true;
  /// Number of solutions of earlier steps that improve a warm start, 0 to 64.
  int earlier_solutions = 8;
};

/// Solves A x = eigenvalue M x, where `solver` is one for A + shift M and M is the diagonal `mass`,
/// from the vector that is 1 everywhere, whose Rayleigh quotient is `first_eigenvalue`. Quaternion
/// multiples from the right of an eigenvector are eigenvectors too. A solve that does not converge
/// ends the iteration there. The solver's tolerance has to be at most `options.angle`; otherwise a
/// step may accept a vector that no iteration has rotated as the solution.
Eigenvector eigenvector_by_inverse_iteration(const Operator<Quaternion>& matrix,
                                             KrylovSolver<double>& solver, double shift,
                                             const std::vector<double>& mass,
                                             double first_eigenvalue,
                                             const InverseIterationOptions& options);

}  // namespace heddle::spin
