// Values in x that are not finite affect only rows that name their column, whatever the padding.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "support/product_check.hpp"

namespace {

using namespace heddle;
using namespace heddle::test;

template <class E>
std::vector<vector_scalar_t<E>> product(const Operator<E>& matrix,
                                        const std::vector<vector_scalar_t<E>>& users_x) {
  const auto x = column_field(matrix);
  from_users_order(users_x, x.view);
  const auto y = row_field(matrix, std::numeric_limits<vector_scalar_t<E>>::quiet_NaN());
  matrix.apply(1, x.view, 0, y.view, matrix.device().stream());
  return in_users_order(y.view);
}

template <class E>
void expect_confined(const PatternRequest& shape, const std::vector<Plan>& plans,
                     Generator& generator) {
  using S = vector_scalar_t<E>;
  SCOPED_TRACE(shape.name);
  const Problem<E> problem(shape, generator);
  const CsrMatrix<E>& user = problem.matrix;
  for (const Plan& plan : plans) {
    if (!fits(plan, shape.rows, shape.columns)) continue;
    SCOPED_TRACE(to_string(plan));
    Operator<E> matrix(user, plan, Device::cpu(1));
    poison_padding(matrix);
    const std::vector<S> clean = product(matrix, problem.x);
    // Padding refers to column 0.
    for (const Index column : {0, random_between(0, shape.columns - 1, generator)}) {
      for (const S bad :
           {std::numeric_limits<S>::quiet_NaN(), std::numeric_limits<S>::infinity()}) {
        SCOPED_TRACE(std::to_string(bad) + " in column " + std::to_string(column));
        std::vector<S> x = problem.x;
        constexpr int K = vector_entry_t<E>::components;
        for (int k = 0; k < K; ++k) x[static_cast<std::size_t>(column * K + k)] = bad;
        const std::vector<S> y = product(matrix, x);
        for (Index row = 0; row < user.rows(); ++row) {
          const auto* begin = user.column().data() + user.offsets()[static_cast<std::size_t>(row)];
          const auto* end =
              user.column().data() + user.offsets()[static_cast<std::size_t>(row) + 1];
          const bool named = std::find(begin, end, column) != end;
          constexpr int R = result_entry_t<E>::components;
          const S* with = y.data() + row * R;
          if (named) {
            for (int k = 0; k < R; ++k) ASSERT_FALSE(std::isfinite(with[k])) << "row " << row;
          } else {
            ASSERT_EQ(std::memcmp(with, clean.data() + row * R, R * sizeof(S)), 0) << "row " << row;
          }
        }
      }
    }
  }
}

template <class E>
void expect_confined(Generator& generator) {
  const std::vector<Plan> plans = covering_layouts(generator);
  for (const PatternRequest& shape :
       {PatternRequest{.name = "empty rows", .rows = 91, .columns = 91, .empty_rows = true},
        PatternRequest{
            .name = "one dense row", .rows = 67, .columns = 67, .per_row = 2, .dense_row = true},
        PatternRequest{.name = "wide", .rows = 45, .columns = 130, .empty_rows = true}}) {
    expect_confined<E>(shape, plans, generator);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(Padding, OfReals) {
  Seed seed(511);
  expect_confined<real<double>>(seed.generator);
}
TEST(Padding, OfComplexNumbers) {
  Seed seed(512);
  expect_confined<complex<float>>(seed.generator);
}
TEST(Padding, OfQuaternions) {
  Seed seed(513);
  expect_confined<quaternion<double>>(seed.generator);
}
TEST(Padding, OfBlocks) {
  Seed seed(514);
  expect_confined<block<float, 3, 3>>(seed.generator);
}

TEST(Padding, AlsoInDotAndResidual) {
  Seed seed(515);
  using E = quaternion<float>;
  const Problem<E> problem({.rows = 80, .columns = 80, .empty_rows = true}, seed.generator);
  for (const Plan& plan : covering_layouts(seed.generator)) {
    SCOPED_TRACE(to_string(plan));
    Operator<E> matrix(problem.matrix, plan, Device::cpu(1));
    poison_padding(matrix);
    const auto stream = matrix.device().stream();
    const auto x = column_field(matrix), y = row_field(matrix, NAN), b = row_field(matrix, 1.0f),
               r = row_field(matrix, NAN);
    from_users_order(problem.x, x.view);
    Reduction<float> reduction(matrix.rows());
    EXPECT_TRUE(std::isfinite(matrix.apply_dot(x.view, y.view, reduction, stream)));
    EXPECT_TRUE(std::isfinite(matrix.residual(b.view, x.view, r.view, reduction, stream)));
    for (const float value : y.scalars) ASSERT_TRUE(std::isfinite(value));
    for (const float value : r.scalars) ASSERT_TRUE(std::isfinite(value));
  }
}

}  // namespace
