// Adjoints and LSMR on a GPU compared with the CPU: every ring, rectangular systems, new values.
#include "heddle/lsmr.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "heddle/operator.hpp"
#include "support/gpu.hpp"
#include "support/random_matrix.hpp"

namespace lsmr_gpu {
namespace {

using namespace heddle;
using namespace heddle::test;

template <class E>
class LsmrOnGpu : public OnGpu {};
using Entries =
    testing::Types<real<double>, real<float>, complex<double>, quaternion<double>,
                   quaternion<float>, block<double, 3, 3>, block<complex<double>, 3, 3>>;
TYPED_TEST_SUITE(LsmrOnGpu, Entries);

const char* const plans[] = {"CSR", "Sl-32,use=scatter,vector=soa,inner=soa", "K1rs,use=scatter",
                             "CSR,schedule=dynamic,inner=aosoa16"};

template <class E>
double error_of(const Field<E>& found, const Field<E>& expected) {
  double difference = 0, size = 0;
  const Field<E> there = found.to_host();
  for (std::size_t i = 0; i < there.scalars().size(); ++i) {
    const double value = static_cast<double>(expected.scalars()[i]);
    difference += std::pow(static_cast<double>(there.scalars()[i]) - value, 2);
    size += value * value;
  }
  return std::sqrt(difference / size);
}

/// A* y in the user's order, for a y in the same order.
template <class E>
Field<E> adjoint_times(const Operator<E>& A, const Field<E>& y) {
  using S = vector_scalar_t<E>;
  const auto adjoint = A.adjoint();
  const Device device = A.device();
  Field<E> in(A.rows(), device, A.vector_layout(), A.row_basis()),
      out(A.columns(), device, A.vector_layout(), A.column_basis()), x(A.columns());
  permute<S>(y.view(), in.view(), S(1), device.stream());
  adjoint->apply(S(1), in.view(), S(0), out.view(), device.stream());
  permute<S>(out.view(), x.view(), S(1), device.stream());
  device.synchronize();
  return x;
}

TYPED_TEST(LsmrOnGpu, AdjointsAreThoseOfTheCpuAfterNewValuesToo) {
  using E = TypeParam;
  constexpr double rounding = 32 * std::numeric_limits<vector_scalar_t<E>>::epsilon();
  Seed seed(9301);
  for (const auto& [rows, columns] : {std::pair{701, 230}, {90, 611}, {350, 350}}) {
    const Pattern pattern = random_pattern(
        {.rows = rows, .columns = columns, .per_row = 6, .empty_rows = true, .sorted = false},
        seed.generator);
    const auto first = random_matrix_of<E>(pattern, seed.generator),
               second = random_matrix_of<E>(pattern, seed.generator);
    const Field<E> y = random_field<E>(rows, seed.generator);
    for (const std::string plan : plans) {
      SCOPED_TRACE(plan + ", " + std::to_string(rows) + " rows");
      Operator<E> A(first, parse_plan(plan), this->device);
      const auto kept = A.adjoint();
      EXPECT_LE(error_of(adjoint_times(A, y), adjoint_times(Operator<E>(first, Plan{}), y)),
                rounding);
      const Field<E> expected = adjoint_times(Operator<E>(second, Plan{}), y);
      A.update_values(second);
      EXPECT_LE(error_of(adjoint_times(A, y), expected), rounding);
      A.update_values(first);
      const Array<stored_scalar_t<E>> there(second.values().span(), this->device);
      A.update_values({there.data(), there.size()});
      EXPECT_LE(error_of(adjoint_times(A, y), expected), rounding);
    }
    if (rows == columns) {
      const Operator<E> A(first, parse_plan("pJDS,order=rcm"), this->device);
      EXPECT_LE(error_of(adjoint_times(A, y), adjoint_times(Operator<E>(first, Plan{}), y)),
                rounding);
    }
  }
}

TYPED_TEST(LsmrOnGpu, SolvesWhatTheCpuSolves) {
  using E = TypeParam;
  using S = vector_scalar_t<E>;
  constexpr bool is_single = std::is_same_v<S, float>;
  Seed seed(9302);
  const auto matrix = random_matrix<E>({.rows = 900, .columns = 200, .per_row = 5}, seed.generator);
  const Field<E> b = random_field<E>(900, seed.generator);
  for (const double damping : {0.0, 0.7}) {
    const LeastSquaresOptions options{.damping = damping, .tolerance = is_single ? 1e-5 : 1e-11};
    Field<E> expected(200);
    const auto known = Lsmr(Operator<E>(matrix, Plan{}), options).solve(b, expected);
    ASSERT_TRUE(known.solved()) << name(known.status);
    for (const std::string plan : plans) {
      SCOPED_TRACE(plan + ", damping " + std::to_string(damping));
      const Operator<E> A(matrix, parse_plan(plan), this->device);
      Lsmr solver(A, options);
      Field<E> x(200), y(200, this->device);
      const auto report = solver.solve(b, x);
      EXPECT_TRUE(report.solved()) << name(report.status) << " " << report.detail;
      EXPECT_NEAR(report.residual_norm, known.residual_norm,
                  (is_single ? 1e-4 : 1e-9) * known.residual_norm);
      EXPECT_LE(error_of(x, expected), is_single ? 1e-3 : 1e-9);
      const auto again = solver.solve(b, y);
      EXPECT_EQ(again.iterations, report.iterations);
      EXPECT_EQ(error_of(y, x), 0);  // the same bits
    }
  }
}

class LsmrWithCopyOnGpu : public OnGpu {};

TEST_F(LsmrWithCopyOnGpu, ReadsFloatsAndEndsOnTheMatrix) {
  using E = quaternion<double>;
  Seed seed(9303);
  const auto matrix = random_matrix<E>({.rows = 500, .columns = 90, .per_row = 5}, seed.generator);
  const Field<E> b = random_field<E>(500, seed.generator);
  Field<E> expected(90), x(90);
  Lsmr(Operator<E>(matrix, Plan{}), {.tolerance = 1e-11}).solve(b, expected);
  const Operator<E> A(matrix, parse_plan("CSR,iteration-precision=single"), device);
  const auto report = Lsmr(A, {.tolerance = 1e-11}).solve(b, x);
  EXPECT_TRUE(report.converged()) << name(report.status);
  EXPECT_LE(error_of(x, expected), 1e-9);
}

}  // namespace
}  // namespace lsmr_gpu
