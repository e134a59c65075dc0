// The counts that ranks have for one another, compared with a table of all counts.
#include "distributed/communicators/counts_for_ranks.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "distributed/communicators/ports_of_ranks.hpp"
#include "support/random_matrix.hpp"

namespace heddle::test::counts_for_ranks {
namespace {

using Counts = std::vector<detail::CountForRank>;

/// With lists for no rank, for few ranks, and for so many that they are sent in rounds.
TEST(CountsForRanks, AreThoseOfATable) {
  Seed seed(211);
  for (const int size : {1, 2, 5, 70}) {
    for (const int one_in : {1, 3, 50}) {
      std::vector<Counts> mine(static_cast<std::size_t>(size)), expected(mine), found(mine);
      for (int from = 0; from < size; ++from) {
        for (int to = 0; to < size; ++to) {
          if (random_between(1, one_in, seed.generator) > 1) continue;
          const int count = random_between(1, 1000, seed.generator);
          mine[static_cast<std::size_t>(from)].push_back({to, count});
          expected[static_cast<std::size_t>(to)].push_back({from, count});
        }
      }
      run_on_ranks(size, [&](Communicator& ranks) {
        const auto rank = static_cast<std::size_t>(ranks.rank());
        found[rank] = detail::counts_for_this(ranks, mine[rank]);
      });
      EXPECT_EQ(found, expected) << size << " ranks";
    }
  }
}

TEST(PortsOfRanks, LiveAsLongAsARankKeepsThem) {
  constexpr int size = 5;
  std::vector<std::weak_ptr<int>> ports(size);
  std::vector<std::vector<std::shared_ptr<int>>> kept(size);
  run_on_ranks(size, [&](Communicator& ranks) {
    const auto rank = static_cast<std::size_t>(ranks.rank());
    const auto own = std::make_shared<int>(ranks.rank());
    ports[rank] = own;
    kept[rank] = detail::gather_ports(ranks, own);
  });
  for (const auto& of_rank : kept) {
    for (int r = 0; r < size; ++r) EXPECT_EQ(*of_rank[static_cast<std::size_t>(r)], r);
  }
  for (const std::weak_ptr<int>& port : ports) EXPECT_EQ(port.use_count(), size);
  kept.clear();
  for (const std::weak_ptr<int>& port : ports) EXPECT_TRUE(port.expired());
}

}  // namespace
}  // namespace heddle::test::counts_for_ranks
