// A user-written C++ entry on a GPU, compared with the CPU.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "heddle/bicgstab.hpp"
#include "heddle/jacobi.hpp"
#include "heddle/operator.hpp"
#include "support/dual_complex_text.hpp"
#include "support/gpu.hpp"
#include "support/random_matrix.hpp"

namespace user_entry_gpu {
namespace {

using namespace heddle;
using namespace heddle::test;

template <class E>
class UserEntryOnGpu : public OnGpu {};
using Entries = testing::Types<dual_complex<float>, dual_complex<double>>;
TYPED_TEST_SUITE(UserEntryOnGpu, Entries);

TYPED_TEST(UserEntryOnGpu, SolvesInEveryLayout) {
  using E = TypeParam;
  using S = vector_scalar_t<E>;
  Seed seed(2811 + sizeof(E));
  const auto matrix =
      random_dominant_matrix<E>({.rows = 701, .columns = 701, .per_row = 6}, seed.generator);
  const Field<E> b = random_field<E>(701, seed.generator);
  for (const char* plan : {"CSR", "K1rs,inner=aosoa", "K2rs,inner=soa,vector=soa", "Sl-16,T=4"}) {
    SCOPED_TRACE(plan);
    const auto solve = [&](const Device& on) {
      const Operator<E> A(matrix, parse_plan(plan), on);
      BiCGStab<S> solver(A, Jacobi<E>(A));
      Field<E> x(701);
      const Report report = solver.solve(b.view(), x.view());
      EXPECT_TRUE(report.converged()) << report;
      return x;
    };
    const Field<E> expected = solve(Device::cpu()), x = solve(this->device);
    // Diagonally dominant, so that |A^-1| < 1: errors are no larger than residuals.
    const double tolerance = (sizeof(S) == 8 ? 4e-10 : 4e-5) * double(norm(b));
    for (std::size_t i = 0; i < x.scalars().size(); ++i) {
      ASSERT_FALSE(!(std::abs(double(x.scalars()[i]) - double(expected.scalars()[i])) <= tolerance))
          << i;
    }
  }
}

}  // namespace
}  // namespace user_entry_gpu
