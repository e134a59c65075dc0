// Number of iterations in a graph of a GPU's loop.
#include "solvers/gpu_loops/loop_body.hpp"

#include <gtest/gtest.h>

#include "heddle/methods/bicgstab.hpp"
#include "heddle/methods/conjugate_gradient.hpp"

namespace heddle::test::loop_body {
namespace {

using cuda::iterations_before_body;
using cuda::iterations_of_body;

constexpr methods::Facts of_conjugate_gradient =
    methods::facts_of<methods::ConjugateGradient<Ring::real, false>::Iteration>;
constexpr methods::Facts of_bicgstab =
    methods::facts_of<methods::BiCGStab<Ring::real, false>::Iteration>;

TEST(LoopBody, HoldsTwentyProductsOrTwoIterationsWithForeignWork) {
  EXPECT_EQ(iterations_of_body(of_conjugate_gradient, false, 0), 20);
  EXPECT_EQ(iterations_of_body(of_bicgstab, false, 0), 10);
  EXPECT_EQ(iterations_of_body(of_conjugate_gradient, true, 0), 2);
  EXPECT_EQ(iterations_of_body(of_bicgstab, true, 0), 2);
  constexpr bool has_ranks = true;
  EXPECT_EQ(iterations_of_body(of_conjugate_gradient, false, 0, has_ranks), 8);
  EXPECT_EQ(iterations_of_body(of_bicgstab, false, 0, has_ranks), 4);
}

TEST(LoopBody, IsEvenAndLeavesLeastOfARunOverABasis) {
  for (int most = 1; most <= 200; ++most) {
    const int body = iterations_of_body(of_conjugate_gradient, false, most);
    ASSERT_EQ(body % 2, 0);
    ASSERT_GE(body, 2);
    ASSERT_LE(body, 20);
    const auto launched = [&](int of) { return (most + of) / of * of; };
    for (int other = 2; other <= 20; other += 2) ASSERT_LE(launched(body), launched(other)) << most;
  }
}

TEST(LoopBody, ComesAfterTwoIterationsOfAGraphWithoutABasis) {
  EXPECT_EQ(iterations_before_body(LoopForm::graph, 0), 2);
  EXPECT_EQ(iterations_before_body(LoopForm::graph, 30), 0);
  EXPECT_EQ(iterations_before_body(LoopForm::replay, 0), 0);
  EXPECT_EQ(iterations_before_body(LoopForm::stepped, 0), 0);
}

}  // namespace
}  // namespace heddle::test::loop_body
