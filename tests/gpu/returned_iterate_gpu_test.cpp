// The x of a solve on a GPU that a limit ends is the last one, in every loop, and enqueued.
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

class ReturnedIterateOnGpu : public OnGpu, public ::testing::WithParamInterface<const char*> {};

INSTANTIATE_TEST_SUITE_P(In, ReturnedIterateOnGpu,
                         ::testing::Values("stepped", "graph", "replay", "persistent"),
                         [](const auto& loop) { return std::string(loop.param); });

template <template <class> class Method>
void expect_last(const std::string& loop, const Device& device) {
  SCOPED_TRACE(loop);
  const auto matrix = long_chain(900);
  Field<E> b(matrix.rows());
  fill<double>(1, b.view(), b.stream());
  for (const Keep keep : {Keep::last, Keep::best}) {
    for (const int steps : {1, 5, 20}) {
      SCOPED_TRACE(steps);
      const SolverOptions options{.max_iterations = steps, .keep = keep};
      const Operator<E> here(matrix, Plan{});
      Field<E> expected(matrix.rows()), zero(matrix.rows());
      const Report of_cpu = Method<double>(here, {.max_iterations = steps}).solve(b, expected);
      ASSERT_EQ(of_cpu.returned, Returned::last);
      const std::string plan = "CSR,loop=" + loop;
      const Operator<E> A(matrix, parse_plan(plan), device);
      Field<E> x = zero;
      const Report report = Method<double>(A, options).solve(b.view(), x.view());
      EXPECT_EQ(report.status, Status::iteration_limit) << report;
      if (keep == Keep::last) {
        EXPECT_EQ(report.returned, Returned::last);
        EXPECT_LE(distance(x.scalars(), expected.scalars()), 1e-6);
      } else {
        EXPECT_LE(report.residual, 1);
      }
      if (loop == "stepped") continue;
      expect_as_solve<E, Method>(matrix, plan, false, options, b, zero, device);
    }
  }
}

TEST_P(ReturnedIterateOnGpu, IsTheLastOfConjugateGradient) {
  expect_last<ConjugateGradient>(GetParam(), device);
}

TEST_P(ReturnedIterateOnGpu, IsTheLastOfBiCGStab) { expect_last<BiCGStab>(GetParam(), device); }

TEST_P(ReturnedIterateOnGpu, IsTheLastOfMinres) { expect_last<Minres>(GetParam(), device); }

TEST_P(ReturnedIterateOnGpu, IsTheLastOfGmres) { expect_last<Gmres>(GetParam(), device); }

}  // namespace
}  // namespace returned_iterate_gpu
