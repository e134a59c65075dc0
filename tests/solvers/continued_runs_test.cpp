// Runs of conjugate gradient over a copy of the matrix, of which one goes on where the other ended.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "heddle/conjugate_gradient.hpp"
#include "heddle/jacobi.hpp"
#include "support/systems.hpp"

namespace heddle::test {
namespace {

/// The Laplacian of a grid of n x n cells, and on its diagonal `ground(row)` more.
template <class E, class Ground>
CsrMatrix<E> grid_of_cells(Index n, const Ground& ground) {
  Array<Offset> offsets(static_cast<std::size_t>(n * n) + 1);
  std::vector<Index> column;
  std::vector<double> value;
  const auto add = [&](Index j, double a) {
    column.push_back(j);
    value.push_back(a);
  };
  for (Index row = 0; row < n * n; ++row) {
    const Index i = row / n, j = row % n;
    if (i > 0) add(row - n, -1);
    if (j > 0) add(row - 1, -1);
    add(row, 4 + ground(row));
    if (j + 1 < n) add(row + 1, -1);
    if (i + 1 < n) add(row + n, -1);
    offsets.data()[row + 1] = static_cast<Offset>(column.size());
  }
  Array<Index> columns{std::span<const Index>(column)};
  Array<double> values(value.size() * E::components);
  for (std::size_t k = 0; k < value.size(); ++k) values.data()[k * E::components] = value[k];
  return {n * n, n * n, std::move(offsets), std::move(columns), std::move(values)};
}

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

/// Where the copy is exact, the iterations are those of one run, however many there are.
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

/// Where it is not, they are few more.
TEST(ContinuedRuns, TakeFewMoreIterationsOnCopiesThatAreOff) {
  using E = real<double>;
  constexpr Index n = 60;
  Generator generator(302);
  // Which no copy has all digits of.
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

}  // namespace
}  // namespace heddle::test
