// Files read with the entry that fits them.
#include <gtest/gtest.h>

#include "cli/small_systems.hpp"
#include "heddle/error.hpp"
#include "io/temporary_folder.hpp"
#include "problems/problem.hpp"

namespace heddle::bench {
namespace {

TEST(ReadProblem, FindsTheEntry) {
  const TemporaryFolder folder;
  for (const SmallSystem& system : small_systems()) {
    SCOPED_TRACE(system.name);
    folder.write("a.mtx", system.text);
    const Problem given = read_problem(folder / "a.mtx", parse_entry_kind(system.entry));
    EXPECT_EQ(given.matrix.entry().name(), system.entry);
    EXPECT_EQ(given.matrix.rows(), system.rows);
    EXPECT_EQ(given.name, "a.mtx");
    EXPECT_EQ(given.hermitian_positive_definite, system.solver == "cg");
    // Tridiagonal numbers show no sign of being blocks; small representations are recognised as
    // such.
    const Problem found = read_problem(folder / "a.mtx");
    if (system.name.starts_with("block") || system.name == "real") {
      EXPECT_EQ(found.matrix.entry().name(), "real");
    } else if (system.name.starts_with("complex")) {
      EXPECT_EQ(found.matrix.entry().name(), "complex");
    } else {
      EXPECT_EQ(found.matrix.entry().name(), system.entry);
    }
  }
}

TEST(ReadProblem, TakesFullBlocksAsBlocks) {
  const TemporaryFolder folder;
  DenseMatrix A(9, 9);
  for (int i = 0; i < 3; ++i) {
    DenseMatrix tile(3, 3);
    for (int k = 0; k < 9; ++k)
      tile.values[static_cast<std::size_t>(k)] = k + 1 + (k % 4 == 0) * 20;
    A.set_tile(3 * i, 3 * i, tile);
    if (i > 0) A.set_tile(3 * i, 3 * i - 3, tile);
  }
  folder.write("a.mtx", matrix_market(A));
  const Problem found = read_problem(folder / "a.mtx");
  EXPECT_EQ(found.matrix.entry().name(), "block3");
  EXPECT_EQ(found.matrix.entries(), 5);
  EXPECT_FALSE(found.hermitian_positive_definite);
}

TEST(ReadProblem, NamesTheFile) {
  const TemporaryFolder folder;
  folder.write("a.mtx", "nonsense");
  try {
    read_problem(folder / "a.mtx");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("a.mtx"), std::string::npos);
  }
}

}  // namespace
}  // namespace heddle::bench
