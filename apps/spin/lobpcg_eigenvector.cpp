#include "lobpcg_eigenvector.hpp"

#include <array>
#include <cmath>
#include <utility>

#include "diagonal_operator.hpp"
#include "heddle/lobpcg.hpp"
#include "heddle/vector_operations.hpp"
#include "host_lobpcg.hpp"
#include "parallel_sums.hpp"
#include "stopwatch.hpp"

namespace heddle::spin {

namespace {

using QuaternionField = Field<Quaternion>;

Operator<Quaternion> make_mass(const std::vector<double>& mass,
                               const Operator<Quaternion>& matrix) {
  std::vector<double> diagonal(4 * mass.size());
  for (std::size_t i = 0; i < mass.size(); ++i) diagonal[4 * i] = mass[i];
  return cli::diagonal_operator<Quaternion>(diagonal.data(), matrix);
}

/// |A v| / |v| for a random v, which is how LOBPCG measures an operator.
double norm_of(const Operator<Quaternion>& A) {
  QuaternionField v = A.field(), image = A.field();
  const Stream& stream = v.stream();
  fill<double>(1, v.view(), stream);
  randomize<double>(v.view(), EigenOptions{}.seed, stream);
  A.apply(1, v.view(), 0, image.view(), stream);
  return norm(image, stream) / norm(v, stream);
}

/// |M| of the masses, in the sense of `norm_of` above.
double norm_of(const std::vector<double>& mass) {
  const auto [squares] = parallel_sums<1>(
      mass.size(),
      [&](std::size_t i, std::array<double, 1>& sums) { sums[0] += mass[i] * mass[i]; });
  return std::sqrt(squares / static_cast<double>(mass.size()));
}

/// Uses `heddle/lobpcg.hpp`. `bound` is for the residual at a sine of 1.
EigenvectorStep solve_on_gpu(const Operator<Quaternion>& matrix,
                             std::shared_ptr<Preconditioner<double>> preconditioner,
                             const std::vector<double>& mass, double bound, double matrix_norm,
                             double angle, const SolverOptions& limits, QuaternionField& x) {
  const Operator<Quaternion> M = make_mass(mass, matrix);
  // LOBPCG measures the norms again, with other random vectors.
  constexpr double within = 0.9;
  Lobpcg<double> solver(matrix, OperatorReference<double>(M), std::move(preconditioner),
                        {.count = 1,
                         .guard = 0,
                         .tolerance = within * angle * bound / matrix_norm,
                         .max_iterations = limits.max_iterations,
                         .time_limit = limits.time_limit,
                         .observer = limits.observer});
  const EigenReport report = solver.solve(x.view());
  EigenvectorStep step;
  step.solve.status = report.status;
  step.solve.iterations = report.iterations;
  step.solve.iterate_seconds = report.seconds;
  step.products = report.products;
  if (!report.residuals.empty()) step.solve.residual = report.residuals[0];
  if (report.converged()) {
    step.eigenvalue = report.eigenvalues[0];
    step.angle = report.residuals[0] *
                 (report.matrix_norm + std::abs(step.eigenvalue) * report.mass_norm) / bound;
  }
  return step;
}

EigenvectorStep solve_on_host(const Operator<Quaternion>& matrix,
                              Preconditioner<double>& preconditioner,
                              const std::vector<double>& mass, double bound, double matrix_norm,
                              double angle, const SolverOptions& limits, QuaternionField& x) {
  const cli::Stopwatch watch;
  const HostEigenpair pair = host_lobpcg(matrix, preconditioner, mass, bound, angle, limits, x);
  const double residual = pair.residual_norm / pair.vector_norm;
  EigenvectorStep step;
  step.solve.status = pair.status;
  step.solve.iterations = pair.iterations;
  step.solve.iterate_seconds = watch.seconds();
  step.solve.residual = residual / (matrix_norm + std::abs(pair.eigenvalue) * norm_of(mass));
  step.products = pair.products;
  if (step.solve.converged()) {
    step.eigenvalue = pair.eigenvalue;
    step.angle = residual / bound;
  }
  return step;
}

}  // namespace

Eigenvector eigenvector_by_lobpcg(const Operator<Quaternion>& matrix,
                                  std::shared_ptr<Preconditioner<double>> preconditioner,
                                  double shift, const std::vector<double>& mass, double radius,
                                  double angle, const SolverOptions& limits) {
  const double bound = norm_of(mass) / (radius * radius), matrix_norm = norm_of(matrix);
  QuaternionField x(matrix.rows());
  for (Index i = 0; i < x.size(); ++i) x.set(i, {{1, 0, 0, 0}});
  EigenvectorStep step =
      matrix.device().on_gpu()
          ? solve_on_gpu(matrix, std::move(preconditioner), mass, bound, matrix_norm, angle, limits,
                         x)
          : solve_on_host(matrix, *preconditioner, mass, bound, matrix_norm, angle, limits, x);
  step.solve.loop = "";
  step.products += 1;  // the product for the norm
  step.eigenvalue -= shift;
  Eigenvector result;
  result.converged = step.solve.converged();
  result.steps.push_back(step);
  for (Index i = 0; i < x.size(); ++i) result.vector.push_back(x[i]);
  return result;
}

}  // namespace heddle::spin
