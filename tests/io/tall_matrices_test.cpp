// Matrices of entries with more rows than columns, written as numbers and read back.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "heddle/read.hpp"
#include "io/write_entries.hpp"
#include "support/random_matrix.hpp"
#include "temporary_folder.hpp"

namespace heddle::test {
namespace {

template <class E>
void expect_same(const CsrMatrix<E>& found, const CsrMatrix<E>& expected) {
  ASSERT_EQ(found.rows(), expected.rows());
  ASSERT_EQ(found.columns(), expected.columns());
  ASSERT_EQ(found.entries(), expected.entries());
  EXPECT_TRUE(std::equal(found.values().begin(), found.values().end(), expected.values().begin()));
}

/// The file without the line that specifies its tiles, as other programs write it.
std::string without_tiles(const TemporaryFolder& folder, const std::string& path) {
  std::string text = contents(path);
  const std::size_t at = text.find("%heddle tiles ");
  if (at != std::string::npos) text.erase(at, text.find('\n', at) - at + 1);
  return folder.write("other.mtx", text);
}

template <class E>
class TallMatrices : public testing::Test {};
using Entries = testing::Types<real<double>, complex<double>, quaternion<double>,
                               dual_quaternion<double>, block<double, 2, 2>, block<double, 3, 3>,
                               block<double, 6, 6>, block<complex<double>, 3, 3>>;
TYPED_TEST_SUITE(TallMatrices, Entries);

TYPED_TEST(TallMatrices, ComeBackAsTheyWere) {
  using E = TypeParam;
  const TemporaryFolder folder;
  Seed seed(5101);
  constexpr Index columns = 8;
  // R times as many rows as columns look like columns of R components.
  for (const Index rows : {columns * tile_rows<E>, columns * E::components, Index(12), Index(5)}) {
    for (const Index per_row : {0, 3}) {
      const auto matrix =
          random_matrix<E>({.rows = rows, .columns = columns, .per_row = per_row}, seed.generator);
      for (const std::string name : {"a.mtx", "a.mtx.gz", "a.npz"}) {
        SCOPED_TRACE(name + ", " + std::to_string(rows) + " rows of " + std::to_string(per_row));
        write_entries(folder / name, matrix, nullptr);
        expect_same(read_matrix<E>(folder / name), matrix);
      }
      if (per_row == 0) continue;
      const std::string other = without_tiles(folder, folder / "a.mtx");
      expect_same(read_matrix<E>(other), matrix);
      write_scalar_matrix(folder / "real.mtx", expand(matrix).view());
      expect_same(read_matrix<E>(folder / "real.mtx"), matrix);
    }
  }
}

TEST(TallMatrices, OfDefinitionsComeBackAsTheyWere) {
  const auto definition = std::make_shared<const EntryDefinition>(
      read_entry_definition(std::string(HEDDLE_SOURCE_DIR) + "/data/entries/split-complex.json"));
  const TemporaryFolder folder;
  // A 4 x 2 matrix: the shape of its 8 x 4 numbers also suits components of a 4 x 4 one.
  for (const bool are_zeros : {false, true}) {
    std::vector<double> values(16);
    for (std::size_t i = 0; i < values.size() && !are_zeros; ++i) {
      values[i] = static_cast<double>(i) - 3.5;
    }
    const DefinedMatrix<double> matrix(
        definition, 4, 2, Array<Offset>(std::vector<Offset>{0, 2, 4, 6, 8}),
        Array<Index>(std::vector<Index>{0, 1, 0, 1, 0, 1, 0, 1}), Array<double>(values));
    write_entries(folder / "a.mtx", matrix, nullptr);
    const auto read = [&](const std::string& path) {
      return read_defined_matrix<double>(path, definition);
    };
    const DefinedMatrix<double> same = read(folder / "a.mtx");
    EXPECT_EQ(same.columns(), 2);
    EXPECT_TRUE(std::equal(same.values().begin(), same.values().end(), values.begin()));
    const std::string other = without_tiles(folder, folder / "a.mtx");
    if (are_zeros) {
      EXPECT_THROW(read(other), Error);
    } else {
      EXPECT_EQ(read(other).columns(), 2);
    }
  }
}

}  // namespace
}  // namespace heddle::test
