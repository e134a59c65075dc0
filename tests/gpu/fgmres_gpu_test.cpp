// FGMRES on a GPU with varying preconditioners: an inner solver on the same stream and on another
// one, compared with the CPU's.
#include "heddle/fgmres.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>

#include "heddle/gmres.hpp"
#include "heddle/jacobi.hpp"
#include "heddle/solver_preconditioner.hpp"
#include "support/gpu.hpp"
#include "support/random_matrix.hpp"

namespace fgmres_gpu {
namespace {

using namespace heddle;
using namespace heddle::test;

template <class E>
class FgmresOnGpu : public OnGpu {};
using Entries =
    testing::Types<real<double>, complex<double>, quaternion<double>, block<float, 3, 3>>;
TYPED_TEST_SUITE(FgmresOnGpu, Entries);

/// Uses `restart` vectors, and an inner GMRES of few iterations.
template <class E>
auto solver_over(const Operator<E>& outer, const Operator<E>& inner, int restart) {
  using S = vector_scalar_t<E>;
  SolverOptions few{.tolerance = 0.3, .max_iterations = 3, .restart = 3};
  auto solver = std::make_shared<Gmres<S>>(inner, Jacobi<E>(inner), few);
  SolverOptions options{.restart = restart, .record_history = true};
  return std::make_unique<Fgmres<S>>(outer, SolverPreconditioner<S>(solver), options);
}

TYPED_TEST(FgmresOnGpu, TakesSolversAsOnTheCpu) {
  using E = TypeParam;
  using S = vector_scalar_t<E>;
  Seed seed(4100 + sizeof(E));
  for (const Index rows : {1, 33, 4001}) {
    const auto matrix =
        random_positive_definite_matrix<E>(rows, std::min<Index>(rows, 7), seed.generator);
    const Field<E> b = random_field<E>(rows, seed.generator);
    for (const char* text : {"C=32,T=4,sigma=n,inner=aosoa16,loop=graph", "K2rs,loop=stepped"}) {
      const Operator<E> on_cpu(matrix, parse_plan(text)),
          on_gpu(matrix, parse_plan(text), this->device);
      const OwnStream stream;
      const Operator<E> elsewhere = on_gpu.on(Device::cuda(0, stream.get()));
      for (const int restart : {1, 7, 30}) {
        SCOPED_TRACE(std::to_string(rows) + " rows, restart " + std::to_string(restart) + ", " +
                     text);
        const auto cpu = solver_over(on_cpu, on_cpu, restart),
                   gpu = solver_over(on_gpu, on_gpu, restart),
                   two = solver_over(on_gpu, elsewhere, restart);
        Field<E> expected(rows), x(rows), y(rows);
        const Report there = cpu->solve(b.view(), expected.view());
        const Report here = gpu->solve(b.view(), x.view());
        EXPECT_TRUE(there.converged()) << there;
        EXPECT_TRUE(here.converged()) << here;
        EXPECT_EQ(here.loop, "stepped");
        ASSERT_FALSE(cpu->history().empty() || gpu->history().empty());
        const std::size_t steps = std::min(cpu->history().size(), gpu->history().size());
        EXPECT_LE(std::max(cpu->history().size(), gpu->history().size()), steps + 1);
        // Inner iterations that stop early amplify the differences caused by rounding.
        for (std::size_t k = 0; k + 1 < steps; ++k) {
          const double rounding = sizeof(S) == 4 ? 0.05 : 1e-4;
          EXPECT_NEAR(gpu->history()[k] / cpu->history()[k], 1, rounding) << k;
        }
        const Report apart = two->solve(b.view(), y.view());
        EXPECT_TRUE(apart.converged()) << apart;
        EXPECT_EQ(y.scalars().size(), x.scalars().size());
        EXPECT_TRUE(std::equal(x.scalars().begin(), x.scalars().end(), y.scalars().begin()));
      }
    }
  }
}

}  // namespace
}  // namespace fgmres_gpu
