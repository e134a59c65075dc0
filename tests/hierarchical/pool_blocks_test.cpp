// Memory of trees that their successors reuse.
#include "hierarchical/pools/pool_blocks.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>

namespace pool_blocks {
namespace {

using namespace heddle;

TEST(PoolBlocks, ServeTheNextPoolAndKeepNoMoreThanIsTaken) {
  constexpr std::size_t size = std::size_t(4) << 20;
  detail::PoolBlocks blocks;
  std::byte* const a = blocks.take(size);
  std::byte* const b = blocks.take(size - 5);
  ASSERT_NE(a, nullptr);
  ASSERT_NE(b, nullptr);
  std::memset(a, 1, size);
  std::memset(b, 2, size - 5);
  EXPECT_EQ(blocks.kept_bytes(), 0U);
  EXPECT_TRUE(blocks.give_back(b));
  EXPECT_GE(blocks.kept_bytes(), size - 5);
  EXPECT_EQ(blocks.take(size - 1000), b);
  EXPECT_EQ(blocks.kept_bytes(), 0U);
  EXPECT_TRUE(blocks.give_back(b));
  EXPECT_FALSE(blocks.give_back(b));
  // Kept blocks are released to make room for a block that none of them can serve.
  std::byte* const large = blocks.take(3 * size);
  ASSERT_NE(large, nullptr);
  EXPECT_EQ(blocks.kept_bytes(), 0U);
  EXPECT_EQ(a[size - 1], std::byte{1});
  EXPECT_TRUE(blocks.give_back(a));
  EXPECT_GE(blocks.kept_bytes(), size);
  EXPECT_TRUE(blocks.give_back(large));
  EXPECT_EQ(blocks.kept_bytes(), 0U);
  EXPECT_EQ(blocks.take(std::size_t(1) << 60), nullptr);
}

}  // namespace
}  // namespace pool_blocks
