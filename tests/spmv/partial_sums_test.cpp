// Sums of a launch by groups of 256 threads, independent of its blocks: the arithmetic shared by
// kernels and host, played on the CPU.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "heddle/kernels/arguments.hpp"

namespace heddle::device {
namespace {

/// Adds neighbours, then their sums, as lanes and warps do.
double tree_sum(std::vector<double> values) {
  for (std::size_t half = 1; half < values.size(); half *= 2) {
    for (std::size_t i = 0; i + half < values.size(); i += 2 * half) values[i] += values[i + half];
  }
  return values[0];
}

TEST(PartialSums, OfAnyBlocksMakeTheSameGroups) {
  std::mt19937_64 generator(4711);
  std::normal_distribution<double> normal(0, 1);
  constexpr std::size_t groups = 420;  // divisible into blocks of every size
  std::vector<double> of_thread(groups * threads_of_group);
  for (double& value : of_thread) value = normal(generator);
  const auto sum_of = [&](std::size_t first, int threads) {
    const auto begin = of_thread.begin() + static_cast<std::ptrdiff_t>(first);
    return tree_sum({begin, begin + threads});
  };
  for (const int block : {32, 64, 96, 128, 160, 192, 224, 256, 384, 512, 768, 1024}) {
    SCOPED_TRACE(block);
    const int part = threads_of_part(block), parts = parts_of_group(block);
    EXPECT_EQ(part * partials_of_block(block), block);
    EXPECT_EQ(part * parts, threads_of_group);
    EXPECT_TRUE(parts == 1 || parts == 2 || parts == 4 || parts == 8);
    ASSERT_EQ(of_thread.size() % static_cast<std::size_t>(block), 0U);
    std::vector<double> partials;
    for (std::size_t first = 0; first < of_thread.size(); first += static_cast<std::size_t>(part)) {
      partials.push_back(sum_of(first, part));
    }
    for (std::size_t group = 0; group < groups; ++group) {
      const auto begin = partials.begin() + static_cast<std::ptrdiff_t>(group) * parts;
      EXPECT_EQ(tree_sum({begin, begin + parts}),
                sum_of(group * threads_of_group, threads_of_group));
    }
  }
}

}  // namespace
}  // namespace heddle::device
