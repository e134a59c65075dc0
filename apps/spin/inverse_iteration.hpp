// The similarity transformation of a spin transformation: the eigenvector of (D - rho)*(D - rho) of
// the least eigenvalue, by inverse iteration (Crane, Pinkall, Schroeder 2011, section 5).
#pragma once

#include <functional>
#include <vector>

#include "heddle/operator.hpp"
#include "heddle/report.hpp"
#include "quaternions.hpp"

namespace heddle::spin {

struct InverseIterationOptions {
  /// It ends when the sine of the angle between two iterates is at most this.
  double angle = 1e-3;
  int max_steps = 100;
  /// Each solve begins from the last iterate, scaled; otherwise from zero.
  bool warm_start = true;
  SolverOptions solver = {};
};

struct InverseStep {
  Report solve;
  double angle = 1;       // sine of, to the iterate before
  double eigenvalue = 0;  // Rayleigh quotient of A, the shift taken off
};

struct InverseIteration {
  std::vector<Quaternion> vector;  // of mass-weighted norm 1
  std::vector<InverseStep> steps;
  bool converged = false;  // to `angle`, every solve to its tolerance
};

/// Of A x = eigenvalue M x, where `shifted` is A + shift M, M the diagonal `mass`, from the vector
/// that is 1 everywhere, whose Rayleigh quotient is `first_eigenvalue`. Quaternion multiples from
/// the right of an eigenvector are eigenvectors too. The observer sees each step and each iteration
/// of its solve and may end all by returning false. A solve that does not converge ends the
/// iteration there.
InverseIteration smallest_eigenvector(
    const Operator<Quaternion>& shifted, double shift, const std::vector<double>& mass,
    double first_eigenvalue, const InverseIterationOptions& options,
    const std::function<bool(int step, const SolveProgress&)>& observer = {});

}  // namespace heddle::spin
