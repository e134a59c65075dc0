// Runs in both builds.
// An operator apart from its product: values renewed, shared, written in place; fused forms; and
// refused inputs.
#include "heddle/operator.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "support/expect_error.hpp"
#include "support/few_entries.hpp"
#include "support/product_check.hpp"
#include "support/where_it_runs.hpp"

namespace {

using namespace heddle;
using namespace heddle::test;

template <class E>
std::vector<vector_scalar_t<E>> product(const Operator<E>& matrix, const Problem<E>& problem) {
  const auto x = column_field(matrix);
  from_users_order(problem.x, x.view);
  const auto y = row_field(matrix);
  matrix.apply(1, x.view, 0, y.view, Stream{2});
  return in_users_order(y.view);
}

const std::vector<const char*> some_layouts = {"CSR",
                                               "CSR,columns=given,vector=soa",
                                               "sigma=7,inner=soa",
                                               "ELL,inner=aosoa16",
                                               "pJDS,inner=aosoa",
                                               "K1,vector=soa",
                                               "K2rs,inner=aosoa16",
                                               "C=8,T=4,sigma=16,inner=soa",
                                               "order=rcm,C=4"};

template <class E>
class OfEntry : public testing::Test {};
using Entries =
    testing::Types<real<double>, complex<float>, quaternion<double>, dual_quaternion<float>,
                   block<double, 3, 3>, block<complex<double>, 3, 3>>;
TYPED_TEST_SUITE(OfEntry, FewWhereSanitized<Entries>);

TYPED_TEST(OfEntry, TakesNewValues) {
  using E = TypeParam;
  Seed seed(531);
  const Pattern pattern = random_pattern(
      {.rows = 90, .columns = 90, .empty_rows = true, .sorted = false}, seed.generator);
  const Problem<E> first(random_matrix_of<E>(pattern, seed.generator), seed.generator);
  Problem<E> second = first;
  second.matrix = random_matrix_of<E>(pattern, seed.generator);
  second.product = reference_product(second.matrix, second.x);
  for (const char* layout : some_layouts) {
    SCOPED_TRACE(layout);
    const Plan plan = parse_plan(layout);
    const Operator<E> fresh(second.matrix, plan);
    Operator<E> matrix(first.matrix, plan);
    const Operator<E> handle = matrix;  // handle that shares the values
    const Operator<E> sibling(matrix, first.matrix);
    EXPECT_EQ(&sibling.pattern(), &matrix.pattern());
    EXPECT_EQ(product(sibling, first), product(matrix, first));

    const long long generation = matrix.generation();
    matrix.update_values(second.matrix);
    EXPECT_GT(matrix.generation(), generation);
    EXPECT_EQ(handle.generation(), matrix.generation());
    EXPECT_EQ(product(matrix, second), product(fresh, second));
    EXPECT_EQ(product(handle, second), product(fresh, second));
    // Padding is left unchanged, and so is the other matrix with this pattern.
    poison_padding(matrix);
    matrix.update_values(second.matrix);
    expect_poisoned_product(matrix, second, seed.generator);
    expect_poisoned_product(sibling, first, seed.generator);
    if (this->HasFailure()) return;
  }
}

TYPED_TEST(OfEntry, TakesValuesWrittenInPlace) {
  using E = TypeParam;
  Seed seed(532);
  const Pattern pattern = random_pattern(
      {.rows = 90, .columns = 90, .empty_rows = true, .sorted = false}, seed.generator);
  const Problem<E> problem(random_matrix_of<E>(pattern, seed.generator), seed.generator);
  const CsrMatrix<E> other = random_matrix_of<E>(pattern, seed.generator);
  for (const char* layout : some_layouts) {
    SCOPED_TRACE(layout);
    Operator<E> matrix(other, parse_plan(layout));
    const EntryWriter<E> entries = matrix.entry_writer();
    const Array<Offset> slots = slots_of_entries(matrix.pattern());
    for (Offset i = 0; i < pattern.entries(); ++i) {
      entries.store(slots[static_cast<std::size_t>(i)], problem.matrix.entry(i));
    }
    const long long generation = matrix.generation();
    matrix.values_changed();
    EXPECT_GT(matrix.generation(), generation);
    EXPECT_EQ(product(matrix, problem),
              product(Operator<E>(problem.matrix, parse_plan(layout)), problem));
  }
}

TYPED_TEST(OfEntry, KnowsItsDiagonal) {
  using E = TypeParam;
  Seed seed(533);
  const CsrMatrix<E> user = random_matrix<E>(
      {.rows = 75, .columns = 75, .per_row = 20, .empty_rows = true}, seed.generator);
  std::vector<E> expected(75, E::zero());
  for (Index row = 0; row < 75; ++row) {
    for (Offset i = user.offsets()[static_cast<std::size_t>(row)];
         i < user.offsets()[static_cast<std::size_t>(row) + 1]; ++i) {
      if (user.column()[static_cast<std::size_t>(i)] == row) {
        expected[static_cast<std::size_t>(row)] = user.entry(i);
      }
    }
  }
  const auto expect_diagonal = [&](Operator<E> matrix) {
    poison_padding(matrix);
    std::vector<E> diagonal(75);
    matrix.diagonal(diagonal.data());
    for (Index i = 0; i < 75; ++i) {
      const auto row = static_cast<std::size_t>(matrix.row_basis()->user_row(i));
      ASSERT_EQ(std::memcmp(&diagonal[static_cast<std::size_t>(i)], &expected[row], sizeof(E)), 0)
          << "row " << row;
    }
  };
  for (const char* layout : some_layouts) {
    SCOPED_TRACE(layout);
    expect_diagonal(Operator<E>(user, parse_plan(layout)));
    // Rows and columns have different orders.
    Array<Index> order(75);
    for (Index i = 0; i < 75; ++i) order[static_cast<std::size_t>(i)] = (i * 2 + 5) % 75;
    expect_diagonal(Operator<E>(user.view(), parse_plan(layout), Basis::natural(75),
                                Basis::from_order(std::move(order), Device::cpu())));
  }
}

template <class E>
void expect_dot_and_residual(const PatternRequest& shape, Generator& generator) {
  using S = vector_scalar_t<E>;
  SCOPED_TRACE(shape.name);
  const Problem<E> problem(shape, generator);
  const auto size = problem.product.value.size();
  // b is close to A x: all but the last digits of b - A x cancel.
  std::vector<S> b(size);
  for (std::size_t i = 0; i < size; ++i) b[i] = static_cast<S>(problem.product.value[i]);
  for (const Plan& plan : covering_layouts(generator)) {
    SCOPED_TRACE(to_string(plan));
    Operator<E> matrix(problem.matrix, plan, Device::cpu(2));
    poison_padding(matrix);
    const auto x = column_field(matrix), y = row_field(matrix, S(NAN)), of_b = row_field(matrix),
               r = row_field(matrix, S(NAN));
    from_users_order(problem.x, x.view);
    from_users_order(b, of_b.view);
    Reduction<S> reduction(matrix.rows());

    // y = A x, and x . y with the stored y, summed in double.
    const double dot = matrix.apply_dot(x.view, y.view, reduction, Stream{2});
    const auto stored = in_users_order(y.view);
    long double expected = 0, magnitude = 0;
    for (std::size_t i = 0; i < size; ++i) {
      const long double error = std::abs(stored[i] - problem.product.value[i]);
      ASSERT_FALSE(!(error <= problem.product.bound(i, unit_roundoff<S>))) << "component " << i;
      const long double term = static_cast<long double>(problem.x[i]) * stored[i];
      expected += term;
      magnitude += std::abs(term);
    }
    const long double rounding = static_cast<long double>(size + 1) * unit_roundoff<double>;
    ASSERT_FALSE(!(std::abs(dot - expected) <= rounding * magnitude)) << dot << " " << expected;

    // r = b - A x: computed in double, then rounded to S.
    const double squared = matrix.residual(of_b.view, x.view, r.view, reduction, Stream{2});
    const auto residual = in_users_order(r.view);
    long double sum = 0, sum_bound = 0;
    for (std::size_t i = 0; i < size; ++i) {
      const long double exact = b[i] - problem.product.value[i];
      const long double in_double =
          problem.product.bound(i, unit_roundoff<double>, 1) +
          unit_roundoff<double> * std::abs(static_cast<long double>(b[i]));
      const long double to_store =
          unit_roundoff<S> * (std::abs(exact) + in_double) + std::numeric_limits<S>::denorm_min();
      ASSERT_FALSE(!(std::abs(residual[i] - exact) <= in_double + to_store)) << "component " << i;
      sum += exact * exact;
      sum_bound += in_double * (2 * std::abs(exact) + in_double);
    }
    ASSERT_FALSE(!(std::abs(squared - sum) <= 2 * sum_bound + rounding * sum))
        << squared << " instead of " << sum;
  }
}

TYPED_TEST(OfEntry, DotAndResidualAreSummedInDouble) {
  if (group_of_entry<TypeParam> != EntryGroup::complex) HEDDLE_RELEASE_ONLY();
  Seed seed(534);
  for (const PatternRequest& shape :
       {PatternRequest{.name = "empty rows", .rows = 91, .columns = 91, .empty_rows = true},
        PatternRequest{.name = "three groups", .rows = 700, .columns = 700, .dense_row = true}}) {
    expect_dot_and_residual<TypeParam>(shape, seed.generator);
    if (this->HasFailure()) return;
  }
}

TEST(Residual, OfSinglePrecisionKeepsWhatFloatsWouldLose) {
  // 1e8 + 1 - 1e8 is 0 in float.
  using E = real<float>;
  const Pattern pattern{1, 3, {0, 3}, {0, 1, 2}};
  const auto user = matrix_of<E>(pattern, {{{1e8f}}, {{1.0f}}, {{-1e8f}}});
  const Operator<E> matrix(user.view(), {});
  const std::vector<float> x{1, 1, 1}, b{0};
  std::vector<float> r(1);
  Reduction<float> reduction(1);
  const double squared = matrix.residual({b.data(), 1}, {x.data(), 3},
                                         FieldView<float>(r.data(), 1), reduction, Stream{1});
  EXPECT_EQ(r[0], -1.0f);
  EXPECT_EQ(squared, 1.0);
}

TEST(Offsets, Of32And64BitsGiveTheSame) {
  Seed seed(535);
  using E = block<double, 2, 2>;
  const Problem<E> problem({.rows = 80, .columns = 80, .empty_rows = true}, seed.generator);
  const auto& offsets = problem.matrix.offsets();
  const std::vector<std::int32_t> narrow(offsets.begin(), offsets.end());
  const std::vector<std::int64_t> wide(offsets.begin(), offsets.end());
  for (const char* layout : some_layouts) {
    const Plan plan = parse_plan(layout);
    CsrView<E> view = problem.matrix.view();
    const auto expected = product(Operator<E>(view, plan), problem);
    view.offsets = narrow.data();
    EXPECT_EQ(product(Operator<E>(view, plan), problem), expected) << layout;
    view.offsets = wide.data();
    EXPECT_EQ(product(Operator<E>(view, plan), problem), expected) << layout;
  }
}

/// The values of `matrix`, with each block stored by columns.
template <class E, int R, int C>
Array<stored_scalar_t<E>> by_columns(const CsrMatrix<E>& matrix) {
  constexpr int width = E::components / (R * C);
  Array<stored_scalar_t<E>> values(matrix.values().size());
  for (Offset entry = 0; entry < matrix.entries(); ++entry) {
    const auto from = matrix.values().data() + entry * E::components;
    const auto to = values.data() + entry * E::components;
    for (int i = 0; i < R; ++i) {
      for (int j = 0; j < C; ++j) {
        for (int part = 0; part < width; ++part) {
          to[(j * R + i) * width + part] = from[(i * C + j) * width + part];
        }
      }
    }
  }
  return values;
}

template <class E, int R, int C>
void expect_column_major(Generator& generator) {
  const Problem<E> problem({.rows = 60, .columns = 60, .empty_rows = true}, generator);
  const auto values = by_columns<E, R, C>(problem.matrix);
  CsrView<E> view = problem.matrix.view();
  for (const char* layout : some_layouts) {
    const Plan plan = parse_plan(layout);
    view.values = problem.matrix.values().data();
    view.order = row_major;
    const auto expected = product(Operator<E>(view, plan), problem);
    view.values = values.data();
    view.order = column_major;
    Operator<E> matrix(view, plan);
    EXPECT_EQ(product(matrix, problem), expected) << layout;
    // Later values are taken in the same order.
    EXPECT_EQ(product(Operator<E>(matrix, values), problem), expected) << layout;
    matrix.update_values(values);
    EXPECT_EQ(product(matrix, problem), expected) << layout;
  }
}

TEST(ColumnMajor, Blocks) {
  Seed seed(536);
  expect_column_major<block<double, 3, 3>, 3, 3>(seed.generator);
  expect_column_major<block<float, 6, 6>, 6, 6>(seed.generator);
  expect_column_major<block<complex<double>, 3, 3>, 3, 3>(seed.generator);
}
TEST(ColumnMajor, RectangularBlocks) {
  Seed seed(537);
  expect_column_major<block<double, 2, 3>, 2, 3>(seed.generator);
}
TEST(ColumnMajor, BlocksKeptInFloats) {
  Seed seed(538);
  expect_column_major<stored_as<float, block<double, 3, 3>>, 3, 3>(seed.generator);
}

TEST(Refusals, OfFieldsThatDoNotFit) {
  Seed seed(539);
  using E = block<double, 3, 3>;
  const auto user =
      random_matrix<E>({.rows = 20, .columns = 20, .empty_rows = true}, seed.generator);
  const Operator<E> matrix(user, parse_plan("pJDS"));
  ASSERT_FALSE(matrix.row_basis()->is_natural());
  const Field<E> x = matrix.field();
  Field<E> y = matrix.field(), short_y(19), users_y(20), users_x(20);
  Field<block<double, 2, 2>> narrow(20);
  Reduction<double> reduction(20);
  const Stream stream{1};
  const std::string permute = "; `permute` takes it there";

  using View = FieldView<double>;
  const auto apply = [&](const FieldView<const double>& from, const View& to) {
    return [&, from, to] { matrix.apply(1, from, 0, to, stream); };
  };
  expect_error(ErrorKind::size_mismatch,
               "a matrix of 20 rows of 3 components is used with y of 19 rows of 3",
               apply(x, short_y));
  expect_error(ErrorKind::size_mismatch,
               "a matrix of 20 columns of 3 components is used with x of 19 rows of 3",
               apply(short_y, y));
  expect_error(ErrorKind::size_mismatch,
               "a matrix of 20 columns of 3 components is used with x of 20 rows of 2",
               apply(narrow, y));
  expect_error(ErrorKind::size_mismatch, "x is not in the matrix's column basis" + permute,
               apply(users_x, y));
  expect_error(ErrorKind::size_mismatch, "y is not in the matrix's row basis" + permute,
               apply(x, users_y));
  expect_error(ErrorKind::size_mismatch, "y is not in the matrix's row basis" + permute,
               [&] { matrix.apply_dot(x, users_y.view(), reduction, stream); });
  expect_error(ErrorKind::size_mismatch, "y is not in the matrix's row basis" + permute,
               [&] { matrix.residual(users_x.view(), x, y.view(), reduction, stream); });
  Field<E> other_layout(20, Device::cpu(), VectorLayout::soa, matrix.row_basis());
  expect_error(ErrorKind::size_mismatch, "residual: b and r differ in layout; copy one first",
               [&] { matrix.residual(other_layout.view(), x, y.view(), reduction, stream); });

  const Operator<E> natural(user, parse_plan("CSR"));
  expect_error(ErrorKind::size_mismatch, "x is not in the matrix's column basis" + permute,
               [&] { natural.apply(1, x.view(), 0, users_y.view(), stream); });
}

TEST(Refusals, OfFaultyPatterns) {
  const std::vector<Offset> offsets{0, 2};
  const std::vector<Index> twice{1, 1}, beyond{0, 2};
  const std::vector<double> values{1, 2};
  const auto operator_of = [&](const std::vector<Index>& column) {
    return [&, data = column.data()] {
      Operator<real<double>>(
          CsrView<real<double>>{1, 2, OffsetsView(offsets.data()), data, values.data()}, {});
    };
  };
  expect_error(ErrorKind::malformed_file,
               "row 0 names column 1 twice; assemble from triplets to sum duplicates",
               operator_of(twice));
  expect_error(ErrorKind::out_of_range,
               "row 0 names column 2, but there are 2 columns, counted from 0",
               operator_of(beyond));
}

TEST(Operator, TellsItsBytes) {
  Seed seed(540);
  using E = quaternion<float>;
  const auto user = random_matrix<E>({.rows = 50, .columns = 50}, seed.generator);
  const Operator<E> matrix(user, parse_plan("Sl-16"));
  const long long fields = 2LL * 50 * 16;
  EXPECT_EQ(matrix.compulsory_bytes(), user.entries() * (16 + 4) + 51 * 8 + fields);
  EXPECT_EQ(matrix.bytes_of_product(), matrix.memory().product() + fields);
}

}  // namespace
