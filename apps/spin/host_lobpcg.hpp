// LOBPCG for one vector of quaternions in the host's memory.
#pragma once

#include <vector>

#include "heddle/krylov_solver.hpp"
#include "heddle/operator.hpp"
#include "heddle/preconditioner.hpp"
#include "quaternions.hpp"

namespace heddle::spin {

struct HostEigenpair {
  Status status = Status::converged;
  double eigenvalue = 0;
  double residual_norm = 0;  // |A x - eigenvalue M x|, true
  double vector_norm = 0;    // |x|
  long long iterations = 0, products = 0;
};

/// The least eigenvalue of A x = eigenvalue M x, M being the diagonal `mass` in the order of `x`,
/// from the guess x, which becomes the vector, of mass-weighted norm 1. It ends when the residual
/// is at most angle * bound * |x|; the observer sees the residual over bound * |x|. Iterations,
/// time limit and observer are those of `limits`. Like `heddle/lobpcg.hpp` for one vector, but the
/// sums and updates of an iteration are two walks: more would take longer than a multigrid cycle.
HostEigenpair host_lobpcg(const Operator<Quaternion>& matrix,
                          Preconditioner<double>& preconditioner, const std::vector<double>& mass,
                          double bound, double angle, const SolverOptions& limits,
                          Field<Quaternion>& x);

}  // namespace heddle::spin
