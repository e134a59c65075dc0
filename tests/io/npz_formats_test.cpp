// SciPy's files of every format and type, and damage to any of their bits.
#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "heddle/npz.hpp"
#include "heddle/problems.hpp"
#include "io/npz_rows.hpp"
#include "npz_by_hand.hpp"
#include "support/expect_error.hpp"
#include "temporary_folder.hpp"

namespace heddle::test {
namespace {

template <class T>
std::vector<T> list(const Array<T>& array) {
  return {array.begin(), array.end()};
}

std::string name_of(const std::string& text) {
  return npy<char>("|S" + std::to_string(text.size()), "()", {text.begin(), text.end()});
}
template <class T>
std::string row_of(const std::string& type, const std::vector<T>& items) {
  return npy<T>(type, "(" + std::to_string(items.size()) + ",)", items);
}
std::string shape_of(std::int64_t rows, std::int64_t columns) {
  return row_of<std::int64_t>("<i8", {rows, columns});
}

/// [0 2 0; 1 0 4].
void expect_small(const BlockMatrix& matrix) {
  EXPECT_EQ(matrix.rows, 2);
  EXPECT_EQ(matrix.columns, 3);
  EXPECT_EQ(list(matrix.offsets), (std::vector<Offset>{0, 1, 3}));
  EXPECT_EQ(list(matrix.column), (std::vector<Index>{1, 0, 2}));
  EXPECT_EQ(list(matrix.values), (std::vector<double>{2, 1, 4}));
}

TEST(NpzFormats, ColumnsPlacesAndDiagonalsAreRead) {
  const TemporaryFolder folder;
  for (const int method : {ZIP_CM_STORE, ZIP_CM_DEFLATE}) {
    expect_small(read_npz(archive(folder,
                                  {{"indices.npy", row_of<std::int32_t>("<i4", {1, 0, 1, 1})},
                                   {"indptr.npy", row_of<std::int32_t>("<i4", {0, 1, 2, 4})},
                                   {"format.npy", name_of("csc")},
                                   {"shape.npy", shape_of(2, 3)},
                                   {"data.npy", row_of<double>("<f8", {1, 2, 3, 1})}},
                                  method)));
    expect_small(read_npz(archive(folder,
                                  {{"row.npy", row_of<std::int32_t>("<i4", {1, 0, 1, 1})},
                                   {"col.npy", row_of<std::int64_t>("<i8", {2, 1, 0, 2})},
                                   {"format.npy", name_of("coo")},
                                   {"shape.npy", shape_of(2, 3)},
                                   {"data.npy", row_of<float>("<f4", {3, 2, 1, 1})}},
                                  method)));
    // Each number in its column; zeros, and numbers outside the matrix, are no entries.
    for (const bool fortran : {false, true}) {
      const std::vector<double> rowwise{1, 9, 0, 9, 7, 2, 4, 9}, columnwise{1, 7, 9, 2, 0, 4, 9, 9};
      expect_small(read_npz(
          archive(folder,
                  {{"offsets.npy", row_of<std::int32_t>("<i4", {-1, 1})},
                   {"format.npy", name_of("dia")},
                   {"shape.npy", shape_of(2, 3)},
                   {"data.npy", npy<double>("<f8", "(2, 4)", fortran ? columnwise : rowwise,
                                            fortran ? "True" : "False")}},
                  method)));
    }
  }
}

TEST(NpzFormats, ComplexNumbersKeepTheirPlaces) {
  const TemporaryFolder folder;
  const std::vector<std::complex<double>> values{{1, -1}, {0, 2}, {3, 0}};
  const BlockMatrix matrix =
      read_npz(archive(folder,
                       {{"indices.npy", row_of<std::int32_t>("<i4", {1, 0, 1})},
                        {"indptr.npy", row_of<std::int32_t>("<i4", {0, 1, 3})},
                        {"format.npy", name_of("csc")},
                        {"shape.npy", shape_of(2, 2)},
                        {"data.npy", row_of<std::complex<double>>("<c16", values)}},
                       ZIP_CM_STORE));
  EXPECT_TRUE(matrix.is_complex);
  EXPECT_EQ(list(matrix.column), (std::vector<Index>{1, 0, 1}));
  EXPECT_EQ(list(matrix.values), (std::vector<double>{0, 2, 1, -1, 3, 0}));
}

template <class T>
T swapped(T value) {
  auto* const bytes = reinterpret_cast<unsigned char*>(&value);
  std::reverse(bytes, bytes + sizeof(T));
  return value;
}

/// The small matrix with the given types of values, columns and offsets, in either byte order.
template <class Value, class Integer>
void expect_types(const std::string& value, const std::string& integer) {
  const TemporaryFolder folder;
  for (const bool is_big : {false, true}) {
    SCOPED_TRACE(value + " " + integer + (is_big ? " big-endian" : ""));
    const auto list_of = [&]<class T>(T, const std::string& type, std::vector<int> items) {
      std::vector<T> numbers;
      for (const int item : items) {
        numbers.push_back(is_big ? swapped(static_cast<T>(item)) : static_cast<T>(item));
      }
      return row_of<T>((sizeof(T) == 1 ? "|" : is_big ? ">" : "<") + type, numbers);
    };
    const std::string path = archive(folder,
                                     {{"indices.npy", list_of(Integer(), integer, {1, 0, 2})},
                                      {"indptr.npy", list_of(Integer(), integer, {0, 1, 3})},
                                      {"format.npy", name_of("csr")},
                                      {"shape.npy", shape_of(2, 3)},
                                      {"data.npy", list_of(Value(), value, {2, 1, 4})}},
                                     ZIP_CM_STORE);
    expect_small(read_npz(path));
    const NpzRows file(path);
    EXPECT_EQ(file.entries_of_groups(1), (std::vector<long long>{1, 2}));
    EXPECT_EQ(
        file.read(1, 2, EntryKind::real, Precision::double_precision, Device::cpu(1)).entries(), 2);
  }
}

TEST(NpzFormats, NumbersOfEveryTypeAreRead) {
  expect_types<std::int8_t, std::int32_t>("i1", "i4");
  expect_types<std::uint8_t, std::int64_t>("u1", "i8");
  expect_types<std::int16_t, std::uint32_t>("i2", "u4");
  expect_types<std::uint16_t, std::uint64_t>("u2", "u8");
  expect_types<std::int32_t, std::int16_t>("i4", "i2");
  expect_types<std::uint32_t, std::uint8_t>("u4", "u1");
  expect_types<std::int64_t, std::int32_t>("i8", "i4");
  expect_types<std::uint64_t, std::int32_t>("u8", "i4");
  expect_types<float, std::int32_t>("f4", "i4");
  expect_types<double, std::int32_t>("f8", "i4");
  const TemporaryFolder folder;
  Members members = small_csr();
  members[4].second = npy<char>("|b1", "(4,)", {1, 0, 1, 1});
  EXPECT_EQ(list(read_npz(archive(folder, members, ZIP_CM_DEFLATE)).values),
            (std::vector<double>{1, 1, 1}));
  members[4].second = row_of<std::complex<float>>(
      ">c8", {{swapped(1.0F), swapped(-2.0F)}, {0, 0}, {0, swapped(3.0F)}, {0, 0}});
  EXPECT_EQ(list(read_npz(archive(folder, members, ZIP_CM_DEFLATE)).values),
            (std::vector<double>{1, -2, 0, 3, 0, 0}));
}

TEST(NpzFormats, NameWhatIsWrong) {
  const TemporaryFolder folder;
  const auto expect = [&](const Members& members, const std::string& message) {
    const std::string path = archive(folder, members, ZIP_CM_DEFLATE);
    expect_error(ErrorKind::malformed_file, path + ": " + message, [&] { read_npz(path); });
  };
  const std::string three = row_of<double>("<f8", {1, 2, 3});
  const std::pair<std::string, std::string> coo{"format.npy", name_of("coo")},
      dia{"format.npy", name_of("dia")}, shape{"shape.npy", shape_of(2, 3)};
  expect({{"row.npy", row_of<int>("<i4", {0, 2, 1})},
          {"col.npy", row_of<int>("<i4", {0, 1, 1})},
          {"data.npy", three},
          coo,
          shape},
         "member 'row.npy' holds 2 at place 1, outside 0 to 1");
  expect({{"row.npy", row_of<std::uint64_t>("<u8", {0, ~std::uint64_t(0), 1})},
          {"col.npy", row_of<int>("<i4", {0, 1, 1})},
          {"data.npy", three},
          coo,
          shape},
         "member 'row.npy' holds 18446744073709551615 at place 1, outside 0 to 1");
  expect({{"row.npy", row_of<int>("<i4", {0, 1})},
          {"col.npy", row_of<int>("<i4", {0, 1, 1})},
          {"data.npy", three},
          coo,
          shape},
         "2 rows and 3 columns for 3 values");
  expect({{"offsets.npy", row_of<int>("<i4", {0, 1})}, {"data.npy", three}, dia, shape},
         "a DIA matrix whose 'data.npy' is not two-dimensional");
  const std::string table = npy<double>("<f8", "(2, 1)", {1, 2});
  expect({{"offsets.npy", row_of<int>("<i4", {1, 1})}, {"data.npy", table}, dia, shape},
         "member 'offsets.npy' names diagonal 1 twice");
  expect({{"offsets.npy", row_of<int>("<i4", {1})}, {"data.npy", table}, dia, shape},
         "member 'offsets.npy' names 1 diagonals, and 'data.npy' has 2");
  // Sizes not backed by entries are not allocated.
  Members many = small_csr();
  many[3].second = shape_of(2000000000, 3);
  expect(many, "2000000000 rows for 4 entries; nearly all would be empty");
}

/// Every flipped bit is detected or has no effect, in the whole and in the parts of three ranks.
TEST(NpzFormats, NoFlippedBitMakesAnotherMatrix) {
  const TemporaryFolder folder;
  const CsrMatrix<real<double>> matrix = poisson(30);
  const auto read_by_ranks = [&](const std::string& path) {
    const NpzRows file(path);
    (void)file.entries_of_groups(7);
    std::vector<NpzRows::Sums> sums(3);
    std::vector<double> values;
    const Index n = file.rows();
    for (Index rank = 0; rank < 3; ++rank) {
      const AnyMatrix part =
          file.read(n * rank / 3, n * (rank + 1) / 3, EntryKind::real, Precision::double_precision,
                    Device::cpu(1), &sums[static_cast<std::size_t>(rank)]);
      const auto bytes = part.values();
      const auto* const first = reinterpret_cast<const double*>(bytes.data());
      values.insert(values.end(), first, first + bytes.size() / sizeof(double));
      values.insert(values.end(), part.pattern().column,
                    part.pattern().column + part.pattern().entries());
    }
    file.check(sums);
    return values;
  };
  for (const auto how : {NpzCompression::stored, NpzCompression::deflated}) {
    const std::string path = folder / "a.npz";
    write_npz(path, block_view(matrix), how);
    const std::string whole = contents(path);
    const BlockMatrix expected = read_npz(path);
    const std::vector<double> of_ranks = read_by_ranks(path);
    std::mt19937 random(how == NpzCompression::stored ? 1 : 2);
    for (int k = 0; k < 250; ++k) {
      std::string damaged = whole;
      const std::size_t bit = random() % (8 * whole.size());
      damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
      SCOPED_TRACE("bit " + std::to_string(bit));
      folder.write("b.npz", damaged);
      try {
        const BlockMatrix found = read_npz(folder / "b.npz");
        EXPECT_EQ(list(found.column), list(expected.column));
        EXPECT_EQ(list(found.values), list(expected.values));
      } catch (const Error&) {
      }
      try {
        EXPECT_EQ(read_by_ranks(folder / "b.npz"), of_ranks);
      } catch (const Error&) {
      }
    }
  }
}

}  // namespace
}  // namespace heddle::test
