// Entries read and written in sliced storage: each in the place where a built operator has it, and
// nothing else is touched.
#include "heddle/entry_writer.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include "heddle/for_each_on.hpp"
#include "support/expect_error.hpp"
#include "support/few_entries.hpp"
#include "support/product_check.hpp"

namespace entry_writer {
namespace {

using namespace heddle;
using namespace heddle::test;

template <class E>
struct StoreEntries {
  Offset count;
  const Offset* slot;
  const stored_scalar_t<E>* value;
  EntryWriter<E> entries;

  HEDDLE_INLINE void operator()(Offset i) const {
    E entry;
    for (int k = 0; k < E::components; ++k) entry.component[k] = value[i * E::components + k];
    entries.store(slot[i], entry);
  }
};

/// Stores the user's values in the slots, with a team of threads.
template <class E>
void store(const CsrMatrix<E>& user, Operator<E>& matrix) {
  const Array<Offset> slot = slots_of_entries(matrix.pattern());
  const StoreEntries<E> pass{static_cast<Offset>(slot.size()), slot.data(), user.values().data(),
                             matrix.entry_writer()};
  for_each_on(Device::cpu(3), pass);
  matrix.values_changed();
}

template <class E>
void expect_loaded(const CsrMatrix<E>& user, Operator<E>& matrix) {
  const EntryWriter<E> entries = matrix.entry_writer();
  const Array<Offset> slot = slots_of_entries(matrix.pattern());
  for (std::size_t i = 0; i < slot.size(); ++i) {
    const E stored = entries.load(slot[i]), given = user.entry(static_cast<Offset>(i));
    for (int k = 0; k < E::components; ++k) {
      ASSERT_EQ(stored.component[k], given.component[k]) << "entry " << i;
    }
  }
}

template <class E>
class EntryWriterTest : public testing::Test {};
using Entries =
    testing::Types<real<float>, real<double>, complex<float>, complex<double>, quaternion<float>,
                   quaternion<double>, dual_quaternion<float>, block<float, 3, 3>,
                   block<double, 3, 3>, block<complex<double>, 3, 3>, block<double, 2, 3>,
                   stored_as<float, quaternion<double>>>;
TYPED_TEST_SUITE(EntryWriterTest, FewWhereSanitized<Entries>);

TYPED_TEST(EntryWriterTest, WritesWhatAnOperatorThatIsBuiltHolds) {
  using E = TypeParam;
  static_assert(std::is_trivially_copyable_v<EntryWriter<E>> && Pass<StoreEntries<E>>);
  Seed seed(561);
  std::vector<PatternRequest> shapes = odd_patterns();
  const auto rectangular = odd_rectangular_patterns();
  shapes.insert(shapes.end(), rectangular.begin(), rectangular.end());
  const std::vector<Plan> plans = covering_layouts(seed.generator);
  for (const PatternRequest& shape : shapes) {
    SCOPED_TRACE(shape.name);
    const Pattern pattern = random_pattern(shape, seed.generator);
    const CsrMatrix<E> before = random_matrix_of<E>(pattern, seed.generator);
    const CsrMatrix<E> after = random_matrix_of<E>(pattern, seed.generator);
    for (const Plan& plan : plans) {
      if (!fits(plan, shape.rows, shape.columns)) continue;
      SCOPED_TRACE(to_string(plan));
      Operator<E> expected(after, plan), matrix(before, plan);
      poison_padding(expected);
      poison_padding(matrix);
      expect_loaded(before, matrix);
      store(after, matrix);
      expect_loaded(after, matrix);
      const auto built = expected.values_in_basis(), written = matrix.values_in_basis();
      ASSERT_EQ(written.size(), built.size());
      if (!built.empty()) {
        ASSERT_EQ(std::memcmp(written.data(), built.data(), built.size_bytes()), 0);
      }
      if (this->HasFailure()) return;
    }
  }
}

TEST(EntryWriterOfBlocks, TheCopyInFloatsFollows) {
  using E = block<double, 3, 3>;
  Seed seed(562);
  const Pattern pattern = random_pattern({.rows = 61, .columns = 61}, seed.generator);
  const CsrMatrix<E> after = random_matrix_of<E>(pattern, seed.generator);
  const Field<E> x = random_field<E>(61, seed.generator);
  const auto image = [&](const Operator<E>& matrix) {
    Field<E> y(61);
    matrix.iterated().apply(1, x.view(), 0, y.view(), Stream{1});
    return y.scalars().to_host();
  };
  for (const char* layout : {"CSR,stored=float", "C=8,inner=aosoa16,stored=float"}) {
    SCOPED_TRACE(layout);
    Operator<E> matrix(random_matrix_of<E>(pattern, seed.generator), parse_plan(layout));
    store(after, matrix);
    EXPECT_EQ(image(matrix), image(Operator<E>(after, parse_plan(layout))));
  }
}

TEST(EntryWriterOfBlocks, NeedsAMatrix) {
  using E = block<double, 3, 3>;
  Seed seed(563);
  Operator<E> matrix(random_matrix<E>({.rows = 5, .columns = 5}, seed.generator), {});
  Operator<E> moved = std::move(matrix);
  EXPECT_NO_THROW(moved.entry_writer());
  expect_error(ErrorKind::usage, "this operator was moved from: it no longer has a matrix",
               [&] { matrix.entry_writer(); });  // NOLINT(bugprone-use-after-move)
}

}  // namespace
}  // namespace entry_writer
