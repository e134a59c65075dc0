#include "spin_transformation.hpp"

#include <cmath>
#include <memory>
#include <type_traits>

#include "heddle/choose_plan.hpp"
#include "heddle/conjugate_gradient.hpp"
#include "heddle/jacobi.hpp"
#include "heddle/tools/points.hpp"
#include "lobpcg_eigenvector.hpp"
#include "parallel_sums.hpp"
#include "readable.hpp"
#include "stopwatch.hpp"
#include "surface_size.hpp"
#include "upright.hpp"

namespace heddle::spin {

using namespace points;

namespace {

void tell(const SpinOptions& options, const std::string& what) {
  if (options.progress != nullptr) options.progress->report(-1, what);
}

/// A matrix on the device, and conjugate gradients with a multigrid cycle, or with the inverses of
/// the diagonal. Constants are near-null: without rho the Dirac operator maps them to 0.
template <class E>
struct System {
  Operator<E> matrix;
  std::shared_ptr<Multigrid<double>> multigrid;  // null for Jacobi's preconditioner
  std::shared_ptr<Preconditioner<double>> preconditioner;
  ConjugateGradient<double> solver;

  System(const CsrMatrix<E>& given, const Plan& plan, const SpinOptions& spin,
         const SolverOptions& options)
      : matrix(given, plan, spin.device),
        multigrid(spin.multigrid ? std::make_shared<Multigrid<double>>(matrix, levels_of(spin))
                                 : nullptr),
        preconditioner(spin.multigrid ? std::shared_ptr<Preconditioner<double>>(multigrid)
                                      : std::make_shared<Jacobi<E>>(matrix)),
        solver(matrix, preconditioner, options) {}

