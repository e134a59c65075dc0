// The eigenvector of (D - rho)*(D - rho) for the least eigenvalue, by LOBPCG.
#pragma once

#include <memory>
#include <vector>

#include "eigenvector.hpp"
#include "heddle/krylov_solver.hpp"
#include "heddle/operator.hpp"

namespace heddle::spin {

/// Solves A x = eigenvalue M x, where `matrix` is A + shift M and M is the diagonal `mass`, from
/// the vector that is 1 everywhere: on a CPU by `host_lobpcg`, on a GPU by `heddle/lobpcg.hpp`. It
/// ends when |A x - eigenvalue M x| is at most angle / radius^2 |M| |x|, where |M| is the root mean
/// square of the masses. That is about a bound of the sine of the angle to the eigenvector if the
/// next eigenvalue is 1 / radius^2 away (Davis, Kahan 1970), as on a sphere. Iterations, time limit
/// and observer are those of `limits`.
Eigenvector eigenvector_by_lobpcg(const Operator<Quaternion>& matrix,
                                  std::shared_ptr<Preconditioner<double>> preconditioner,
                                  double shift, const std::vector<double>& mass, double radius,
                                  double angle, const SolverOptions& limits);

}  // namespace heddle::spin
