#include "tree_pieces.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <vector>

#include "heddle/tools/team.hpp"

namespace heddle::cuda {

namespace {

using detail::LeafSchedule;
using detail::Tree;

int slots_of(const NodeView& leaf) {
  return leaf.kind == NodeKind::dense ? static_cast<int>(leaf.shape.positions()) : leaf.count();
}

/// What the pieces of a block of y take of numbers that are counted over all of them.
struct Taken {
  int pieces = 0;
  int places = 0;
  int counters = 0;
};

class PieceCutter {
 public:
  PieceCutter(const Tree& tree, const LeafSchedule& schedule, long long most_bytes)
      : tree_(tree), schedule_(schedule), most_bytes_(most_bytes) {}

  Taken taken_by(Index block) const {
    Taken taken;
    cut(block, [&](Offset, Offset) { ++taken.pieces; });
    if (taken.pieces > 1) {
      taken.places = taken.pieces;
      taken.counters = device::counters_of_pieces(taken.pieces);
    }
    return taken;
  }

  /// Fills in what `before` and `taken` tell of. The pieces of long blocks of y come first, since
  /// they have to be joined when all are done.
  void write(Index block, const Taken& before, const Taken& taken,
             std::span<const unsigned long long> pools, TreePieces& to) const {
    int number = 0;
    const int place = taken.pieces > 1 ? before.places : to.places + before.pieces - before.places;
    cut(block, [&](Offset first, Offset end) {
      int slots = 0;
      for (Offset i = first; i < end; ++i) {
        const auto at = static_cast<std::size_t>(i);
        const NodeReference node = (*schedule_.references)[at];
        const NodeView leaf = view_of(i);
        slots += slots_of(leaf);
        to.leaves[at] = {pools[static_cast<std::size_t>(node.pool())] +
                             static_cast<unsigned long long>(node.byte()) +
                             static_cast<unsigned long long>(node.kind()),
                         schedule_.places->block[at], slots};
      }
      to.pieces[static_cast<std::size_t>(place + number)] = {
          first,          static_cast<int>(end - first), block, number, taken.pieces, before.places,
          before.counters};
      ++number;
    });
  }

 private:
  NodeView view_of(Offset leaf) const {
    return tree_.node((*schedule_.references)[static_cast<std::size_t>(leaf)], 0);
  }

  /// A warp's windows wait for memory one after the other.
  static constexpr int most_slots = 1024;

  /// Calls `end_piece(first, end)` with the pieces of a block of y.
  template <class EndPiece>
  void cut(Index block, const EndPiece& end_piece) const {
    Offset first = schedule_.places->first[static_cast<std::size_t>(block)];
    const Offset end = schedule_.places->first[static_cast<std::size_t>(block) + 1];
    if (first == end) return end_piece(first, end);
    long long bytes = 0;
    int slots = 0;
    for (Offset i = first; i < end; ++i) {
      const NodeView leaf = view_of(i);
      slots += slots_of(leaf);
      bytes +=
          static_cast<long long>(leaf.bytes()) + static_cast<long long>(sizeof(device::TreeLeaf));
      if (bytes < most_bytes_ && slots < most_slots && i + 1 < end) continue;
      end_piece(first, i + 1);
      first = i + 1;
      bytes = 0;
      slots = 0;
    }
  }

  const Tree& tree_;
  const LeafSchedule& schedule_;
  long long most_bytes_;
};

}  // namespace

long long bytes_of_piece(const Tree& tree) {
  constexpr long long least = 1 << 14, most = 1 << 16, pieces = 2048;
  const long long bytes = std::clamp(tree.memory.leaves.bytes / pieces, least, most);
  return static_cast<long long>(std::bit_floor(static_cast<unsigned long long>(bytes)));
}

TreePieces tree_pieces(const Tree& tree, const LeafSchedule& schedule,
                       std::span<const unsigned long long> pools, long long most_bytes,
                       const Device& device) {
  const PieceCutter cutter(tree, schedule, most_bytes);
  const int team = team_size(device.stream(), tree.entries);
  const Index blocks = schedule.blocks();
  std::vector<Taken> taken(static_cast<std::size_t>(blocks));
  parallel_for(team, blocks, [&](Index block) {
    taken[static_cast<std::size_t>(block)] = cutter.taken_by(block);
  });
  std::vector<Taken> before(static_cast<std::size_t>(blocks) + 1);
  for (std::size_t block = 0; block < taken.size(); ++block) {
    const Taken &all = before[block], &more = taken[block];
    before[block + 1] = {all.pieces + more.pieces, all.places + more.places,
                         all.counters + more.counters};
  }
  const Taken& all = before.back();
  TreePieces cut{Array<device::TreeLeaf>(schedule.references->size(), device),
                 Array<device::TreePiece>(static_cast<std::size_t>(all.pieces), device), all.places,
                 all.counters};
  parallel_for(team, blocks, [&](Index block) {
    const auto at = static_cast<std::size_t>(block);
    cutter.write(block, before[at], taken[at], pools, cut);
  });
  return cut;
}

}  // namespace heddle::cuda
