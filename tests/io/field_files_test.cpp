// Tables of numbers in NumPy and plain text files, and the fields in them.
#include "io/field_files.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "io/field_layout.hpp"
#include "npz_by_hand.hpp"
#include "support/expect_error.hpp"
#include "temporary_folder.hpp"

namespace heddle::test {
namespace {

std::vector<double> list(const ScalarField& field) {
  return {field.values.begin(), field.values.end()};
}

void expect_field(const ScalarField& field, Offset rows, Offset columns, bool is_complex,
                  const std::vector<double>& values) {
  EXPECT_EQ(field.rows, rows);
  EXPECT_EQ(field.columns, columns);
  EXPECT_EQ(field.is_complex, is_complex);
  EXPECT_EQ(list(field), values);
}

TEST(FieldFiles, ArraysOfNumPyAreRead) {
  const TemporaryFolder folder;
  const auto read = [&](const std::string& bytes) {
    return read_scalar_field(folder.write("b.npy", bytes));
  };
  expect_field(read(npy<double>("<f8", "(3,)", {1, 2, 3})), 3, 1, false, {1, 2, 3});
  expect_field(read(npy<std::int16_t>("<i2", "(2, 2)", {1, -2, 3, 4})), 2, 2, false, {1, -2, 3, 4});
  expect_field(read(npy<float>("<f4", "(2, 3)", {1, 4, 2, 5, 3, 6}, "True")), 2, 3, false,
               {1, 2, 3, 4, 5, 6});
  expect_field(read(npy<float>("<c8", "(2, 1)", {1, -1, 2, -2})), 2, 1, true, {1, -1, 2, -2});
  expect_field(read(npy<double>("<f8", "(0, 3)", {})), 0, 3, false, {});
}

TEST(FieldFiles, ArraysNameWhatIsWrong) {
  const TemporaryFolder folder;
  const auto expect = [&](const std::string& bytes, const std::string& message,
                          ErrorKind kind = ErrorKind::malformed_file) {
    const std::string path = folder.write("b.npy", bytes);
    expect_error(kind, path + ": " + message, [&] { read_scalar_field(path); });
  };
  const std::string whole = npy<double>("<f8", "(3,)", {1, 2, 3});
  expect(whole.substr(0, whole.size() - 1), "the array is truncated");
  expect(whole.substr(0, 7), "the array is truncated");
  expect(whole + "x", "the array has more bytes than its header promises");
  expect(npy<double>("<f8", "()", {1}), "the array has 0 dimensions, where a field has one or two");
  expect(npy<double>("<f8", "(1, 1, 1)", {1}),
         "the array has 3 dimensions, where a field has one or two");
  expect(npy<double>("<f8", "(999999999999,)", {1}), "the array is truncated");
  expect(npy<double>("<i2\n\x93", "(3,)", {1}),
         "the array holds numbers of the unsupported type '<i2\?\?'; supported are bool, integers, "
         "float32, float64, "
         "complex64 and complex128");
  expect(npy<double>("<f8", "(4611686018427387904, 4)", {}),
         "the array holds an array of impossible shape");
  expect(npy<char>("|S1", "(1,)", {'1'}), "the array holds no numbers");
  expect(npy<double>("<f8", "(2, 2)", {1, 2, 3, std::nan("")}),
         "a non-finite value in row 1, column 1, counted from 0", ErrorKind::not_finite);
  expect("PK\x03\x04...", "a zip archive; a field is a .npy, Matrix Market or text file");
}

TEST(FieldFiles, TextIsRead) {
  const TemporaryFolder folder;
  const auto read = [&](const std::string& text) {
    return read_scalar_field(folder.write("b.txt", text));
  };
  expect_field(read("1\n2\n-3e0"), 3, 1, false, {1, 2, -3});
  expect_field(read("# b\n\n 1,2 \r\n3; 4 % two\n"), 2, 2, false, {1, 2, 3, 4});
  expect_field(read("\xEF\xBB\xBF"
                    "1 2"),
               1, 2, false, {1, 2});
  expect_field(read(" (1.5+2j)\n(-3.0e+00-4.0e-01j)\n5\n2j\n"), 4, 1, true,
               {1.5, 2, -3, -0.4, 5, 0, 0, 2});
  expect_field(read("%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n3\n"), 2, 2, false,
               {1, 2, 2, 3});
  const auto expect = [&](const std::string& text, const std::string& message, ErrorKind kind) {
    const std::string path = folder.write("b.txt", text);
    expect_error(kind, path + message, [&] { read_scalar_field(path); });
  };
  expect("1 2\n3\n", ":2: 1 number where the lines before have 2", ErrorKind::malformed_file);
  expect("1\n\n2x\n", ":3: '2x' is not a number", ErrorKind::malformed_file);
  expect("1\n(1+2j\n", ":2: '(1+2j' is not a number", ErrorKind::malformed_file);
  expect("1\n1+2\n", ":2: '1+2' is not a number", ErrorKind::malformed_file);
  expect("1\nnan\n", ":2: non-finite value 'nan'", ErrorKind::not_finite);
  expect("1\n-1e999\n", ":2: non-finite value '-1e999'", ErrorKind::not_finite);
  expect("# nothing\n", ": no number in the file", ErrorKind::malformed_file);
}

TEST(FieldFiles, ComeBackAsTheyWere) {
  const TemporaryFolder folder;
  std::mt19937_64 random(5301);
  std::uniform_real_distribution<double> exponent(-300, 300);
  for (const bool is_complex : {false, true}) {
    for (const Offset columns : {1, 3}) {
      ScalarField field{5003, columns, is_complex, {}};
      field.values = Array<double>(static_cast<std::size_t>(5003 * columns * (is_complex ? 2 : 1)));
      for (double& v : field.values) {
        v = std::pow(10, exponent(random)) * (random() % 2 != 0 ? 1 : -1);
      }
      field.values[0] = -0.0;
      for (const std::string name : {"x.npy", "x.txt", "x.txt.gz", "x.mtx", "x.mtx.gz"}) {
        SCOPED_TRACE(name);
        write_scalar_field(folder / name, field);
        expect_field(read_scalar_field(folder / name), 5003, columns, is_complex, list(field));
      }
    }
  }
  const ScalarField one{1, 1, false, Array<double>(1)};
  expect_error(ErrorKind::usage,
               (folder / "x.csv") + " does not end in .mtx, .mtx.gz, .npy, .txt or .txt.gz",
               [&] { write_scalar_field(folder / "x.csv", one); });
  write_scalar_field("/dev/null", one);
}

/// The fields read from a table of 0, 1, 2, ... in rows, one after another.
std::vector<double> fields_in(Offset rows, Offset columns, bool is_complex, Index n,
                              const io::FieldRow& row, std::optional<int> count) {
  ScalarField table{rows, columns, is_complex,
                    Array<double>(static_cast<std::size_t>(rows * columns * (is_complex ? 2 : 1)))};
  for (std::size_t i = 0; i < table.values.size(); ++i) table.values[i] = static_cast<double>(i);
  const auto layout = io::FieldLayout::find(table, n, row, count);
  std::vector<double> found;
  if (!layout) return found;
  for (int k = 0; k < layout->count(); ++k) {
    for (Index i = 0; i < n; ++i) {
      for (int c = 0; c < row.components; ++c) found.push_back(layout->get(table, k, i, c));
    }
  }
  return found;
}

TEST(FieldLayouts, ShapesTellThem) {
  using V = std::vector<double>;
  const io::FieldRow real{1, Ring::real}, complex{2, Ring::complex}, block{3, Ring::real};
  EXPECT_EQ(fields_in(3, 1, false, 3, real, {}), (V{0, 1, 2}));
  EXPECT_EQ(fields_in(3, 2, false, 3, real, {}), (V{0, 2, 4, 1, 3, 5}));
  EXPECT_EQ(fields_in(3, 2, false, 3, real, 2), (V{0, 2, 4, 1, 3, 5}));
  EXPECT_EQ(fields_in(3, 2, false, 3, real, 1), V());
  EXPECT_EQ(fields_in(6, 1, false, 3, real, 2), (V{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(fields_in(6, 1, false, 3, real, {}), V());
  EXPECT_EQ(fields_in(2, 3, false, 2, block, {}), (V{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(fields_in(6, 1, false, 2, block, {}), (V{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(fields_in(2, 6, false, 2, block, {}), (V{0, 1, 2, 6, 7, 8, 3, 4, 5, 9, 10, 11}));
  EXPECT_EQ(fields_in(6, 2, false, 2, block, {}), (V{0, 2, 4, 6, 8, 10, 1, 3, 5, 7, 9, 11}));
  EXPECT_EQ(fields_in(4, 3, false, 2, block, 2), (V{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
  EXPECT_EQ(fields_in(12, 1, false, 2, block, 2), (V{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
  EXPECT_THROW(fields_in(6, 3, false, 2, block, {}), Error);
  EXPECT_THROW(fields_in(6, 3, false, 2, block, 3), Error);
  EXPECT_EQ(fields_in(3, 1, true, 3, complex, {}), (V{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(fields_in(2, 2, true, 2, complex, {}), (V{0, 1, 4, 5, 2, 3, 6, 7}));
  EXPECT_EQ(fields_in(3, 1, false, 3, complex, {}), (V{0, 0, 1, 0, 2, 0}));
  EXPECT_EQ(fields_in(3, 2, false, 3, complex, {}), (V{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(fields_in(3, 2, false, 3, complex, 2), (V{0, 0, 2, 0, 4, 0, 1, 0, 3, 0, 5, 0}));
  EXPECT_EQ(fields_in(6, 1, false, 3, complex, {}), (V{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(fields_in(3, 3, false, 3, complex, {}).size(), 18U);
  expect_error(ErrorKind::size_mismatch,
               "a 3 x 4 table may hold 2 fields or 4 of real parts; give the number of fields",
               [&] { fields_in(3, 4, false, 3, complex, {}); });
  EXPECT_THROW(fields_in(3, 1, true, 3, real, {}), Error);
}

}  // namespace
}  // namespace heddle::test
