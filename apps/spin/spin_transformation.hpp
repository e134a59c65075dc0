// A spin transformation: the conformal deformation of a closed surface under which the mean
// curvature half-density changes by rho (Crane, Pinkall, Schroeder 2011).
//
//   lambda with (D - rho) lambda = 0, as nearly as there is one    inverse_iteration.hpp,
//   lobpcg_eigenvector.hpp edges conj(lambda) e lambda edge_integration.hpp positions that have
//   such edges, as nearly as there are any     edge_integration.hpp
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
  /// What is added to (D - rho)*(D - rho), in units of M / R^2, 4 pi R^2 the area: without it the
  /// matrix is singular for rho = 0. It changes no eigenvector.
  double shift = 0.01;
  Eigensolver eigensolver = Eigensolver::inverse_iteration;
  /// For both systems, in place of Jacobi's preconditioner.
  bool multigrid = false;
  /// Of its levels for the eigenvector; those for the positions are doubles.
  StoredScalar level_precision = StoredScalar::own;
  /// Of LOBPCG the angle alone.
  InverseIterationOptions iteration = {};
  /// Of the solves; a tolerance of at most `iteration.angle`. Those of inverse iteration that begin
  /// warm go no further than it can use; of LOBPCG the iterations alone.
  SolverOptions solver = {.tolerance = 1e-6};

  using Build = std::function<void(const Plan&)>;
  /// Calls `build` with a plan for the matrix, perhaps again with another where that does not do,
  /// and returns the choice. Without it plans are predicted.
  std::function<PlanChoice(const PlanSubject& matrix, const Build& build)> with_plan = {};

  /// Is given both systems, b of n x 4 numbers, when their solvers are made.
  std::function<void(const CsrMatrix<Quaternion>&, const Field<Quaternion>&)> on_dirac = {};
  std::function<void(const CsrMatrix<RealOnQuaternions>&, const Field<RealOnQuaternions>&)>
      on_poisson = {};
  Progress* progress = nullptr;
};

struct SpinTransformation {
  std::vector<Point> position;  // of the same area and centre as before
  std::vector<Quaternion> lambda;
  double scale = 1;  // lengths are those of conj(lambda) e lambda times this
  double shift = 0;  // what was added to the matrix, in units of M
  Eigensolver method = Eigensolver::inverse_iteration;
  Eigenvector iteration;
  Report integration;
  PlanChoice dirac_plan, poisson_plan;
  std::optional<MultigridReport> dirac_hierarchy, poisson_hierarchy;  // of multigrid
  StoredScalar level_precision = StoredScalar::own;                   // of the first
  Offset dirac_entries = 0, poisson_entries = 0;

  struct Times {
    double assemble = 0, build = 0, eigenvector = 0, integrate = 0;
  } seconds;

  /// Whether the eigenvector was found, and the Poisson equation solved.
  bool converged() const { return iteration.converged && integration.converged(); }
};

/// `rho` is one number a triangle of a closed surface (`mesh::check_closed`). What does not
/// converge is told by `iteration` and `integration`; without a converged eigenvector nothing is
/// integrated, and the positions are those before. Throws `Error` as `dirac` and `Operator` do.
SpinTransformation spin_transform(const TriangleMesh& mesh, const std::vector<double>& rho,
                                  const SpinOptions& options = {});

}  // namespace heddle::spin
