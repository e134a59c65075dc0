// Block conjugate gradients judge each column alone: an inconsistent column keeps its best x, and
// does not disturb the others.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "heddle/block_conjugate_gradient.hpp"
#include "heddle/conjugate_gradient.hpp"
#include "heddle/operator.hpp"
#include "support/systems/block_systems.hpp"

namespace heddle::test::block_columns {
namespace {

using E = real<double>;
constexpr Index side = 12, rows = side * side;

/// Minus the Laplacian of a square grid with Neumann boundary conditions: constants are its null
/// space.
CsrMatrix<E> neumann() {
  Tiles<E> tiles(rows);
  const auto join = [&](Index i, Index j) {
    tiles.at(i, i)(0, 0) += 1;
    tiles.at(j, j)(0, 0) += 1;
    tiles.at(i, j)(0, 0) = tiles.at(j, i)(0, 0) = -1;
  };
  for (Index i = 0; i < rows; ++i) {
    if (i % side > 0) join(i - 1, i);
    if (i >= side) join(i - side, i);
  }
  return tiles.assemble();
}

/// A right-hand side of norm 1, plus a part of norm `part` in the null space.
Field<E> right_hand_side(double part, Generator& generator) {
  Field<E> b = random_vector<E>(rows, generator);
  double sum = 0, squared = 0;
  for (const double s : b.scalars()) sum += s / rows;
  for (double& s : b.scalars()) {
    s -= sum;
    squared += s * s;
  }
  for (double& s : b.scalars()) s = s / std::sqrt(squared) + part / side;
  return b;
}

TEST(BlockColumns, KeepTheLeastResidualOfAnInconsistentSystem) {
  const Operator<E> A(neumann(), parse_plan("CSR"));
  BlockConjugateGradient solver(A);
  for (const double part : {1e-8, 1e-3}) {
    for (unsigned number = 0; number < 8; ++number) {
      Seed seed(9600 + number);
      std::vector<Field<E>> b, x = zero_fields<E>(1, rows);
      b.push_back(right_hand_side(part, seed.generator));
      const Report report = solver.solve(const_views_of(b), views_of(x)).front();
      EXPECT_FALSE(report.converged());
      EXPECT_GE(report.residual, part * 0.999) << report;
      // No residual can be smaller than `part`.
      EXPECT_LE(report.residual, 12 * part) << report;
      EXPECT_LE(components_of<double>(x[0]).norm(), 1e4) << report;
    }
  }
}

TEST(BlockColumns, ConvergeWithAnInconsistentOne) {
  const Operator<E> A(neumann(), parse_plan("CSR"));
  BlockConjugateGradient solver(A);
  for (const double part : {1e-8, 1e-3, 1.0}) {
    for (unsigned number = 0; number < 6; ++number) {
      Seed seed(9700 + number);
      std::vector<Field<E>> b, x = zero_fields<E>(8, rows);
      for (unsigned k = 0; k < 8; ++k) {
        b.push_back(right_hand_side(k == number ? part : 0, seed.generator));
      }
      const auto reports = solver.solve(const_views_of(b), views_of(x));
      for (unsigned k = 0; k < 8; ++k) {
        if (k == number) {
          EXPECT_FALSE(reports[k].converged()) << reports[k];
          EXPECT_LE(reports[k].residual, std::min(1.001, 20 * part)) << reports[k];
        } else {
          EXPECT_TRUE(reports[k].converged()) << k << " " << reports[k];
        }
      }
    }
  }
}

}  // namespace
}  // namespace heddle::test::block_columns
