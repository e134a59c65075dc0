// Assembled matrices: accepted inputs, and how faults are reported.
#include "heddle/csr.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "heddle/entries.hpp"
#include "heddle/runtime/defined_matrix.hpp"

namespace {

using namespace heddle;

template <class T>
struct Given {
  Index rows, columns;
  std::vector<T> offsets;
  std::vector<Index> column;

  PatternView view() const { return {rows, columns, OffsetsView(offsets.data()), column.data()}; }
};

template <class T>
void expect_refused(const Given<T>& given, ErrorKind kind, const std::string& message) {
  for (int threads : {1, 2}) {
    try {
      check_pattern(given.view(), Stream{threads});
      FAIL() << "accepted, instead of: " << message;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), kind);
      EXPECT_EQ(error.what(), message);
    }
  }
}

TEST(CheckPattern, NamesNullPointers) {
  const auto expect_usage = [](const PatternView& pattern) {
    try {
      check_pattern(pattern, Device::cpu());
      FAIL() << "accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage) << error.what();
    }
  };
  const std::vector<std::int64_t> offsets{0, 1};
  expect_usage({1, 1, OffsetsView(), nullptr});
  expect_usage({1, 1, OffsetsView(offsets.data()), nullptr});
  EXPECT_NO_THROW(check_pattern({0, 1, OffsetsView(), nullptr}, Device::cpu()));
}

TEST(CheckPattern, AcceptsUnsortedColumnsAndEmptyRows) {
  const Given<std::int32_t> narrow{4, 3, {0, 3, 3, 4, 4}, {2, 0, 1, 2}};
  EXPECT_NO_THROW(check_pattern(narrow.view(), Stream{2}));
  const Given<std::int64_t> wide{4, 3, {0, 3, 3, 4, 4}, {2, 0, 1, 2}};
  EXPECT_NO_THROW(check_pattern(wide.view(), Stream{2}));
  EXPECT_EQ(wide.view().entries(), 4);
  EXPECT_EQ(wide.view().length(0), 3);
  EXPECT_EQ(wide.view().length(3), 0);
  EXPECT_NO_THROW(check_pattern(PatternView{}, Stream{1}));
}

TEST(CheckPattern, NamesTheFirstFault) {
  using Narrow = Given<std::int32_t>;
  using Wide = Given<std::int64_t>;
  expect_refused(Narrow{3, 3, {0, 1, 4, 6}, {0, 2, 1, 2, 0, 0}}, ErrorKind::malformed_file,
                 "row 1 names column 2 twice; assemble from triplets to sum duplicates");
  expect_refused(Wide{2, 3, {0, 1, 2}, {0, 3}}, ErrorKind::out_of_range,
                 "row 1 names column 3, but there are 3 columns, counted from 0");
  expect_refused(Narrow{2, 3, {0, 1, 2}, {-1, 5}}, ErrorKind::out_of_range,
                 "row 0 names column -1, but there are 3 columns, counted from 0");
  expect_refused(Wide{3, 3, {0, 2, 1, 3}, {0, 1, 2}}, ErrorKind::malformed_file,
                 "row offsets decrease at row 1");
  expect_refused(Narrow{1, 1, {1, 2}, {0, 0}}, ErrorKind::malformed_file,
                 "row offsets begin with 1 instead of 0");
  expect_refused(Narrow{-1, 1, {0}, {}}, ErrorKind::size_mismatch, "a matrix of negative size");
}

CsrMatrix<complex<double>> small_matrix() {
  const std::vector<Offset> offsets{0, 1, 3};
  const std::vector<Index> column{2, 1, 0};
  const std::vector<double> values{1, 2, 3, 4, 5, 6};
  return {2, 3, Array<Offset>(offsets), Array<Index>(column), Array<double>(values)};
}

