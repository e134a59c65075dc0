// Schedules that outlive edits: the blocks of y that changes touch are merged with the changes, and
// all others are copied.
#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "heddle/detail/trees/leaf_schedule.hpp"
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

/// Changes by blocks of y and then of x, each place once: the last batch decides.
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

/// Calls `body(x, leaf)` for the leaves of a block of y after the changes.
template <class Body>
void for_each_merged(const LeafSchedule& before, Index y, std::span<const Mend> mends,
                     const Body& body) {
  std::size_t next = 0;
  const auto take_until = [&](Index x) {
    for (; next < mends.size() && mends[next].x < x; ++next) {
      if (mends[next].stays) body(mends[next].x, mends[next].leaf);
    }
  };
  const auto end = static_cast<std::size_t>(before.places->first[static_cast<std::size_t>(y) + 1]);
  for (auto i = static_cast<std::size_t>(before.places->first[static_cast<std::size_t>(y)]);
       i < end; ++i) {
    const Index x = before.places->block[i];
    take_until(x);
    if (next < mends.size() && mends[next].x == x) {
      take_until(x + 1);
    } else {
      body(x, (*before.references)[i]);
    }
  }
  for (; next < mends.size(); ++next) {
    if (mends[next].stays) body(mends[next].x, mends[next].leaf);
  }
}

/// A block of y that changes touch.
struct TouchedBlock {
  Index y;
  std::span<const Mend> mends;
  Offset more;          // leaves added
  Offset earlier_more;  // in all touched blocks before it
};

/// The place of the leaf that a change refers to, or -1 if there was none.
Offset place_before(const LeafPlaces& before, const Mend& mend) {
  const auto y = static_cast<std::size_t>(mend.y);
  const Offset end = before.first[y + 1];
  const Offset at = before.block.first_from(mend.x, before.first[y], end);
  return at != end && before.block[static_cast<std::size_t>(at)] == mend.x ? at : -1;
}

/// Calls `copy(begin, end, leaves more before them)` for runs of blocks of y that no change
/// touches, and `merge(touched)` for the others, all of them shared among threads.
template <class Copy, class Merge>
void for_each_run(std::span<const TouchedBlock> touched, Index blocks, int team, const Copy& copy,
                  const Merge& merge) {
  const Offset pieces = team == 1 ? 1 : 4 * Offset{team};
  parallel_for(team, pieces, 1, [&](Offset piece) {
    auto y = static_cast<Index>(piece * blocks / pieces);
    const auto end = static_cast<Index>((piece + 1) * blocks / pieces);
    auto next = std::partition_point(touched.begin(), touched.end(),
                                     [&](const TouchedBlock& block) { return block.y < y; });
    Offset more = next == touched.begin() ? 0 : (next - 1)->earlier_more + (next - 1)->more;
    for (; next != touched.end() && next->y < end; ++next) {
      copy(y, next->y, more);
      merge(*next);
      more += next->more;
      y = next->y + 1;
    }
    copy(y, end, more);
  });
}

}  // namespace

LeafSchedule mended_schedule(const LeafSchedule& before,
                             std::span<const std::shared_ptr<const LeafChanges>> batches,
                             bool by_columns, const Device& device) {
  const std::vector<Mend> mends = mends_of(batches, by_columns);
  const LeafPlaces& places = *before.places;
  const Array<NodeReference>& leaf = *before.references;
  std::vector<Offset> at(mends.size());
  parallel_for(team_size(device.stream(), static_cast<Offset>(mends.size()) * 16), mends.size(),
               [&](std::size_t i) { at[i] = place_before(places, mends[i]); });
  std::vector<TouchedBlock> touched;
  bool replaces_only = true;
  for (std::size_t begin = 0, end = 0; begin < mends.size(); begin = end) {
    Offset more = 0;
    for (; end < mends.size() && mends[end].y == mends[begin].y; ++end) {
      const bool was_there = at[end] >= 0;
      more += (mends[end].stays ? 1 : 0) - (was_there ? 1 : 0);
      replaces_only = replaces_only && mends[end].stays && was_there;
    }
    const Offset earlier = touched.empty() ? 0 : touched.back().earlier_more + touched.back().more;
    touched.push_back(
        {mends[begin].y, std::span(mends).subspan(begin, end - begin), more, earlier});
  }
  if (replaces_only) {
    auto replaced = std::make_shared<Array<NodeReference>>(leaf);
    for (std::size_t i = 0; i < mends.size(); ++i) {
      (*replaced)[static_cast<std::size_t>(at[i])] = mends[i].leaf;
    }
    return {before.places, std::move(replaced)};
  }
  const auto leaves =
      leaf.size() + static_cast<std::size_t>(touched.back().earlier_more + touched.back().more);
  auto after = std::make_shared<LeafPlaces>(
      LeafPlaces{Array<Offset>(places.first.size(), device), places.block.sized(leaves, device)});
  auto references = std::make_shared<Array<NodeReference>>(leaves, device);
  const auto copy = [&](Index begin, Index end, Offset more) {
    const Offset from = places.first[static_cast<std::size_t>(begin)];
    const Offset count = places.first[static_cast<std::size_t>(end)] - from;
    for (auto y = static_cast<std::size_t>(begin); y < static_cast<std::size_t>(end); ++y) {
      after->first[y + 1] = places.first[y + 1] + more;
    }
    after->block.copy(places.block, from, count, from + more);
    std::copy_n(leaf.data() + from, count, references->data() + from + more);
  };
  const auto merge = [&](const TouchedBlock& block) {
    const auto y = static_cast<std::size_t>(block.y);
    auto to = static_cast<std::size_t>(places.first[y] + block.earlier_more);
    after->first[y + 1] = places.first[y + 1] + block.earlier_more + block.more;
    for_each_merged(before, block.y, block.mends, [&](Index x, NodeReference of_x) {
      after->block.set(to, x);
      (*references)[to] = of_x;
      ++to;
    });
  };
  const Index blocks = before.blocks();
  for_each_run(touched, blocks,
               team_size(device.stream(), static_cast<Offset>(leaf.size()) + blocks), copy, merge);
  return {std::move(after), std::move(references)};
}

}  // namespace heddle::detail
