#include "heddle/detail/tree_sum.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "heddle/tools/team.hpp"

namespace heddle::detail {

namespace {

void check_fit(const Tree& a, const Tree& b, bool turns_b) {
  const Index rows = turns_b ? b.columns : b.rows, columns = turns_b ? b.rows : b.columns;
  if (a.rows != rows || a.columns != columns) {
    throw Error(ErrorKind::size_mismatch,
                "a sum of " + std::to_string(a.rows) + " x " + std::to_string(a.columns) + " and " +
                    std::to_string(rows) + " x " + std::to_string(columns) + " entries" +
                    (turns_b ? ", the latter turned" : ""));
  }
  if (a.leaf.log2_size != b.leaf.log2_size) {
    throw Error(ErrorKind::usage, "a sum of trees with nodes of " + std::to_string(a.leaf.size()) +
                                      " and of " + std::to_string(b.leaf.size()) +
                                      " rows: make both of one node size");
  }
}

/// The leaves of either tree behind a leaf of the sum; -1 for none.
struct Sources {
  Offset a = -1;
  Offset b = -1;
};

/// Calls `body(block, sources)` with the blocks of a row that either schedule has.
template <class Body>
void for_each_block(const LeafSchedule& A, const LeafSchedule& B, Index row, const Body& body) {
  Offset a = A.first[static_cast<std::size_t>(row)], b = B.first[static_cast<std::size_t>(row)];
  const Offset end_a = A.first[static_cast<std::size_t>(row) + 1];
  const Offset end_b = B.first[static_cast<std::size_t>(row) + 1];
  while (a < end_a || b < end_b) {
    const Index of_a = a < end_a ? A.block[static_cast<std::size_t>(a)] : -1;
    const Index of_b = b < end_b ? B.block[static_cast<std::size_t>(b)] : -1;
    const bool takes_a = of_b < 0 || (of_a >= 0 && of_a <= of_b);
    const bool takes_b = of_a < 0 || (of_b >= 0 && of_b <= of_a);
    body(takes_a ? of_a : of_b, Sources{takes_a ? a++ : -1, takes_b ? b++ : -1});
  }
}

/// The entries of a leaf by their positions, which grow.
struct LeafEntries {
  std::vector<int> position;
  std::vector<const std::byte*> payload;

  void clear() {
    position.clear();
    payload.clear();
  }
  void read(const NodeView& leaf) {
    const auto* const payloads = reinterpret_cast<const std::byte*>(leaf.payloads());
    leaf.for_each([&](LocalPlace place, int index) {
      position.push_back(leaf.shape.position_of(place));
      payload.push_back(payloads + Offset(index) * leaf.shape.payload_bytes);
    });
  }
  /// The same with rows and columns exchanged, by a counting sort of the columns.
  void read_turned(const NodeView& leaf) {
    std::vector<int> next(static_cast<std::size_t>(leaf.shape.size()) + 1);
    leaf.for_each([&](LocalPlace place, int) { ++next[std::size_t{place.column} + 1]; });
    for (std::size_t column = 1; column < next.size(); ++column) next[column] += next[column - 1];
    position.resize(static_cast<std::size_t>(leaf.count()));
    payload.resize(position.size());
    const auto* const payloads = reinterpret_cast<const std::byte*>(leaf.payloads());
    leaf.for_each([&](LocalPlace place, int index) {
      const auto to = static_cast<std::size_t>(next[place.column]++);
      position[to] = leaf.shape.position_of({place.column, place.row});
      payload[to] = payloads + Offset(index) * leaf.shape.payload_bytes;
    });
  }
};

/// Both leaves of a sum as a thread reads them.
struct LeafPair {
  LeafEntries a, b;

  /// Calls `body(position, payload of a, payload of b)` by rows.
  template <class Body>
  void for_each(const Body& body) const {
    std::size_t i = 0, j = 0;
    while (i < a.position.size() || j < b.position.size()) {
      const bool has_a = i < a.position.size(), has_b = j < b.position.size();
      const bool takes_a = has_a && (!has_b || a.position[i] <= b.position[j]);
      const bool takes_b = has_b && (!has_a || b.position[j] <= a.position[i]);
      const int position = takes_a ? a.position[i] : b.position[j];
      body(position, takes_a ? a.payload[i] : nullptr, takes_b ? b.payload[j] : nullptr);
      i += takes_a;
      j += takes_b;
    }
  }
};

}  // namespace

Tree sum_of_trees(const ScheduledTree& A, const ScheduledTree& B, bool turns_b,
                  const CombineEntries& combine, const Device& device) {
  const Tree &a = A.tree(), &b = B.tree();
  check_fit(a, b, turns_b);
  const LeafSchedule &of_a = A.schedule(false), &of_b = B.schedule(turns_b);
  NodeLevel leaves;
  leaves.rows = of_a.blocks();
  leaves.columns = static_cast<Index>(a.leaf.blocks_of(a.columns));
  leaves.offsets = Array<Offset>(of_a.first.size(), device);
  std::vector<Sources> sources;
  std::vector<Index> column;
  for (Index row = 0; row < leaves.rows; ++row) {
    for_each_block(of_a, of_b, row, [&](Index block, const Sources& from) {
      column.push_back(block);
      sources.push_back(from);
    });
    leaves.offsets[static_cast<std::size_t>(row) + 1] = static_cast<Offset>(column.size());
  }
  leaves.column = Array<Index>(std::span<const Index>(column), device);
  leaves.held = Array<int>(column.size(), device);

  const int team = team_size(device.stream(), a.entries + b.entries);
  const auto for_each_pair = [&](const auto& body) {
    parallel_shares(team, sources.size(), 0, [&](auto&& for_each) {
      LeafPair pair;
      for_each([&](std::size_t leaf) {
        pair.a.clear();
        pair.b.clear();
        const Sources& from = sources[leaf];
        if (from.a >= 0) pair.a.read(a.node(of_a.leaf[static_cast<std::size_t>(from.a)], 0));
        if (from.b >= 0) {
          const NodeView other = b.node(of_b.leaf[static_cast<std::size_t>(from.b)], 0);
          turns_b ? pair.b.read_turned(other) : pair.b.read(other);
        }
        body(leaf, pair);
      });
    });
  };
  for_each_pair([&](std::size_t leaf, const LeafPair& pair) {
    pair.for_each([&](int, const std::byte*, const std::byte*) { ++leaves.held[leaf]; });
  });
  TreeBuilder builder(a.rows, a.columns, a.leaf, std::move(leaves), device);
  for_each_pair([&](std::size_t leaf, const LeafPair& pair) {
    NodeWriter writer = builder.writer(static_cast<Offset>(leaf));
    std::vector<SumTerm> terms;
    pair.for_each([&](int position, const std::byte* from_a, const std::byte* from_b) {
      terms.push_back({from_a, from_b, writer.next(a.leaf.place_at(position))});
    });
    combine(terms);
  });
  return builder.finish();
}

}  // namespace heddle::detail