void expect_small(const CsrMatrix<complex<double>>& matrix) {
  EXPECT_EQ(matrix.rows(), 2);
  EXPECT_EQ(matrix.columns(), 3);
  ASSERT_EQ(matrix.entries(), 3);
  EXPECT_EQ(matrix.column()[1], 1);
  EXPECT_EQ(matrix.entry(2).re(), 5);
  EXPECT_EQ(matrix.entry(2).im(), 6);
}

TEST(CsrMatrix, OwnsWhatItIsGiven) {
  const auto matrix = small_matrix();
  expect_small(matrix);
  const CsrView<complex<double>> view = matrix;
  EXPECT_EQ(view.values, matrix.values().data());
  EXPECT_EQ(view.entries(), 3);
}

TEST(CsrMatrix, CopiesAndMoves) {
  auto matrix = small_matrix();
  auto copy = matrix;
  copy.values()[4] = -1;
  expect_small(matrix);
  EXPECT_EQ(copy.entry(2).re(), -1);
  copy = matrix;
  expect_small(copy);
  const double* const kept = matrix.values().data();
  auto moved = std::move(matrix);
  expect_small(moved);
  EXPECT_EQ(moved.values().data(), kept);
  copy = std::move(moved);
  EXPECT_EQ(copy.values().data(), kept);
}

TEST(CsrMatrix, HasNothingWhenMovedFrom) {
  auto matrix = small_matrix();
  const auto taken = std::move(matrix);
  expect_small(taken);
  EXPECT_EQ(matrix.rows(), 0);
  EXPECT_EQ(matrix.columns(), 0);
  EXPECT_EQ(matrix.entries(), 0);
  EXPECT_NO_THROW(check_pattern(matrix.view().pattern(), Stream{1}));
  const auto copied = matrix;
  EXPECT_EQ(copied.columns(), 0);
  matrix = taken;
  expect_small(matrix);

  using Defined = DefinedMatrix<double>;
  const auto definition = std::make_shared<const EntryDefinition>(parse_entry_definition(
      R"({"name": "one", "members": ["a"], "multiply": {"a": "a.a * x.a"}})", "test"));
  Defined first(definition, 1, 4, Array<Offset>(2), {}, {});
  const Defined second = std::move(first);
  EXPECT_EQ(second.columns(), 4);
  EXPECT_EQ(first.rows(), 0);
  EXPECT_EQ(first.columns(), 0);
  EXPECT_EQ(first.entries(), 0);
  first = second;
  EXPECT_EQ(first.rows(), 1);
}

#if HEDDLE_ASSERTIONS
TEST(CsrMatrix, ChecksElementAccessWithoutNdebug) {
  const auto matrix = small_matrix();
  EXPECT_DEATH(matrix.entry(3), "does not hold");
  EXPECT_DEATH(matrix.entry(-1), "does not hold");
  EXPECT_DEATH(matrix.view().pattern().length(matrix.rows()), "does not hold");
  EXPECT_DEATH(matrix.column()[3], "does not hold");
}
#endif

TEST(CsrMatrix, IsEmptyByDefault) {
  const CsrMatrix<quaternion<float>> matrix;
  EXPECT_EQ(matrix.rows(), 0);
  EXPECT_EQ(matrix.entries(), 0);
}

template <class F>
void expect_size_error(F&& make, const std::string& message) {
  try {
    make();
    FAIL() << "accepted, instead of: " << message;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::size_mismatch);
    EXPECT_EQ(error.what(), message);
  }
}

TEST(CsrMatrix, RefusesArraysThatDoNotFit) {
  using Matrix = CsrMatrix<complex<double>>;
  expect_size_error([] { Matrix(3, 3, Array<Offset>(3), {}, {}); },
                    "a matrix of 3 rows needs one more offset than rows, not 3");
  const std::vector<Offset> offsets{0, 2};
  expect_size_error(
      [&] { Matrix(1, 3, Array<Offset>(offsets), Array<Index>(2), Array<double>(3)); },
      "the offsets promise 2 entries of 2 components, there are 2 columns and 3 scalars");
}

}  // namespace
