// Conjugate gradient runs over a copy of the matrix, each of which continues the run before.
#include <gtest/gtest.h>

#include <string>

#include "heddle/block_jacobi.hpp"
#include "heddle/conjugate_gradient.hpp"
#include "heddle/jacobi.hpp"
#include "support/systems/grid_of_cells.hpp"
#include "support/systems/systems.hpp"

namespace heddle::test {
namespace {

template <class E>
Report solved_by_runs(const CsrMatrix<E>& matrix, const std::string& plan, bool jacobi,
                      const Field<E>& b) {
  const Operator<E> A(matrix, parse_plan(plan));
  const SolverOptions options{.tolerance = 1e-10};
  ConjugateGradient<double> solver = jacobi ? ConjugateGradient<double>(A, Jacobi<E>(A), options)
                                            : ConjugateGradient<double>(A, options);
  Field<E> x(matrix.rows());
  const Report report = solver.solve(b.view(), x.view());
  EXPECT_TRUE(report.converged()) << report;
  const auto norm = components_of<long double>(b).norm();
  EXPECT_FALSE(!(true_residual(matrix, b, x) <= 1.01e-10L * norm));
  return report;
}

/// If the copy is exact, the iterations equal those of one run, however many runs there are.
TEST(ContinuedRuns, AreOneRunWhereTheCopyIsExact) {
  using E = quaternion<double>;
  constexpr Index n = 40;
  Generator generator(301);
  const CsrMatrix<E> matrix = grid_of_cells<E>(n, [](Index) { return 0.0; });
  const Field<E> b = random_vector<E>(n * n, generator);
  for (const bool jacobi : {false, true}) {
    const Report alone = solved_by_runs(matrix, "CSR", jacobi, b);
    for (const char* kept : {"single", "half", "bfloat", "scaled"}) {
      SCOPED_TRACE(kept);
      const Report report =
          solved_by_runs(matrix, std::string("CSR,iteration-precision=") + kept, jacobi, b);
      EXPECT_GE(report.restarts, kept == std::string("single") ? 3 : 15);
      EXPECT_NE(report.stored, "own");
      EXPECT_LE(report.iterations, alone.iterations + 2) << alone;
    }
  }
}

/// If the copy is inexact, the runs take few more iterations.
TEST(ContinuedRuns, TakeFewMoreIterationsOnCopiesThatAreOff) {
  using E = real<double>;
  constexpr Index n = 60;
  Generator generator(302);
  // Values whose digits no copy holds completely.
  const auto ground = [&](Index) { return uniform(generator, 0.02, 0.05); };
  const CsrMatrix<E> matrix = grid_of_cells<E>(n, ground);
  const Field<E> b = random_vector<E>(n * n, generator);
  const Report alone = solved_by_runs(matrix, "CSR", true, b);
  for (const char* kept : {"single", "half", "bfloat", "scaled"}) {
    SCOPED_TRACE(kept);
    const Report report =
        solved_by_runs(matrix, std::string("CSR,iteration-precision=") + kept, true, b);
    EXPECT_LE(report.iterations, 1.3 * static_cast<double>(alone.iterations)) << alone;
  }
}

/// After the inverse of A, a residual is just the error of the copy, and its direction is no guide.
TEST(ContinuedRuns, BeginAnewWhereThePreconditionerLeavesNothingElse) {
  using E = real<double>;
  constexpr Index n = 5;
  Generator generator(303);
  const auto ground = [&](Index) { return uniform(generator, 0.02, 0.05); };
  const CsrMatrix<E> matrix = grid_of_cells<E>(n, ground);
  const Field<E> b = random_vector<E>(n * n, generator);
  for (const char* kept : {"half", "bfloat", "scaled"}) {
    SCOPED_TRACE(kept);
    const Operator<E> A(matrix, parse_plan(std::string("CSR,iteration-precision=") + kept));
    ConjugateGradient<double> solver(A, BlockJacobi(A, n * n), SolverOptions{.tolerance = 1e-10});
    Field<E> x(matrix.rows());
    const Report report = solver.solve(b.view(), x.view());
    EXPECT_TRUE(report.converged()) << report;
    EXPECT_LE(report.iterations, 8) << report;
  }
}

}  // namespace
}  // namespace heddle::test
