// A spin transformation: the conformal deformation of a closed surface under which the mean
// curvature half-density changes by rho (Crane, Pinkall, Schroeder 2011).
//
//   lambda with (D - rho) lambda = 0, as nearly as possible     inverse_iteration.hpp,
//                                                               lobpcg_eigenvector.hpp
//   edges conj(lambda) e lambda                                 edge_integration.hpp
//   positions that have such edges, as nearly as possible       edge_integration.hpp
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "edge_integration.hpp"
#include "heddle/multigrid.hpp"
#include "heddle/plan_choice.hpp"
#include "heddle/tools/progress.hpp"
#include "inverse_iteration.hpp"
#include "surface_quality.hpp"

namespace heddle::spin {

enum class Eigensolver { inverse_iteration, lobpcg };
const char* name(Eigensolver method);

struct SpinOptions {
  Device device = Device::cpu();
  /// Amount added to (D - rho)*(D - rho), in units of M / R^2, where 4 pi R^2 is the area: without
  /// it the matrix is singular for rho = 0. It changes no eigenvector.
  double shift = 0.01;
  Eigensolver eigensolver = Eigensolver::inverse_iteration;
  /// For both systems; replaces Jacobi's preconditioner.
  bool multigrid = false;
  /// For the eigenvector's levels; those for the positions are doubles.
  StoredScalar level_precision = StoredScalar::own;
  /// For LOBPCG, only the angle is used.
  InverseIterationOptions iteration = {};
  /// For the solves; the tolerance is at most `iteration.angle`. Warm-started solves of inverse
  /// iteration go only as far as the iteration can use; LOBPCG uses the iterations only.
  SolverOptions solver = {.tolerance = 1e-6};

  using Build = std::function<void(const Plan&)>;
  /// Calls `build` with a plan for the matrix, possibly again with another if the first does not
  /// work, and returns the choice. Without it plans are predicted.
  std::function<PlanChoice(const PlanSubject& matrix, const Build& build)> with_plan = {};

  /// Receive both systems, b of n x 4 numbers, when their solvers are made.
  std::function<void(const CsrMatrix<Quaternion>&, const Field<Quaternion>&)> on_dirac = {};
  std::function<void(const CsrMatrix<RealOnQuaternions>&, const Field<RealOnQuaternions>&)>
      on_poisson = {};
  Progress* progress = nullptr;
};

struct SpinTransformation {
  std::vector<Point> position;  // with the same area and centre as before
  std::vector<Quaternion> lambda;
  double scale = 1;  // lengths are those of conj(lambda) e lambda times this
  double shift = 0;  // amount added to the matrix, in units of M
  Eigensolver method = Eigensolver::inverse_iteration;
  Eigenvector iteration;
  Report integration;
  PlanChoice dirac_plan, poisson_plan;
  std::optional<MultigridReport> dirac_hierarchy, poisson_hierarchy;  // with multigrid
  StoredScalar level_precision = StoredScalar::own;                   // for dirac_hierarchy
  Offset dirac_entries = 0, poisson_entries = 0;

  struct Times {
    double assemble = 0, build = 0, eigenvector = 0, integrate = 0;
  } seconds;

  /// True if the eigenvector was found and the Poisson equation solved.
  bool converged() const { return iteration.converged && integration.converged(); }
};

/// `rho` is one number per triangle of a closed surface (`mesh::check_closed`). Failures to
/// converge are reported by `iteration` and `integration`; without a converged eigenvector nothing
/// is integrated, and the positions are those before. Throws `Error` like `dirac` and `Operator`.
SpinTransformation spin_transform(const TriangleMesh& mesh, const std::vector<double>& rho,
                                  const SpinOptions& options = {});

}  // namespace heddle::spin
