// Rows read from a `.npz` file, compared with those of the whole.
#include "io/npz_rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "heddle/detail/reduction.hpp"
#include "heddle/problems.hpp"
#include "npz_by_hand.hpp"
#include "support/expect_error.hpp"
#include "temporary_folder.hpp"

namespace heddle::test {
namespace {

/// Expects rows [first, end) of `whole`, bit for bit.
void expect_rows(const AnyMatrix& part, const AnyMatrix& whole, Index first, Index end) {
  SCOPED_TRACE("rows " + std::to_string(first) + " to " + std::to_string(end));
  const PatternView found = part.pattern(), expected = whole.pattern();
  ASSERT_EQ(found.rows, end - first);
  EXPECT_EQ(found.columns, expected.columns);
  const Offset begin = expected.offsets[first];
  for (Index row = 0; row <= end - first; ++row) {
    ASSERT_EQ(found.offsets[row], expected.offsets[first + row] - begin);
  }
  const Offset count = expected.offsets[end] - begin;
  EXPECT_TRUE(std::equal(found.column, found.column + count, expected.column + begin));
  const auto bytes = static_cast<std::size_t>(whole.entry_bytes());
  ASSERT_EQ(part.values().size(), static_cast<std::size_t>(count) * bytes);
  EXPECT_TRUE(std::ranges::equal(
      part.values(),
      whole.values().subspan(static_cast<std::size_t>(begin) * bytes, part.values().size())));
}

template <class E>
void expect_rows_of_file(const CsrMatrix<E>& matrix, EntryKind kind, EntryKind other) {
  const TemporaryFolder folder;
  const std::string path = folder / "A.npz";
  for (const auto how : {NpzCompression::stored, NpzCompression::deflated}) {
    write_npz(path, block_view(matrix), how);
    const NpzRows file(path);
    EXPECT_EQ(file.rows(), matrix.rows());
    EXPECT_EQ(file.columns(), matrix.columns());
    EXPECT_EQ(file.entries(), matrix.entries());
    EXPECT_TRUE(file.are_rows_of(kind));
    EXPECT_FALSE(file.are_rows_of(other));
    const std::vector<long long> groups = file.entries_of_groups(rows_of_group);
    ASSERT_EQ(groups.size(), static_cast<std::size_t>(groups_of(matrix.rows())));
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const Index first = static_cast<Index>(g) * rows_of_group;
      const Index end = std::min(matrix.rows(), first + rows_of_group);
      EXPECT_EQ(groups[g], matrix.offsets()[end] - matrix.offsets()[first]);
    }
    const NpzRows::Pattern pattern = file.read_pattern(Device::cpu(2));
    const PatternView all = matrix.view().pattern();
    ASSERT_EQ(pattern.view().entries(), all.entries());
    EXPECT_TRUE(std::equal(all.column, all.column + all.entries(), pattern.column.data()));
    for (const Precision precision : {Precision::double_precision, Precision::single_precision}) {
      const AnyMatrix whole = AnyMatrix::read(path, kind, precision);
      const Index n = matrix.rows();
      for (const auto& [first, end] :
           {std::pair{Index(0), n}, std::pair{Index(0), Index(0)}, std::pair{n, n},
            std::pair{Index(1), Index(2)}, std::pair{Index(256), n}, std::pair{n / 3, n / 2}}) {
        expect_rows(file.read(first, end, kind, precision, Device::cpu(2)), whole, first, end);
      }
    }
  }
}

CsrMatrix<complex<double>> complex_numbers(Index size) {
  const CsrMatrix<real<double>> numbers = poisson(size);
  const PatternView pattern = numbers.view().pattern();
  const auto entries = static_cast<std::size_t>(pattern.entries());
  Array<Offset> offsets(static_cast<std::size_t>(pattern.rows) + 1);
  for (std::size_t row = 0; row < offsets.size(); ++row) offsets[row] = pattern.offsets[row];
  Array<Index> column(entries);
  Array<double> values(2 * entries);
  for (std::size_t i = 0; i < entries; ++i) {
    column[i] = pattern.column[i];
    values[2 * i] = static_cast<double>(i);
    values[2 * i + 1] = -0.5;
  }
  return {pattern.rows, pattern.columns, std::move(offsets), std::move(column), std::move(values)};
}

/// Two rows of one 2 x 2 block each, in real numbers.
std::string two_blocks(const TemporaryFolder& folder, const std::vector<double>& values,
                       const std::string& fortran) {
  return archive(folder,
                 {{"indices.npy", npy<std::int32_t>("<i4", "(2,)", {0, 1})},
                  {"indptr.npy", npy<std::int32_t>("<i4", "(3,)", {0, 1, 2})},
                  {"format.npy", npy<char>("|S3", "()", {'b', 's', 'r'})},
                  {"shape.npy", npy<std::int64_t>("<i8", "(2,)", {4, 4})},
                  {"data.npy", npy<double>("<f8", "(2, 2, 2)", values, fortran)}},
                 ZIP_CM_STORE);
}

TEST(NpzRows, AreThoseOfTheWhole) {
  expect_rows_of_file(complex_numbers(600), EntryKind::complex, EntryKind::real);
  const TemporaryFolder folder;
  // In Fortran order the numbers of a block are not contiguous.
  for (const std::string fortran : {"False", "True"}) {
    const std::string path = two_blocks(folder, {1, -2, 2, 1, 3, -4, 4, 3}, fortran);
    EXPECT_EQ(NpzRows(path).are_rows_of(EntryKind::complex), fortran == "False");
  }
  expect_rows_of_file(poisson(700), EntryKind::real, EntryKind::complex);
  expect_rows_of_file(dirac(600), EntryKind::quaternion, EntryKind::real);
  expect_rows_of_file(elasticity(500), EntryKind::block3, EntryKind::quaternion);
}

TEST(NpzRows, NameWhatIsWrongInThem) {
  const TemporaryFolder folder;
  const std::string path = folder / "A.npz";
  CsrMatrix<real<double>> matrix = poisson(700);
  matrix.values()[matrix.entries() - 1] = std::numeric_limits<double>::quiet_NaN();
  write_npz(path, block_view(matrix));
  const NpzRows file(path);
  const auto read = [&](Index first, Index end) {
    return file.read(first, end, EntryKind::real, Precision::double_precision, Device::cpu(1));
  };
  EXPECT_NO_THROW(read(0, matrix.rows() - 1));
  expect_error(ErrorKind::not_finite,
               path + ": member 'data.npy' holds a non-finite value at place " +
                   std::to_string(matrix.entries() - 1),
               [&] { read(matrix.rows() - 1, matrix.rows()); });
}

TEST(NpzRows, SayWhereTheyCountFrom) {
  const TemporaryFolder folder;
  const NpzRows file(two_blocks(folder, {1, -2, 2, 1, 3, 5, 4, 3}, "False"));
  try {
    file.read(1, 2, EntryKind::complex, Precision::double_precision, Device::cpu(1));
    FAIL() << "was read";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::malformed_file);
    EXPECT_NE(std::string(error.what())
                  .find(": in rows from block row 1 on, counted from there: tile (0, 1) is not"),
              std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace heddle::test
