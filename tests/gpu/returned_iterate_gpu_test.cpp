// A limited solve on a GPU returns the last x, in every loop, and enqueued.
#include <gtest/gtest.h>

#include <string>

#include "heddle/bicgstab.hpp"
#include "heddle/conjugate_gradient.hpp"
#include "heddle/gmres.hpp"
#include "heddle/minres.hpp"
#include "support/enqueued.hpp"
#include "support/gpu.hpp"
#include "support/on_gpu.hpp"

namespace returned_iterate_gpu {
namespace {

using namespace heddle;
using namespace heddle::test;
using E = real<double>;

/// Calls `f(options, b, zero)` for some limits, with either x to be kept.
template <class F>
void for_each_limit(const std::string& loop, Index rows, const F& f) {
  SCOPED_TRACE(loop);
  Field<E> b(rows), zero(rows);
  fill<double>(1, b.view(), b.stream());
  for (const Keep keep : {Keep::last, Keep::best}) {
    for (const int steps : {1, 5, 20}) {
      SCOPED_TRACE(steps);
      f(SolverOptions{.max_iterations = steps, .keep = keep}, b, zero);
    }
  }
}

template <template <class> class Method>
void expect_last(const std::string& loop, const Device& device) {
  const auto matrix = long_chain(900);
  for_each_limit(loop, matrix.rows(), [&](SolverOptions options, const auto& b, const auto& zero) {
    const Operator<E> here(matrix, Plan{});
    const Operator<E> A(matrix, parse_plan("CSR,loop=" + loop), device);
    Field<E> x = zero, expected = zero;
    const Report report = Method<double>(A, options).solve(b.view(), x.view());
    EXPECT_EQ(report.status, Status::iteration_limit) << report;
    if (options.keep == Keep::best) {
      EXPECT_LE(report.residual, 1);
      return;
    }
    EXPECT_EQ(report.returned, Returned::last);
    ASSERT_EQ(Method<double>(here, options).solve(b, expected).returned, Returned::last);
    EXPECT_LE(distance(x.scalars(), expected.scalars()), 1e-6);
  });
}

template <template <class> class Method>
void expect_enqueued(const std::string& loop, const Device& device) {
  const auto matrix = long_chain(900);
  for_each_limit(loop, matrix.rows(), [&](SolverOptions options, const auto& b, const auto& zero) {
    expect_as_solve<E, Method>(matrix, "CSR,loop=" + loop, false, options, b, zero, device);
  });
}

class ReturnedIterateOnGpu : public OnGpu, public ::testing::WithParamInterface<const char*> {};
class EnqueuedIterateOnGpu : public ReturnedIterateOnGpu {};

const auto loop_name = [](const auto& loop) { return std::string(loop.param); };
INSTANTIATE_TEST_SUITE_P(In, ReturnedIterateOnGpu,
                         ::testing::Values("stepped", "graph", "replay", "persistent"), loop_name);
INSTANTIATE_TEST_SUITE_P(In, EnqueuedIterateOnGpu,
                         ::testing::Values("graph", "replay", "persistent"), loop_name);

TEST_P(ReturnedIterateOnGpu, IsTheLastOfConjugateGradient) {
  expect_last<ConjugateGradient>(GetParam(), device);
}
TEST_P(ReturnedIterateOnGpu, IsTheLastOfBiCGStab) { expect_last<BiCGStab>(GetParam(), device); }
TEST_P(ReturnedIterateOnGpu, IsTheLastOfMinres) { expect_last<Minres>(GetParam(), device); }
TEST_P(ReturnedIterateOnGpu, IsTheLastOfGmres) { expect_last<Gmres>(GetParam(), device); }

TEST_P(EnqueuedIterateOnGpu, IsThatOfConjugateGradient) {
  expect_enqueued<ConjugateGradient>(GetParam(), device);
}
TEST_P(EnqueuedIterateOnGpu, IsThatOfBiCGStab) { expect_enqueued<BiCGStab>(GetParam(), device); }
TEST_P(EnqueuedIterateOnGpu, IsThatOfMinres) { expect_enqueued<Minres>(GetParam(), device); }
TEST_P(EnqueuedIterateOnGpu, IsThatOfGmres) { expect_enqueued<Gmres>(GetParam(), device); }

}  // namespace
}  // namespace returned_iterate_gpu
