// The entries of a pattern by the blocks in which they lie, for both conversion and inner levels.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "heddle/detail/trees/tree.hpp"
#include "heddle/tools/team.hpp"

namespace heddle::detail {

/// Counts a block row's entries in each block column; a thread uses one object for all its rows.
class BlockColumns {
 public:
  /// Block columns, ascending, and their entries.
  using Counts = std::vector<std::pair<Index, int>>;

  explicit BlockColumns(Index columns) : entries_(static_cast<std::size_t>(columns)) {}

  Counts counts(const PatternView& pattern, int log2_size, Index block_row) {
    const Offset first = Offset(block_row) << log2_size;
    const Offset end = std::min<Offset>(pattern.rows, first + (Offset(1) << log2_size));
    const Offset after = pattern.offsets[end];
    blocks_.clear();
    for (Offset i = pattern.offsets[first]; i < after;) {
      // Entries of one block that lie together are counted at once: a counter waits for itself.
      const Offset run = i;
      const Index block = pattern.column[i] >> log2_size;
      do ++i;
      while (i < after && pattern.column[i] >> log2_size == block);
      int& entries = entries_[static_cast<std::size_t>(block)];
      if (entries == 0) blocks_.push_back(block);
      entries += static_cast<int>(i - run);
    }
    std::sort(blocks_.begin(), blocks_.end());
    Counts counts;
    counts.reserve(blocks_.size());
    for (const Index block : blocks_) {
      counts.emplace_back(block, std::exchange(entries_[static_cast<std::size_t>(block)], 0));
    }
    return counts;
  }

 private:
  std::vector<int> entries_;
  std::vector<Index> blocks_;
};

/// Calls `body(i)` for the entries of a row, by columns.
template <class Body>
void for_each_by_columns(const PatternView& pattern, Index row,
                         std::vector<std::pair<Index, Offset>>& order, const Body& body) {
  const Offset begin = pattern.offsets[row], end = pattern.offsets[Offset(row) + 1];
  if (std::is_sorted(pattern.column + begin, pattern.column + end)) {
    for (Offset i = begin; i < end; ++i) body(i);
    return;
  }
  order.clear();
  for (Offset i = begin; i < end; ++i) order.emplace_back(pattern.column[i], i);
  std::sort(order.begin(), order.end());
  for (const auto& [column, i] : order) body(i);
}

/// Writes all nodes of a level: `writer(node)` makes the writer of one, `write(i, to)` writes the
/// payload of the pattern's entry i. Block rows are shared among threads.
template <class Writer, class Write>
void for_each_entry_by_nodes(const PatternView& pattern, const NodeLevel& level,
                             const NodeShape& shape, const Stream& stream, const Writer& writer,
                             const Write& write) {
  const int team = team_size(stream, pattern.entries() + pattern.rows);
  parallel_shares(team, level.rows, 0, [&](auto&& for_each) {
    std::vector<Index> node_of(static_cast<std::size_t>(level.columns));
    std::vector<NodeWriter> writers;
    std::vector<std::pair<Index, Offset>> order;
    for_each([&](Index block_row) {
      writers.clear();
      const auto nodes = level.pattern();
      for (Offset node = nodes.offsets[block_row]; node < nodes.offsets[Offset(block_row) + 1];
           ++node) {
        node_of[static_cast<std::size_t>(nodes.column[node])] = static_cast<Index>(writers.size());
        writers.push_back(writer(node));
      }
      const Offset first = Offset(block_row) << shape.log2_size;
      const Offset end = std::min<Offset>(pattern.rows, first + shape.size());
      for (Offset row = first; row < end; ++row) {
        for_each_by_columns(pattern, static_cast<Index>(row), order, [&](Offset i) {
          const Index column = pattern.column[i];
          const Index node = node_of[static_cast<std::size_t>(shape.block_of(column))];
          write(i, writers[static_cast<std::size_t>(node)].next(
                       shape.place_of(static_cast<Index>(row), column)));
        });
      }
    });
  });
}

}  // namespace heddle::detail
