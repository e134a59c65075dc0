// The references for results, compared with the library's own products.
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "heddle/runtime/any_solver.hpp"
#include "heddle/tools/random_field.hpp"
#include "problems/problem.hpp"
#include "support/few_entries.hpp"

namespace heddle::bench {
namespace {

/// Five rows of three entries with arbitrary numbers.
template <class E>
Problem small_problem() {
  constexpr Index n = 5;
  Array<Offset> offsets(n + 1);
  Array<Index> column(3 * n);
  Array<stored_scalar_t<E>> values(static_cast<std::size_t>(3) * n * E::components);
  for (Index row = 0; row < n; ++row) {
    const auto r = static_cast<std::size_t>(row);
    offsets[r + 1] = 3 * (row + 1);
    for (Index k = 0; k < 3; ++k) column[3 * r + static_cast<std::size_t>(k)] = (row + k) % n;
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<stored_scalar_t<E>>(random_component(3, i));
  }
  AnyMatrix matrix(CsrMatrix<E>(n, n, std::move(offsets), std::move(column), std::move(values)));
  std::vector<double> x = random_x(matrix);
  return {"small", std::move(matrix), false, {}, std::move(x)};
}

template <class E>
class Reference : public testing::Test {};

using Entries =
    testing::Types<real<double>, complex<double>, quaternion<double>, dual_quaternion<double>,
                   block<double, 2, 2>, block<double, 3, 3>, block<double, 4, 4>,
                   block<double, 6, 6>, block<complex<double>, 3, 3>, quaternion<float>>;
TYPED_TEST_SUITE(Reference, test::FewWhereSanitized<Entries>);

TYPED_TEST(Reference, AgreesWithTheOperator) {
  const Problem problem = small_problem<TypeParam>();
  const AnyOperator A(problem.matrix, Plan{}, Device::cpu());
  AnyField x = A.column_field(), y = A.row_field();
  for (std::size_t i = 0; i < problem.x.size(); ++i) {
    x.set(static_cast<Offset>(i), problem.x[i]);
  }
  A.apply(x, y);
  std::vector<double> own(static_cast<std::size_t>(y.rows()) *
                          static_cast<std::size_t>(y.components()));
  for (std::size_t i = 0; i < own.size(); ++i) own[i] = y.get(static_cast<Offset>(i));
  const bool single = problem.matrix.precision() == Precision::single_precision;
  EXPECT_LE(relative_difference(own, reference_product(problem, problem.x)), single ? 1e-6 : 1e-15);
}

TEST(TrueResidual, IsThatOfTheSystem) {
  const Problem problem = small_problem<quaternion<double>>();
  const std::vector<double> b = reference_product(problem, problem.x);
  EXPECT_EQ(true_residual(problem, b, problem.x), 0);
  EXPECT_EQ(true_residual(problem, b, std::vector<double>(b.size(), 0.0)), 1);
  std::vector<double> broken = problem.x;
  broken[3] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isnan(true_residual(problem, b, broken)));
}

TEST(TrueResidual, RefusesAnotherLength) {
  const Problem problem = small_problem<complex<double>>();
  EXPECT_THROW(reference_product(problem, {1, 2, 3}), Error);
  EXPECT_THROW(relative_difference({1, 2}, {1}), Error);
}

}  // namespace
}  // namespace heddle::bench
