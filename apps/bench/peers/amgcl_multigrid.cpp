// `heddle_amgcl_multigrid poisson|elasticity ROWS [KEY=VALUE...]`: conjugate gradient with AMGCL's
// multigrid on one of Heddle's model problems, to a residual of 1e-10, like
// `heddle_petsc_multigrid` with PETSc's. Rows are numbered the same way; elasticity gets the
// rigid-body motions as its near-null space, which AMGCL takes over scalars only. Keys are AMGCL's
// own parameters, such as `precond.relax.type=chebyshev`. Threads are OpenMP's. Prints a line.
#include <algorithm>
#include <amgcl/adapter/crs_tuple.hpp>
#include <amgcl/amg.hpp>
#include <amgcl/backend/builtin.hpp>
#include <amgcl/coarsening/runtime.hpp>
#include <amgcl/make_solver.hpp>
#include <amgcl/relaxation/runtime.hpp>
#include <amgcl/solver/runtime.hpp>
#include <boost/property_tree/ptree.hpp>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <random>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "../../command/stopwatch.hpp"
#include "heddle/multigrid.hpp"
#include "heddle/problems.hpp"
#include "model_problem.hpp"

namespace {

using namespace heddle;
using Backend = amgcl::backend::builtin<double>;
using Solver = amgcl::make_solver<
    amgcl::amg<Backend, amgcl::runtime::coarsening::wrapper, amgcl::runtime::relaxation::wrapper>,
    amgcl::runtime::solver::wrapper<Backend>>;

struct Scalars {
  std::size_t rows = 0;
  std::vector<std::ptrdiff_t> offsets{0}, columns;
  std::vector<double> values;
};

/// Scalars of a matrix with b x b numbers in each entry.
template <class E, int b>
Scalars scalars_of(const CsrMatrix<E>& from) {
  Scalars to;
  to.rows = static_cast<std::size_t>(from.rows()) * b;
  for (Index row = 0; row < from.rows(); ++row) {
    for (int i = 0; i < b; ++i) {
      for (Offset e = from.offsets()[row]; e < from.offsets()[row + 1]; ++e) {
        const E entry = from.entry(e);
        for (int j = 0; j < b; ++j) {
          to.columns.push_back(static_cast<std::ptrdiff_t>(from.column()[e]) * b + j);
          to.values.push_back(entry.component[i * b + j]);
        }
      }
      to.offsets.push_back(static_cast<std::ptrdiff_t>(to.values.size()));
    }
  }
  return to;
}

/// The motions number by number: each row holds the values of all motions.
std::vector<double> motions_of(const TetrahedronMesh& mesh) {
  const auto modes = rigid_body_modes<double>(
      std::span(mesh.position.data(), static_cast<std::size_t>(mesh.free_vertices)));
  std::vector<double> rows;
  for (std::size_t i = 0; i < modes.front().size(); ++i) {
    for (const auto& mode : modes) rows.push_back(mode[i]);
  }
  return rows;
}

/// Returns true if the solve converged.
bool solve(const Scalars& matrix, const std::string& name, Index rows,
           const boost::property_tree::ptree& parameters) {
  const auto system = std::tie(matrix.rows, matrix.offsets, matrix.columns, matrix.values);
  std::mt19937_64 generator(1);
  std::uniform_real_distribution<double> number(0, 1);
  std::vector<double> exact(matrix.rows), b(matrix.rows), x(matrix.rows);
  std::ranges::generate(exact, [&] { return number(generator); });
  for (std::size_t row = 0; row < matrix.rows; ++row) {
    for (std::ptrdiff_t e = matrix.offsets[row]; e < matrix.offsets[row + 1]; ++e) {
      const auto at = static_cast<std::size_t>(e);
      b[row] += matrix.values[at] * exact[static_cast<std::size_t>(matrix.columns[at])];
    }
  }
  const cli::Stopwatch setting_up;
  const Solver solver(system, parameters);
  const double setup = setting_up.seconds();
  const cli::Stopwatch solving;
  const auto [iterations, residual] = solver(b, x);
  const double seconds = solving.seconds();
  const bool converged = residual <= 1e-10;
  std::printf(
      "%s, %d rows, amgcl: %s after %d iterations, residual %.1e, set-up %.3f s, "
      "solve %.3f s\n",
      name.c_str(), rows, converged ? "converged" : "failed", static_cast<int>(iterations),
      residual, setup, seconds);
  return converged;
}

int run(int count, char** arguments) {
  const auto problem =
      bench::model_problem_of(count, arguments, "heddle_amgcl_multigrid", "KEY=VALUE");
  if (!problem) return 2;
  const auto& [name, size] = *problem;
  boost::property_tree::ptree parameters;
  parameters.put("solver.type", "cg");
  parameters.put("solver.tol", 1e-10);
  parameters.put("solver.maxiter", 10000);
  for (int i = 3; i < count; ++i) {
    const std::string text = arguments[i];
    const std::size_t sign = text.find('=');
    if (sign == std::string::npos) {
      std::fprintf(stderr, "heddle_amgcl_multigrid: %s is not KEY=VALUE\n", text.c_str());
      return 2;
    }
    parameters.put(text.substr(0, sign), text.substr(sign + 1));
  }
  if (name == "poisson") {
    const auto matrix = poisson(size, 1, {.contrast = 0});
    return solve(scalars_of<real<double>, 1>(matrix), name, matrix.rows(), parameters) ? 0 : 1;
  }
  const TetrahedronMesh mesh = random_solid(size);
  const auto made = elasticity(mesh);
  const Scalars matrix = scalars_of<block<double, 3, 3>, 3>(made);
  std::vector<double> motions = motions_of(mesh);
  parameters.put("precond.coarsening.nullspace.cols", 6);
  parameters.put("precond.coarsening.nullspace.rows", matrix.rows);
  parameters.put("precond.coarsening.nullspace.B", motions.data());
  return solve(matrix, name, made.rows(), parameters) ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  try {
    return run(count, arguments);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "heddle_amgcl_multigrid: %s\n", error.what());
    return 1;
  }
}
