// Files read as matrices and fields of entries.
#include "heddle/read.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "support/expect_error.hpp"

namespace {

using namespace heddle;
using heddle::test::expect_error;

/// A file that is removed with the object.
class TemporaryFile {
 public:
  TemporaryFile(const std::string& name, const std::string& text)
      : path_(std::filesystem::temp_directory_path() /
              ("heddle_read_" + std::to_string(getpid()) + "_" + name)) {
    std::ofstream(path_) << text;
  }
  ~TemporaryFile() { std::filesystem::remove(path_); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

const std::string complex_expansion =
    "%%MatrixMarket matrix coordinate real general\n4 4 6\n"
    "1 1 2\n1 2 -1\n2 1 1\n2 2 2\n3 1 3\n4 2 3\n";

TEST(ReadMatrix, MakesEntriesOfNumbers) {
  const TemporaryFile file("expansion.mtx", complex_expansion);
  const auto numbers = read_matrix<real<double>>(file.path());
  EXPECT_EQ(numbers.rows(), 4);
  EXPECT_EQ(numbers.entries(), 6);
  const auto matrix = read_matrix<complex<float>>(file.path());
  EXPECT_EQ(matrix.rows(), 2);
  ASSERT_EQ(matrix.entries(), 2);
  EXPECT_EQ(matrix.entry(0).im(), 1);
  EXPECT_EQ(matrix.entry(1).re(), 3);
  const auto blocks = read_matrix<block<double, 2, 2>>(file.path());
  EXPECT_EQ(blocks.entry(0).get(0, 1), -1);
}

TEST(ReadMatrix, NamesTheFileBeforeWhatIsWrong) {
  const TemporaryFile file("expansion.mtx", complex_expansion);
  expect_error(ErrorKind::size_mismatch,
               file.path() +
                   ": a 4 x 4 real matrix does not divide into tiles of 3 x 3, one per entry; "
                   "choose the entry that the matrix was written for",
               [&] { read_matrix<block<double, 3, 3>>(file.path()); });
}

/// 16 x 4: the shape suits both components of a 4 x 4 matrix and an expansion of a 4 x 1 one.
ScalarMatrix tall_file(const std::vector<double>& values, int block_rows, int block_columns) {
  std::vector<Offset> offsets{0};
  std::vector<Index> column;
  for (Index row = 0; row < 16; ++row) {
    for (Index c = 0; c < 4; ++c) column.push_back(c);
    offsets.push_back(static_cast<Offset>(column.size()));
  }
  return {CsrMatrix<real<double>>(16, 4, Array<Offset>(offsets), Array<Index>(column),
                                  Array<double>(values)),
          block_rows, block_columns};
}

TEST(ReadMatrix, LooksAtTheBlocksOfTheFile) {
  using Q = quaternion<double>;
  std::vector<double> ones, zeros(64), others(64);
  for (int i = 0; i < 64; ++i) {
    ones.push_back(i / 4 % 4 == i % 4 ? 1 : 0);
    others[static_cast<std::size_t>(i)] = i;
  }
  for (const auto& values : {ones, zeros, others}) {
    EXPECT_EQ(fold<Q>(tall_file(values, 4, 1)).columns(), 4);
    EXPECT_EQ(fold<Q>(tall_file(values, 1, 1), Tiling::components).columns(), 4);
    EXPECT_EQ(fold<Q>(tall_file(values, 4, 4), Tiling::components).columns(), 4);
  }
  EXPECT_EQ(fold<Q>(tall_file(zeros, 4, 4)).columns(), 1);
  // If the blocks do not decide, the numbers do.
  EXPECT_EQ(fold<Q>(tall_file(ones, 1, 1)).columns(), 1);
  EXPECT_EQ(fold<Q>(tall_file(others, 1, 1)).columns(), 4);
  expect_error(ErrorKind::unsupported,
               "a 16 x 4 matrix is ambiguous: it may have 4 x 1 entries or 4 x 4; a "
               "line '%heddle tiles 4 x 4' or '%heddle tiles 4 x 1' before the sizes of a Matrix "
               "Market file decides",
               [&] { fold<Q>(tall_file(zeros, 1, 1)); });
}

TEST(ReadField, TakesRowsOrInterleavedComponents) {
  using Q = quaternion<float>;
  const std::string head = "%%MatrixMarket matrix array real general\n";
  // Array files list numbers column by column.
  const TemporaryFile by_rows("rows.mtx", head + "2 4\n1\n5\n2\n6\n3\n7\n4\n8\n");
  const TemporaryFile one_column("column.mtx", head + "8 1\n1\n2\n3\n4\n5\n6\n7\n8\n");
  for (const std::string& path : {by_rows.path(), one_column.path()}) {
    const Field<Q> field = read_field<Q>(path);
    ASSERT_EQ(field.size(), 2);
    for (int k = 0; k < 4; ++k) {
      EXPECT_EQ(field[0].component[k], 1 + k);
      EXPECT_EQ(field[1].component[k], 5 + k);
    }
  }
  expect_error(ErrorKind::size_mismatch,
               by_rows.path() +
                   ": a 2 x 4 real table is not a field of 3 numbers per row; it must have 3 "
                   "columns, or one column and a multiple of 3 rows",
               [&] { read_field<block<double, 3, 3>>(by_rows.path()); });
}

TEST(ReadField, TakesComplexNumbersWhereTheEntryIsOverThem) {
  const TemporaryFile file("complex.mtx",
                           "%%MatrixMarket matrix array complex general\n3 1\n1 2\n3 4\n5 6\n");
  const auto numbers = read_field<complex<double>>(file.path());
  ASSERT_EQ(numbers.size(), 3);
  EXPECT_EQ(numbers[1].im(), 4);
  const auto triples = read_field<block<complex<double>, 3, 3>>(file.path());
  ASSERT_EQ(triples.size(), 1);
  EXPECT_EQ(triples[0].component[5], 6);
  expect_error(ErrorKind::unsupported,
               file.path() +
                   ": a field of complex numbers does not fit entries that are not over complex "
                   "numbers; write their 4 components per row as real numbers",
               [&] { read_field<quaternion<double>>(file.path()); });
}

}  // namespace
