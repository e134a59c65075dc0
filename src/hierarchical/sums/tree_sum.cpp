#include "heddle/detail/trees/tree_sum.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "heddle/detail/trees/tree_sum_again.hpp"
#include "heddle/tools/team.hpp"
#include "walked_pairs.hpp"

namespace heddle::detail {

namespace {

/// The leaves of either tree that make a leaf of the sum; -1 for none.
struct Sources {
  Offset a = -1;
  Offset b = -1;
};

/// Calls `body(block, sources)` for the blocks of a row that either schedule has.
template <class Body>
void for_each_block(const LeafPlaces& A, const LeafPlaces& B, Index row, const Body& body) {
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

/// The entries of a leaf by their positions, which ascend.
struct LeafEntries {
  std::vector<int> position;
  std::vector<const std::byte*> payload;

  /// Reads them with rows and columns exchanged if `transposes`, by a counting sort of the columns.
  /// A null leaf has none.
  void read(const NodeView* leaf, bool transposes) {
    const auto count = leaf == nullptr ? std::size_t{0} : static_cast<std::size_t>(leaf->count());
    position.resize(count);
    payload.resize(count);
    if (count == 0) return;
    const auto* const payloads = reinterpret_cast<const std::byte*>(leaf->payloads());
    const Offset bytes = leaf->shape.payload_bytes;
    std::size_t written = 0;
    if (!transposes) {
      leaf->for_each([&](LocalPlace place, int index) {
        position[written] = leaf->shape.position_of(place);
        payload[written++] = payloads + index * bytes;
      });
      return;
    }
    std::array<int, 257> next{};
    leaf->for_each([&](LocalPlace place, int) { ++next[std::size_t{place.column} + 1]; });
    for (std::size_t column = 1; column < next.size(); ++column) next[column] += next[column - 1];
    leaf->for_each([&](LocalPlace place, int index) {
      const auto to = static_cast<std::size_t>(next[place.column]++);
      position[to] = leaf->shape.position_of({place.column, place.row});
      payload[to] = payloads + index * bytes;
    });
  }
};

/// Two leaves, one of which may be missing, as a thread adds them.
class LeafPair {
 public:
  LeafPair(const NodeShape& shape, bool transposes_b)
      : shape_(shape),
        transposes_b_(transposes_b),
        marked_(static_cast<std::size_t>(shape.positions())) {}

  void take(const NodeView* a, const NodeView* b) {
    a_ = a;
    b_ = b;
  }
  /// The leaf of a if b has none.
  const NodeView* only_a() const { return b_ == nullptr ? a_ : nullptr; }
  /// Number of entries that either has.
  int count() {
    if (a_ == nullptr || b_ == nullptr) return (a_ != nullptr ? a_ : b_)->count();
    const auto mark = [&](char with) {
      a_->for_each([&](LocalPlace place, int) {
        marked_[static_cast<std::size_t>(shape_.position_of(place))] = with;
      });
    };
    mark(1);
    int in_both = 0;
    b_->for_each([&](LocalPlace place, int) {
      if (transposes_b_) place = {place.column, place.row};
      in_both += marked_[static_cast<std::size_t>(shape_.position_of(place))];
    });
    mark(0);
    return a_->count() + b_->count() - in_both;
  }
  /// The terms of the sum, whose entries `writer` places.
  std::span<const SumTerm> terms(NodeWriter& writer) {
    of_a_.read(a_, false);
    of_b_.read(b_, transposes_b_);
    const std::size_t end_a = of_a_.position.size(), end_b = of_b_.position.size();
    terms_.resize(end_a + end_b);
    std::size_t i = 0, j = 0, count = 0;
    const auto add = [&](int position, const std::byte* a, const std::byte* b) {
      terms_[count++] = {a, b, writer.next(shape_.place_at(position))};
    };
    while (i < end_a && j < end_b) {
      const int in_a = of_a_.position[i], in_b = of_b_.position[j];
      const bool takes_a = in_a <= in_b, takes_b = in_b <= in_a;
      add(takes_a ? in_a : in_b, takes_a ? of_a_.payload[i] : nullptr,
          takes_b ? of_b_.payload[j] : nullptr);
      i += takes_a;
      j += takes_b;
    }
    for (; i < end_a; ++i) add(of_a_.position[i], of_a_.payload[i], nullptr);
    for (; j < end_b; ++j) add(of_b_.position[j], nullptr, of_b_.payload[j]);
    return {terms_.data(), count};
  }

 private:
  NodeShape shape_;
  bool transposes_b_;
  const NodeView* a_ = nullptr;
  const NodeView* b_ = nullptr;
  LeafEntries of_a_, of_b_;
  std::vector<SumTerm> terms_;
  std::vector<char> marked_;  // positions of a
};

/// The leaves of the sum by both schedules, without the numbers of their entries, and where each
/// comes from.
PairedLeaves kept_pairs(const ScheduledTree& A, const ScheduledTree& B, bool transposes_b,
                        const Device& device) {
  const Tree &a = A.tree(), &b = B.tree();
  const LeafSchedule &of_a = A.schedule(false), &of_b = B.schedule(transposes_b);
  PairedLeaves pairs;
  NodeLevel& leaves = pairs.leaves;
  leaves.rows = of_a.blocks();
  leaves.columns = static_cast<Index>(a.leaf.blocks_of(a.columns));
  leaves.offsets = Array<Offset>(of_a.places->first.size(), device);
  const int team = team_size(
      device.stream(), static_cast<Offset>(of_a.references->size() + of_b.references->size()) * 4);
  parallel_for(team, leaves.rows, [&](Index row) {
    Offset count = 0;
    for_each_block(*of_a.places, *of_b.places, row, [&](Index, const Sources&) { ++count; });
    leaves.offsets[static_cast<std::size_t>(row) + 1] = count;
  });
  for (std::size_t row = 1; row < leaves.offsets.size(); ++row) {
    leaves.offsets[row] += leaves.offsets[row - 1];
  }
  const auto count =
      static_cast<std::size_t>(leaves.offsets[static_cast<std::size_t>(leaves.rows)]);
  leaves.column = Array<Index>(count, device);
  leaves.held = Array<int>(count, device);
  pairs.sources.resize(count);
  const auto source = [](const Tree& tree, const LeafSchedule& schedule, Offset i) {
    if (i < 0) return 0ULL;
    const NodeView leaf = tree.node((*schedule.references)[static_cast<std::size_t>(i)], 0);
    return reinterpret_cast<unsigned long long>(leaf.data) |
           static_cast<unsigned long long>(leaf.kind);
  };
  parallel_for(team, leaves.rows, [&](Index row) {
    auto to = static_cast<std::size_t>(leaves.offsets[static_cast<std::size_t>(row)]);
    for_each_block(*of_a.places, *of_b.places, row, [&](Index block, const Sources& from) {
      leaves.column[to] = block;
      pairs.sources[to++] = {source(a, of_a, from.a), source(b, of_b, from.b)};
    });
  });
  return pairs;
}

NodeView leaf_at(unsigned long long source, const NodeShape& shape) {
  const device::TreeLeaf leaf{source, 0, 0};
  // NOLINTNEXTLINE(performance-no-int-to-ptr): sources are numbers that records carry
  return {reinterpret_cast<const unsigned char*>(leaf.address()), leaf.kind(), shape};
}

}  // namespace

void check_sum(const Tree& a, const Tree& b, bool transposes_b) {
  const Index rows = transposes_b ? b.columns : b.rows, columns = transposes_b ? b.rows : b.columns;
  if (a.rows != rows || a.columns != columns) {
    throw Error(ErrorKind::size_mismatch,
                "cannot add " + std::to_string(a.rows) + " x " + std::to_string(a.columns) +
                    " and " + std::to_string(rows) + " x " + std::to_string(columns) + " entries" +
                    (transposes_b ? ", the latter transposed" : ""));
  }
  if (a.leaf.log2_size != b.leaf.log2_size) {
    throw Error(ErrorKind::usage,
                "cannot add trees with nodes of " + std::to_string(a.leaf.size()) + " and " +
                    std::to_string(b.leaf.size()) + " rows: give both the same node size");
  }
}

Tree sum_of_trees(const ScheduledTree& A, const ScheduledTree& B, bool transposes_b,
                  const CombineEntries& combine, const Device& device, SumSchedule schedule) {
  const Tree &a = A.tree(), &b = B.tree();
  auto [leaves, sources] = schedule == SumSchedule::tree ? walked_pairs(a, b, transposes_b, device)
                                                         : kept_pairs(A, B, transposes_b, device);
  const int team = team_size(device.stream(), a.entries + b.entries);
  const auto for_each_pair = [&, &from = sources](const auto& body) {
    // Leaves of B* are scattered in memory.
    const auto ask_for = [&](std::size_t leaf) {
      constexpr std::size_t ahead = 8;
      const unsigned long long in_b = from[std::min(leaf + ahead, from.size() - 1)].b;
      if (in_b == 0) return;
      const unsigned char* const soon = leaf_at(in_b, b.leaf).data;
      __builtin_prefetch(soon);
      __builtin_prefetch(soon + 64);
    };
    parallel_shares(team, from.size(), 0, [&](auto&& for_each) {
      LeafPair pair(a.leaf, transposes_b);
      for_each([&](std::size_t leaf) {
        if (transposes_b) ask_for(leaf);
        const auto [in_a, in_b] = from[leaf];
        const NodeView view_a = leaf_at(in_a, a.leaf), view_b = leaf_at(in_b, b.leaf);
        pair.take(in_a != 0 ? &view_a : nullptr, in_b != 0 ? &view_b : nullptr);
        body(leaf, pair);
      });
    });
  };
  if (schedule == SumSchedule::kept) {
    for_each_pair(
        [&held = leaves.held](std::size_t leaf, LeafPair& pair) { held[leaf] = pair.count(); });
  }
  TreeBuilder builder(a.rows, a.columns, a.leaf, std::move(leaves), device);
  for_each_pair([&](std::size_t leaf, LeafPair& pair) {
    NodeWriter writer = builder.writer(static_cast<Offset>(leaf));
    combine(pair.terms(writer));
  });
  return builder.finish();
}

bool write_sum_again(const ScheduledTree& C, const ScheduledTree& A, const ScheduledTree& B,
                     bool is_known, const CombineEntries& combine, Pool& to, const Device& device) {
  const Tree &c = C.tree(), &a = A.tree(), &b = B.tree();
  check_sum(a, b, false);
  const LeafSchedule &of_c = C.schedule(false), &of_a = A.schedule(false),
                     &of_b = B.schedule(false);
  const int team = team_size(device.stream(), a.entries + b.entries);
  std::atomic<bool> fits = true;
  const auto for_each_pair = [&](const auto& body) {
    parallel_shares(team, of_c.blocks(), 0, [&](auto&& for_each) {
      LeafPair pair(a.leaf, false);
      for_each([&](Index row) {
        Offset at = of_c.places->first[static_cast<std::size_t>(row)];
        const Offset end = of_c.places->first[static_cast<std::size_t>(row) + 1];
        for_each_block(*of_a.places, *of_b.places, row, [&](Index block, const Sources& from) {
          if (at == end || of_c.places->block[static_cast<std::size_t>(at)] != block) {
            fits = false;
            return;
          }
          NodeView view_a{}, view_b{};
          if (from.a >= 0) view_a = a.node((*of_a.references)[static_cast<std::size_t>(from.a)], 0);
          if (from.b >= 0) view_b = b.node((*of_b.references)[static_cast<std::size_t>(from.b)], 0);
          pair.take(from.a >= 0 ? &view_a : nullptr, from.b >= 0 ? &view_b : nullptr);
          body((*of_c.references)[static_cast<std::size_t>(at++)], pair);
        });
        if (at != end) fits = false;
      });
    });
  };
  if (!is_known) {
    for_each_pair([&](NodeReference node, LeafPair& pair) {
      if (pair.count() != c.node(node, 0).count()) fits = false;
    });
    if (!fits) return false;
  }
  for_each_pair([&](NodeReference node, LeafPair& pair) {
    std::byte* const leaf = to.data() + node.byte();
    if (const NodeView* const whole = pair.only_a()) {
      std::memcpy(leaf, whole->data, static_cast<std::size_t>(whole->bytes()));
      return;
    }
    NodeWriter writer(leaf, c.leaf, c.node(node, 0).count());
    combine(pair.terms(writer));
  });
  return true;
}

}  // namespace heddle::detail
