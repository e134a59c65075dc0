// Distributes slices to the blocks of a loop in one kernel: whole, in order, and as predicted.
#include "solvers/gpu_loops/block_shares.hpp"

#include <gtest/gtest.h>

#include "heddle/operator.hpp"
#include "support/random_matrix.hpp"

namespace {

using namespace heddle;
using namespace heddle::test;

/// Every block has a slice, no slice is in two blocks, and the largest parts are reported
/// correctly.
void check(const BlockShares& shares, const SlicedPattern& A, int max_blocks) {
  ASSERT_EQ(shares.blocks(), std::max(1, std::min(max_blocks, A.slices())));
  EXPECT_EQ(shares.first_slice.front(), 0);
  EXPECT_EQ(shares.first_slice.back(), A.slices());
  Index rows = 0, slices = 0;
  Offset slots = 0;
  for (std::size_t block = 0; block + 1 < shares.first_slice.size(); ++block) {
    const Index begin = shares.first_slice[block], end = shares.first_slice[block + 1];
    EXPECT_EQ(begin < end, A.slices() > 0);
    rows = std::max(rows, std::min(A.rows, A.first_row_of(end)) - A.first_row_of(begin));
    slices = std::max(slices, end - begin);
    slots = std::max(
        slots, A.offset[static_cast<std::size_t>(end)] - A.offset[static_cast<std::size_t>(begin)]);
  }
  EXPECT_EQ(shares.max_rows, rows);
  EXPECT_EQ(shares.max_slices, slices);
  EXPECT_EQ(shares.max_slots, slots);
}

void compare(const CsrMatrix<quaternion<double>>& matrix) {
  for (const char* text : {"CSR", "Sl-32", "pJDS,T=2", "C=16,sigma=256,T=1,threshold=4",
                           "C=32,sigma=64,T=8", "C=64,sigma=n,T=1,threshold=8"}) {
    const Plan plan = parse_plan(text);
    const Operator<quaternion<double>> A(matrix, plan, Device::cpu());
    for (const int blocks : {1, 2, 7, 132, 256}) {
      SCOPED_TRACE(std::string(text) + ", blocks " + std::to_string(blocks));
      const BlockShares built = share_out(A.pattern(), blocks);
      check(built, A.pattern(), blocks);
      const BlockShares foretold = shares_of_blocks(matrix.view().pattern(), plan, blocks);
      EXPECT_EQ(foretold.first_slice, built.first_slice);
      EXPECT_EQ(foretold.max_rows, built.max_rows);
      EXPECT_EQ(foretold.max_slots, built.max_slots);
      EXPECT_EQ(foretold.max_slices, built.max_slices);
    }
  }
}

TEST(BlockShares, AreForetold) {
  Seed seed(5);
  for (const PatternRequest& request : odd_patterns()) {
    SCOPED_TRACE(request.name);
    compare(random_matrix<quaternion<double>>(request, seed.generator));
  }
}

TEST(BlockShares, CountARunOfShortRows) {
  // A third of the rows, one after another, have only their diagonal: a block takes many of them.
  constexpr Index rows = 9000;
  Pattern pattern;
  pattern.rows = pattern.columns = rows;
  pattern.offsets = {0};
  for (Index row = 0; row < rows; ++row) {
    const bool is_short = row > rows / 2 && row < rows / 2 + rows / 3;
    for (Index j = 0; j < (is_short ? 1 : 9); ++j) pattern.column.push_back((row + 3 * j) % rows);
    pattern.offsets.push_back(static_cast<Offset>(pattern.column.size()));
  }
  Seed seed(6);
  const auto matrix = random_matrix_of<quaternion<double>>(pattern, seed.generator);
  compare(matrix);
  const Plan plan = parse_plan("C=32,sigma=256,T=1");
  EXPECT_GT(shares_of_blocks(matrix.view().pattern(), plan, 90).max_rows, 2 * rows / 90);
}

}  // namespace
