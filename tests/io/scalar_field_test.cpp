// Tables of numbers: columns in the file, rows in memory.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "heddle/matrix_market.hpp"
#include "temporary_folder.hpp"

using namespace heddle;

namespace {

std::vector<double> list(const ScalarField& field) {
  return {field.values.begin(), field.values.end()};
}

TEST(ScalarField, ColumnsOfTheFileAreStrided) {
  const TemporaryFolder folder;
  const ScalarField real = read_scalar_field(folder.write(
      "a.mtx", "%%MatrixMarket matrix array real general\n% c\n3 2\n1\n2\n3\n\n4\n5\n6\n"));
  EXPECT_EQ(real.rows, 3);
  EXPECT_EQ(real.columns, 2);
  EXPECT_FALSE(real.is_complex);
  EXPECT_EQ(list(real), (std::vector<double>{1, 4, 2, 5, 3, 6}));
  const ScalarField complex = read_scalar_field(folder.write(
      "a.mtx", "%%MatrixMarket matrix array complex general\n2 2\n1 -1\n2 -2\n3 -3\n4 -4\n"));
  EXPECT_TRUE(complex.is_complex);
  EXPECT_EQ(list(complex), (std::vector<double>{1, -1, 3, -3, 2, -2, 4, -4}));
}

TEST(ScalarField, AbsentNumbersOfACoordinateFileAreZero) {
  const TemporaryFolder folder;
  const ScalarField field = read_scalar_field(folder.write(
      "a.mtx", "%%MatrixMarket matrix coordinate integer general\n3 2 3\n3 1 5\n1 2 1\n3 1 6\n"));
  EXPECT_EQ(list(field), (std::vector<double>{0, 1, 0, 0, 11, 0}));
}

TEST(ScalarField, EmptyTables) {
  const TemporaryFolder folder;
  const std::string path = folder.write("a.mtx", "%%MatrixMarket matrix array real general\n0 4\n");
  const ScalarField field = read_scalar_field(path);
  EXPECT_EQ(field.rows, 0);
  EXPECT_EQ(field.columns, 4);
  write_scalar_field(folder / "b.mtx", field);
  EXPECT_EQ(contents(folder / "b.mtx"), contents(path));
}

TEST(ScalarField, ReadsWhatItWrites) {
  const TemporaryFolder folder;
  for (unsigned seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> exponent(-300, 300);
    ScalarField field{static_cast<Offset>(random() % 20000) + 1,
                      static_cast<Offset>(random() % 5) + 1,
                      seed % 2 == 0,
                      {}};
    field.values = Array<double>(
        static_cast<std::size_t>(field.rows * field.columns * (field.is_complex ? 2 : 1)));
    for (double& v : field.values) v = std::pow(10, exponent(random)) * (random() % 2 ? 1 : -1);
    const std::string path = folder / (seed % 3 == 0 ? "a.mtx.gz" : "a.mtx");
    write_scalar_field(path, field);
    const ScalarField read = read_scalar_field(path);
    EXPECT_EQ(read.rows, field.rows);
    EXPECT_EQ(read.columns, field.columns);
    EXPECT_EQ(read.is_complex, field.is_complex);
    EXPECT_TRUE(list(read) == list(field));
  }
}

}  // namespace
