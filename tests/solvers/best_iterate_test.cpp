// Runs in the release.
// The x of a solve that ends without converging, when the best x is requested.
#include <gtest/gtest.h>

#include <algorithm>

#include "heddle/bicgstab.hpp"
#include "support/systems/systems.hpp"

namespace heddle::test {
namespace {

using E = real<double>;

TEST(BestIterate, IsNearTheBestAndNeverWorseThanTheGuess) {
  int grew = 0;
  for (unsigned seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Generator generator(seed);
    const auto n = static_cast<Index>(20 + generator() % 60);
    // Nearly skew-symmetric: <r, A r> almost vanishes, and the residuals jump.
    const Eigen::MatrixXd G = random_dense(n, generator);
    const auto matrix = from_dense(G - G.transpose() + 0.02 * Eigen::MatrixXd::Identity(n, n));
    const Operator<E> A(matrix, Plan{});
    const long long limit = 1 + static_cast<long long>(generator() % 60);
    BiCGStab solver(A, {.max_iterations = limit, .keep = Keep::best, .record_history = true});
    const auto b = random_vector<E>(n, generator);
    Field<E> x = seed % 2 == 0 ? Field<E>(n) : random_vector<E>(n, generator, 0.1);
    const auto of_guess = static_cast<double>(true_residual(matrix, b, x));
    const Report report = solver.solve(b, x);
    const auto residual = static_cast<double>(true_residual(matrix, b, x));
    const auto [best, worst] =
        std::minmax_element(solver.history().begin(), solver.history().end());
    // Rounding puts the recurrence's residuals off in proportion to the largest one before.
    const double rounding = 1e-10 * *worst * report.baseline_norm;
    EXPECT_TRUE(residual <= 10 * *best * report.baseline_norm + rounding)
        << report << ", best in the history " << *best;
    EXPECT_TRUE(residual <= of_guess * (1 + 1e-12)) << report;
    EXPECT_TRUE(std::abs(report.residual_norm - residual) <= 1e-8 * residual + rounding) << report;
    grew += *worst > 100 * *best && solver.history().back() > 10 * *best;
  }
  EXPECT_GE(grew, 20) << "the systems are too tame";
}

TEST(BestIterate, OfAnOverflowIsTheGuess) {
  // A s is so large that its square overflows.
  Eigen::MatrixXd dense(2, 2);
  dense << 1e160, 2e160, -3e160, 1e160;
  const auto matrix = from_dense(dense);
  const Operator<E> A(matrix, Plan{});
  BiCGStab solver(A);
  Field<E> b(2), x(2);
  b.scalars()[0] = 1;
  b.scalars()[1] = 2;
  const Report report = solver.solve(b, x);
  EXPECT_TRUE(std::isfinite(x.scalars()[0]) && std::isfinite(x.scalars()[1])) << report;
  EXPECT_TRUE(report.residual <= 1) << report;
}

}  // namespace
}  // namespace heddle::test
