#include "multigrid_advice.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include "heddle/runtime/any_solver.hpp"

namespace heddle::detail {

namespace {

/// The message of a refusal without the solver's name and the advice.
std::string reason_of(std::string message) {
  if (message.starts_with("multigrid: ")) message.erase(0, std::string("multigrid: ").size());
  return message.substr(0, message.find("; "));
}

/// b = A x with a random x, the same in each call. Singular matrices can be solved for such a b.
AnyField random_image(const AnyOperator& A) {
  std::minstd_rand generator(1);
  std::uniform_real_distribution<double> uniform(-1, 1);
  AnyField x = A.column_field(), b = A.row_field();
  const Offset scalars = Offset(x.rows()) * x.components();
  for (Offset i = 0; i < scalars; ++i) x.set(i, uniform(generator));
  A.apply(x, b);
  return b;
}

Report solve(const AnyOperator& A, const char* preconditioner, const SolverOptions& options,
             const AnyField& b) {
  AnyField x = A.column_field();
  return AnySolver(A, find_method("cg"), parse_preconditioner(preconditioner), options).solve(b, x);
}

MultigridAdvice tried(const AnyMatrix& matrix, const Device& device) {
  constexpr int max_iterations = 60;
  constexpr double min_gain = 1.5;
  MultigridAdvice advice;
  advice.tolerance = matrix.precision() == Precision::single_precision ? 1e-4 : 1e-6;
  SolverOptions options{.tolerance = advice.tolerance, .max_iterations = max_iterations};
  const AnyOperator A(matrix, parse_plan("CSR"), device);
  const AnyField b = random_image(A);
  const Report cycles = solve(A, "multigrid", options, b);
  advice.iterations = cycles.iterations;
  const auto steps = static_cast<double>(std::max(1LL, cycles.iterations));
  advice.factor = std::pow(cycles.residual, 1 / steps);
  options.max_iterations = 1;
  const Report step = solve(A, "jacobi", options, b);
  advice.iterations_of_jacobi = static_cast<double>(cycles.bytes_per_iteration) /
                                static_cast<double>(std::max(1LL, step.bytes_per_iteration));
  if (!cycles.converged()) return advice;
  advice.most_of_jacobi = std::llround(min_gain * steps * advice.iterations_of_jacobi);
  options.max_iterations = advice.most_of_jacobi;
  const Report jacobi = solve(A, "jacobi", options, b);
  if (jacobi.converged()) advice.jacobi_iterations = jacobi.iterations;
  advice.is_advised = !jacobi.converged();
  return advice;
}

}  // namespace

std::optional<MultigridAdvice> multigrid_advice(const AnyMatrix& matrix, const Device& device) {
  if (matrix.entries() == 0 || matrix.rows() != matrix.columns()) return std::nullopt;
  MultigridAdvice refused;
  // Hierarchies took 6 to 14 times the bytes of their matrices.
  constexpr double bytes_factor = 15;
  const double needed = bytes_factor * static_cast<double>(matrix.entries()) *
                        static_cast<double>(matrix.entry_bytes());
  if (needed > static_cast<double>(device.available_memory())) {
    refused.why_not = "not tried: it might take more memory than is available";
    return refused;
  }
  try {
    return tried(matrix, device);
  } catch (const Error& error) {
    refused.why_not = reason_of(error.what());
  }
  return refused;
}

}  // namespace heddle::detail