  /// Real numbers that act on quaternions have no levels in floats.
  static MultigridOptions levels_of(const SpinOptions& spin) {
    constexpr bool is_dirac = std::is_same_v<E, Quaternion>;
    return {.level_precision = is_dirac ? spin.level_precision : StoredScalar::own};
  }
  std::optional<MultigridReport> hierarchy() const {
    return multigrid ? std::optional(multigrid->report()) : std::nullopt;
  }
};

/// Stores the plan in use in `choice`. The solver's progress is shown as `what`.
template <class E>
std::unique_ptr<System<E>> make_system(const CsrMatrix<E>& matrix, const SpinOptions& options,
                                       const std::string& what, PlanChoice& choice) {
  SolverOptions solver = options.solver;
  if (options.progress != nullptr) {
    solver.observer = [&options, what, own = options.solver.observer](const SolveProgress& now) {
      tell(options, what + ", " + cli::readable_iteration(now));
      return !own || own(now);
    };
  }
  std::unique_ptr<System<E>> system;
  const auto build = [&](const Plan& plan) {
    system.reset();
    system = std::make_unique<System<E>>(matrix, plan, options, solver);
  };
  if (options.with_plan) {
    choice = options.with_plan(subject_of(matrix), build);
  } else {
    choice = {.plan = choose_plan(matrix, options.device), .reason = "predicted", .warning = ""};
    build(choice.plan);
  }
  return system;
}

/// The Rayleigh quotient of a constant: D maps it to zero, so that only rho remains.
double eigenvalue_of_constants(const TriangleMesh& mesh, const std::vector<double>& rho) {
  const auto [numerator, area_in_all] =
      parallel_sums<2>(rho.size(), [&](std::size_t t, std::array<double, 2>& sums) {
        const double area = area_of(mesh, mesh.triangle[t]);
        sums[0] += area * rho[t] * rho[t];
        sums[1] += area;
      });
  return numerator / area_in_all;
}

/// Moves, rotates and scales the surface to the area, centre and orientation of the one before.
void fit(const TriangleMesh& before, const std::vector<double>& mass, SpinTransformation& result) {
  std::vector<Point>& position = result.position;
  const TriangleMesh after{Array<Point>(std::span<const Point>(position)), before.triangle};
  const SurfaceSize wanted = surface_size(before), now = surface_size(after);
  result.scale = std::sqrt(wanted.area / now.area);
  std::vector<Point> from = position, to(before.position.begin(), before.position.end());
  parallel_for(default_threads(), position.size(), [&](std::size_t v) {
    from[v] = result.scale * (from[v] - now.centre);
    to[v] = to[v] - wanted.centre;
  });
  const Quaternion turn = rotation_onto(from, to, mass), back = adjoint(turn);
  parallel_for(default_threads(), position.size(), [&](std::size_t v) {
    const Quaternion p = product(product(turn, imaginary(from[v])), back);
    position[v] = wanted.centre + imaginary_part(p);
    result.lambda[v] = product(result.lambda[v], back);
  });
}

void find_lambda(const TriangleMesh& mesh, const std::vector<double>& rho,
                 const std::vector<double>& mass, const SpinOptions& options,
                 SpinTransformation& result) {
  const cli::Stopwatch assembling;
  const double radius = surface_size(mesh).radius();
  result.shift = options.shift / (radius * radius);
  const CsrMatrix<Quaternion> matrix = dirac(mesh, rho, result.shift);
  result.dirac_entries = matrix.entries();
  result.seconds.assemble += assembling.seconds();

  const cli::Stopwatch building;
  const auto system = make_system(matrix, options, "eigenvector", result.dirac_plan);
  result.dirac_hierarchy = system->hierarchy();
  result.seconds.build += building.seconds();
  if (options.on_dirac) {
    Field<Quaternion> b(matrix.rows());
    for (Index i = 0; i < b.size(); ++i) b.set(i, {{mass[static_cast<std::size_t>(i)], 0, 0, 0}});
    options.on_dirac(matrix, b);
  }

  const cli::Stopwatch iterating;
  result.method = options.eigensolver;
  if (result.method == Eigensolver::lobpcg) {
    result.iteration =
        eigenvector_by_lobpcg(system->matrix, system->preconditioner, result.shift, mass, radius,
                              options.iteration.angle, system->solver.options());
  } else {
    result.iteration =
        eigenvector_by_inverse_iteration(system->matrix, system->solver, result.shift, mass,
                                         eigenvalue_of_constants(mesh, rho), options.iteration);
  }
  // Normalizes the mean |lambda|^2 to 1: edges keep their size overall.
  result.lambda = result.iteration.vector;
  const auto [weight, sum] =
      parallel_sums<2>(mass.size(), [&](std::size_t v, std::array<double, 2>& sums) {
        sums[0] += mass[v];
        sums[1] += mass[v] * squared_norm(result.lambda[v]);
      });
  const double by = std::sqrt(weight / sum);
  parallel_for(default_threads(), mass.size(),
               [&](std::size_t v) { result.lambda[v] = times(by, result.lambda[v]); });
  result.seconds.eigenvector += iterating.seconds();
}

void find_positions(const TriangleMesh& mesh, const mesh::VertexCorners& corners,
                    const std::vector<double>& mass, const SpinOptions& options,
                    SpinTransformation& result) {
  const cli::Stopwatch assembling;
  const CsrMatrix<RealOnQuaternions> matrix = cotangent_matrix(mesh, corners);
  const Field<RealOnQuaternions> b = divergence_of_edges(mesh, corners, result.lambda);
  result.poisson_entries = matrix.entries();
  result.seconds.assemble += assembling.seconds();

  const cli::Stopwatch building;
  const auto system = make_system(matrix, options, "positions", result.poisson_plan);
  result.poisson_hierarchy = system->hierarchy();
  result.seconds.build += building.seconds();
  if (options.on_poisson) options.on_poisson(matrix, b);

  const cli::Stopwatch integrating;
  Field<RealOnQuaternions> x(matrix.rows());
  parallel_for(default_threads(), x.size(), [&](Index i) {
    const Point& p = mesh.position[i];
    x.set(i, {{0, p[0], p[1], p[2]}});
  });
  result.integration = integrate_edges(system->solver, b, x);
  parallel_for(default_threads(), x.size(), [&](Index i) {
    const auto value = x[i];
    result.position[static_cast<std::size_t>(i)] = {value.component[1], value.component[2],
                                                    value.component[3]};
  });
  fit(mesh, mass, result);
  result.seconds.integrate += integrating.seconds();
}

}  // namespace

const char* name(Eigensolver method) {
  return method == Eigensolver::lobpcg ? "lobpcg" : "inverse-iteration";
}

SpinTransformation spin_transform(const TriangleMesh& mesh, const std::vector<double>& rho,
                                  const SpinOptions& options) {
  SpinTransformation result;
  result.position.assign(mesh.position.begin(), mesh.position.end());
  result.level_precision = options.level_precision;
  tell(options, "matrix");
  const mesh::VertexCorners corners(mesh);
  const std::vector<double> mass = vertex_areas(mesh, corners);
  find_lambda(mesh, rho, mass, options, result);
  if (result.iteration.converged) find_positions(mesh, corners, mass, options, result);
  return result;
}

}  // namespace heddle::spin
