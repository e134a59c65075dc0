// Entries not compiled into the library: a real number on wider vectors, rectangular blocks,
// entries stored in a narrower scalar, long double.
#include <gtest/gtest.h>

#include <vector>

#include "base/long_double.hpp"
#include "support/expect_error.hpp"
#include "support/few_entries.hpp"
#include "support/product_check.hpp"

namespace other_entries {
namespace {

using namespace heddle;
using namespace heddle::test;

template <class E>
class OtherEntry : public testing::Test {};
using Entries =
    testing::Types<real<double, 3>, real<float, 5>, block<double, 2, 3>, block<float, 3, 1>,
                   block<complex<double>, 1, 2>, stored_as<float, quaternion<double>>,
                   stored_as<float, block<double, 3, 3>> HEDDLE_IN_LONG_DOUBLE(
                       , complex<long double>)>;
TYPED_TEST_SUITE(OtherEntry, FewWhereSanitized<Entries>);

TYPED_TEST(OtherEntry, InLayoutsThatCoverAllPairsOfChoices) {
  using E = TypeParam;
  Seed seed(551);
  std::vector<PatternRequest> shapes = odd_patterns();
  const auto rectangular = odd_rectangular_patterns();
  shapes.insert(shapes.end(), rectangular.begin(), rectangular.end());
  const std::vector<Plan> plans = covering_layouts(seed.generator);
  for (const PatternRequest& shape : shapes) {
    SCOPED_TRACE(shape.name);
    const Problem<E> problem(shape, seed.generator);
    for (const Plan& plan : plans) {
      if (!fits(plan, shape.rows, shape.columns)) continue;
      expect_poisoned_product(Operator<E>(problem.matrix, plan, Device::cpu(2)), problem,
                              seed.generator);
      if (this->HasFailure()) return;
    }
  }
}

TEST(StoredAs, TakesHalfTheMemoryOfTheMatrix) {
  Seed seed(552);
  const Pattern pattern = random_pattern({.rows = 70, .columns = 70}, seed.generator);
  using Narrow = stored_as<float, quaternion<double>>;
  using Wide = quaternion<double>;
  const Operator<Narrow> narrow(random_matrix_of<Narrow>(pattern, seed.generator), {});
  const Operator<Wide> wide(random_matrix_of<Wide>(pattern, seed.generator), {});
  EXPECT_EQ(2 * narrow.memory().values, wide.memory().values);
  EXPECT_EQ(narrow.memory().columns, wide.memory().columns);
  EXPECT_EQ(narrow.field().scalars().size(), wide.field().scalars().size());
}

TEST(RectangularBlock, HasNoDotWithItself) {
  // Not even if there are as many block rows as block columns.
  using E = block<double, 2, 3>;
  Seed seed(553);
  for (const char* layout : {"CSR", "pJDS,vector=soa", "CSR,vector=soa"}) {
    SCOPED_TRACE(layout);
    const Operator<E> matrix(random_matrix<E>({.rows = 20, .columns = 20}, seed.generator),
                             parse_plan(layout));
    const auto x = column_field(matrix);
    const auto y = row_field(matrix);
    Reduction<double> reduction(20);
    expect_error(ErrorKind::size_mismatch,
                 "dot: a field of 20 rows of 3 components is used with one of 20 of 2",
                 [&] { matrix.apply_dot(x.view, y.view, reduction, Stream{1}); });
  }
}

}  // namespace
}  // namespace other_entries
