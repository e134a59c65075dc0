// The similarity transformation of a spin transformation: the eigenvector of (D - rho)*(D - rho) of
// the least eigenvalue, by inverse iteration (Crane, Pinkall, Schroeder 2011, section 5).
#pragma once

#include <vector>

#include "eigenvector.hpp"
#include "heddle/krylov_solver.hpp"
#include "heddle/operator.hpp"

namespace heddle::spin {

struct InverseIterationOptions {
  /// It ends when the sine of the angle between two iterates is at most this.
  double angle = 1e-3;
  int max_steps = 100;
  /// Each solve begins from the last iterate, scaled, and ends where the residual is a tenth of
  /// what it began with, or within the solver's tolerance. Otherwise from zero, within the
  /// tolerance.
  bool warm_start = true;
  /// A warm start is improved by so many solutions of earlier steps, 0 to 64.
  int earlier_solutions = 8;
};

/// Of A x = eigenvalue M x, where `solver` is one of A + shift M, M the diagonal `mass`, from the
/// vector that is 1 everywhere, whose Rayleigh quotient is `first_eigenvalue`. Quaternion multiples
/// from the right of an eigenvector are eigenvectors too. A solve that does not converge ends the
/// iteration there. The solver's tolerance has to be at most `options.angle`, or a step may take a
/// vector for the solution that no iteration has turned.
Eigenvector eigenvector_by_inverse_iteration(const Operator<Quaternion>& matrix,
                                             KrylovSolver<double>& solver, double shift,
                                             const std::vector<double>& mass,
                                             double first_eigenvalue,
                                             const InverseIterationOptions& options);

}  // namespace heddle::spin
