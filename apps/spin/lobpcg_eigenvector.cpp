#include "lobpcg_eigenvector.hpp"

#include <cmath>
#include <utility>

#include "diagonal_operator.hpp"
#include "heddle/lobpcg.hpp"
#include "heddle/vector_operations.hpp"

namespace heddle::spin {

namespace {

using QuaternionField = Field<Quaternion>;

Operator<Quaternion> make_mass(const std::vector<double>& mass,
                               const Operator<Quaternion>& matrix) {
  std::vector<double> diagonal(4 * mass.size());
  for (std::size_t i = 0; i < mass.size(); ++i) diagonal[4 * i] = mass[i];
  return cli::diagonal_operator<Quaternion>(diagonal.data(), matrix);
}

/// |A v| / |v| for a random v, as LOBPCG measures an operator.
double norm_of(const Operator<Quaternion>& A) {
  QuaternionField v = A.field(), image = A.field();
  const Stream& stream = v.stream();
  fill<double>(1, v.view(), stream);
  randomize<double>(v.view(), EigenOptions{}.seed, stream);
  A.apply(1, v.view(), 0, image.view(), stream);
  return norm(image, stream) / norm(v, stream);
}

}  // namespace

Eigenvector eigenvector_by_lobpcg(const Operator<Quaternion>& matrix,
                                  std::shared_ptr<Preconditioner<double>> preconditioner,
                                  double shift, const std::vector<double>& mass, double radius,
                                  double angle, const SolverOptions& limits) {
  const Operator<Quaternion> M = make_mass(mass, matrix);
  const double gap = 1 / (radius * radius);
  // LOBPCG measures the norms anew, by other random vectors.
  constexpr double within = 0.9;
  Lobpcg<double> solver(matrix, OperatorReference<double>(M), std::move(preconditioner),
                        {.count = 1,
                         .tolerance = within * angle * gap * norm_of(M) / norm_of(matrix),
                         .max_iterations = limits.max_iterations,
                         .time_limit = limits.time_limit,
                         .observer = limits.observer});
  QuaternionField x(matrix.rows());
  for (Index i = 0; i < x.size(); ++i) x.set(i, {{1, 0, 0, 0}});
  const EigenReport report = solver.solve(x.view());

  Eigenvector result;
  EigenvectorStep step;
  step.solve.status = report.status;
  step.solve.loop = "";
  step.solve.iterations = report.iterations;
  step.solve.iterate_seconds = report.seconds;
  step.products = report.products + 1;  // and that of the norm
  if (!report.residuals.empty()) step.solve.residual = report.residuals[0];
  result.converged = report.converged();
  if (result.converged) {
    const double eigenvalue = report.eigenvalues[0];
    step.angle =
        report.residuals[0] * (report.matrix_norm / report.mass_norm + std::abs(eigenvalue)) / gap;
    step.eigenvalue = eigenvalue - shift;
  }
  result.steps.push_back(step);
  for (Index i = 0; i < x.size(); ++i) result.vector.push_back(x[i]);
  return result;
}

}  // namespace heddle::spin
