// An entry that only its own header defines: stored in every layout, used in solves, and refused
// where it has no adjoint.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "entries/dual_complex.hpp"
#include "heddle/bicgstab.hpp"
#include "heddle/conjugate_gradient.hpp"
#include "heddle/jacobi.hpp"
#include "heddle/operator.hpp"

namespace heddle {
namespace {

using E = dual_complex<double>;

/// Diagonally dominant, with six entries a row, generated from a seed.
CsrMatrix<E> dominant_matrix(Index n, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<Offset> offsets = {0};
  std::vector<Index> column;
  std::vector<double> values;
  for (Index row = 0; row < n; ++row) {
    for (Index step : {0, 1, 3, 7, 20, 33}) {
      column.push_back((row + step) % n);
      for (int k = 0; k < E::components; ++k) {
        values.push_back(uniform(generator) + (step == 0 && k == 0 ? 12 : 0));
      }
    }
    offsets.push_back(static_cast<Offset>(column.size()));
  }
  return {n, n, Array<Offset>(std::span<const Offset>(offsets)),
          Array<Index>(std::span<const Index>(column)),
          Array<double>(std::span<const double>(values))};
}

TEST(UserEntry, SolvesInEveryLayout) {
  for (unsigned seed = 1; seed <= 3; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const CsrMatrix<E> matrix = dominant_matrix(101, seed);
    Field<E> exact(matrix.rows());
    std::mt19937 generator(seed + 100);
    std::uniform_real_distribution<double> uniform(-1, 1);
    for (double& component : exact.scalars()) component = uniform(generator);
    for (const char* plan : {"CSR", "K1rs,inner=aosoa", "K2rs,inner=soa,vector=soa", "Sl-16", "K1",
                             "CSR,stored=float", "K2rs,inner=aosoa16,stored=float"}) {
      SCOPED_TRACE(plan);
      const Operator<E> A(matrix, parse_plan(plan));
      const Stream stream = A.device().stream();
      Field<E> x_in = A.field(), b_in = A.field(), b(matrix.rows()), x(matrix.rows());
      permute<double>(exact, x_in, 1.0, stream);
      A.apply(1, x_in, 0, b_in, stream);
      permute<double>(b_in, b, 1.0, stream);
      BiCGStab solver(A, Jacobi(A), {.tolerance = 1e-12});
      const Report report = solver.solve(b, x);
      EXPECT_EQ(report.status, Status::converged) << report;
      axpby(-1, exact, 1, x);
      // |x - x*| <= |A^-1| |r|, and |A^-1| < 1 here.
      EXPECT_TRUE(norm(x) <= 1e-12 * norm(b)) << norm(x);
    }
  }
}

TEST(UserEntry, WithoutAdjointIsRefusedByConjugateGradient) {
  const Operator<E> A(dominant_matrix(50, 1), Plan{});
  try {
    const ConjugateGradient solver(A);
    FAIL() << "made";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::unsupported) << error.what();
  }
}

}  // namespace
}  // namespace heddle
