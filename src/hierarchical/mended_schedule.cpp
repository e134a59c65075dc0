// Schedules that outlive edits: the blocks of y that changes touch are merged with them, all others
// are copied.
#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "heddle/detail/leaf_schedule.hpp"
#include "heddle/tools/team.hpp"

namespace heddle::detail {

namespace {

/// A change as the schedule sees it.
struct Mend {
  Index y;
  Index x;
  bool stays;
  NodeReference leaf;
};

/// By blocks of y and then of x, each place once: the last batch decides.
std::vector<Mend> mends_of(std::span<const std::shared_ptr<const LeafChanges>> batches,
                           bool by_columns) {
  std::vector<Mend> all;
  for (const auto& batch : batches) {
    for (const LeafChange& change : *batch) {
      all.push_back({by_columns ? change.column : change.row,
                     by_columns ? change.row : change.column, change.stays, change.leaf});
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const Mend& a, const Mend& b) {
    return std::pair(a.y, a.x) < std::pair(b.y, b.x);
  });
  std::vector<Mend> last;
  last.reserve(all.size());
  for (const Mend& mend : all) {
    if (!last.empty() && last.back().y == mend.y && last.back().x == mend.x) {
      last.back() = mend;
    } else {
      last.push_back(mend);
    }
  }
  return last;
}

/// Calls `body(x, leaf)` with the leaves of a block of y afterwards.
template <class Body>
void for_each_merged(const LeafSchedule& before, Index y, std::span<const Mend> mends,
                     const Body& body) {
  std::size_t next = 0;
  const auto take_until = [&](Index x) {
    for (; next < mends.size() && mends[next].x < x; ++next) {
      if (mends[next].stays) body(mends[next].x, mends[next].leaf);
    }
  };
  const auto end = static_cast<std::size_t>(before.first[static_cast<std::size_t>(y) + 1]);
  for (auto i = static_cast<std::size_t>(before.first[static_cast<std::size_t>(y)]); i < end; ++i) {
    const Index x = before.block[i];
    take_until(x);
    if (next < mends.size() && mends[next].x == x) {
      take_until(x + 1);
    } else {
      body(x, before.leaf[i]);
    }
  }
  for (; next < mends.size(); ++next) {
    if (mends[next].stays) body(mends[next].x, mends[next].leaf);
  }
}

}  // namespace

LeafSchedule mended_schedule(const LeafSchedule& before,
                             std::span<const std::shared_ptr<const LeafChanges>> batches,
                             bool by_columns, const Device& device) {
  const std::vector<Mend> mends = mends_of(batches, by_columns);
  const Index blocks = before.blocks();
  const auto mends_at = [&](Index y) {
    const auto begin = std::partition_point(mends.begin(), mends.end(),
                                            [&](const Mend& mend) { return mend.y < y; });
    const auto end =
        std::partition_point(begin, mends.end(), [&](const Mend& mend) { return mend.y == y; });
    return std::span<const Mend>(begin, end);
  };
  const auto team =
      team_size(device.stream(), static_cast<Offset>(before.block.size() + mends.size()) + blocks);
  LeafSchedule after{Array<Offset>(static_cast<std::size_t>(blocks) + 1, device), {}, {}};
  parallel_for(team, blocks, [&](Index y) {
    const auto own = mends_at(y);
    const auto at = static_cast<std::size_t>(y);
    Offset count = own.empty() ? before.first[at + 1] - before.first[at] : 0;
    if (!own.empty()) for_each_merged(before, y, own, [&](Index, NodeReference) { ++count; });
    after.first[at + 1] = count;
  });
  for (std::size_t y = 1; y < after.first.size(); ++y) after.first[y] += after.first[y - 1];
  const auto leaves = static_cast<std::size_t>(after.first[static_cast<std::size_t>(blocks)]);
  after.block = Array<Index>(leaves, device);
  after.leaf = Array<NodeReference>(leaves, device);
  parallel_for(team, blocks, [&](Index y) {
    const auto own = mends_at(y);
    auto to = static_cast<std::size_t>(after.first[static_cast<std::size_t>(y)]);
    if (own.empty()) {
      const auto from = static_cast<std::size_t>(before.first[static_cast<std::size_t>(y)]);
      const auto count =
          static_cast<std::size_t>(before.first[static_cast<std::size_t>(y) + 1]) - from;
      std::copy_n(before.block.data() + from, count, after.block.data() + to);
      std::copy_n(before.leaf.data() + from, count, after.leaf.data() + to);
      return;
    }
    for_each_merged(before, y, own, [&](Index x, NodeReference leaf) {
      after.block[to] = x;
      after.leaf[to] = leaf;
      ++to;
    });
  });
  return after;
}

}  // namespace heddle::detail
