// New multigrid values that keep their magnitudes and change their signs.
#include <gtest/gtest.h>

#include <memory>

#include "heddle/conjugate_gradient.hpp"
#include "heddle/multigrid.hpp"
#include "heddle/operator.hpp"
#include "support/random_matrix.hpp"
#include "support/systems/multigrids.hpp"
#include "support/systems/systems.hpp"

namespace heddle::test::multigrid_signs {
namespace {

/// 60 groups of 10 rows. Each row is connected to all others in its group by 0.5 / 9 of the
/// diagonal, and each group to the next one by a twentieth; `sign(i, j)` is for two rows of a
/// group.
template <class Sign>
CsrMatrix<real<double>> groups_with_signs(const Sign& sign) {
  constexpr Index size = 10, groups = 60;
  TileRows tiles(1, size * groups);
  for (Index first = 0; first < size * groups; first += size) {
    for (Index i = 0; i < size; ++i) {
      for (Index j = 0; j < size; ++j) {
        tiles.at(first + i, first + j)(0, 0) = i == j ? 1 : sign(i, j) * 0.5 / 9;
      }
    }
    if (first == 0) continue;
    tiles.at(first, first - 1)(0, 0) = tiles.at(first - 1, first)(0, 0) = 0.05 * sign(0, 1);
  }
  return assemble<real<double>>(tiles);
}

/// Magnitudes stay, and D^-1 A has eigenvalues of up to 1.5 instead of 1.1.
TEST(MultigridSigns, ShowAnEigenvalueThatGrowsByThemAlone) {
  const auto minus = [](Index, Index) { return -1.0; };
  const auto even = [](Index i, Index j) { return (i + j) % 2 == 0 ? 1.0 : -1.0; };
  const auto plus = [](Index, Index) { return 1.0; };
  Seed seed(28);
  const auto b = random_vector<real<double>>(600, seed.generator);
  const auto expect_solved = [&](const auto& sign) {
    Operator<real<double>> A(groups_with_signs(minus), Plan{});
    auto multigrid = std::make_shared<Multigrid<double>>(make_multigrid(A, {.coarsest = 50}));
    ConjugateGradient<double> solver(A, std::shared_ptr<Preconditioner<double>>(multigrid));
    Field<real<double>> x(A.rows());
    EXPECT_TRUE(solver.solve(b, x).converged());
    EXPECT_EQ(multigrid->report().levels.front().new_estimates, 0);
    const auto next = groups_with_signs(sign);
    A.update_values(next.values().span());
    const Report report = solver.solve(b, x);
    EXPECT_TRUE(report.converged()) << report;
    const Operator<real<double>> fresh(next, Plan{});
    const double expected = make_multigrid(fresh, {.coarsest = 50}).report().levels.front().largest;
    EXPECT_GE(multigrid->report().levels.front().largest, 0.9 * expected);
    EXPECT_EQ(multigrid->report().levels.front().new_estimates, 1);
  };
  expect_solved(even);
  expect_solved(plus);
}

}  // namespace
}  // namespace heddle::test::multigrid_signs
