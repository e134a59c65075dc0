#include "tree_pieces.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "heddle/tools/team.hpp"

namespace heddle::cuda {

namespace {

using detail::LeafSchedule;
using detail::Tree;

/// Entries of a leaf, or places of a dense one.
int slots_of(const NodeView& leaf) {
  return leaf.kind == NodeKind::dense ? static_cast<int>(leaf.shape.positions()) : leaf.count();
}

/// A place in the leaves of a block of y: `within` are runs of a sparse leaf, rows of a dense one.
struct Cut {
  Offset leaf;
  unsigned runs;  // of sparse leaves before it
  int within;
};

/// What the pieces of a block of y take of numbers that are counted over all of them.
struct Taken {
  int pieces = 0;
  int places = 0;
  int counters = 0;
};

class PieceCutter {
 public:
  PieceCutter(const Tree& tree, const LeafSchedule& schedule, int entries)
      : tree_(tree), schedule_(schedule), run_(run_of(tree)) {
    // Warps take windows of 32 runs one after the other.
    const bool has_short_runs = run_ < device::longest_run(tree.leaf.payload_bytes);
    work_of_piece_ = has_short_runs ? entries : 2LL * entries;
  }

  Taken taken_by(Index block) const {
    Taken taken;
    cut(block, [&](const Cut&, const Cut&) { ++taken.pieces; });
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
    unsigned end = 0;
    for (Offset i = first_of(block); i < first_of(block + 1); ++i) {
      const auto at = static_cast<std::size_t>(i);
      const NodeReference node = (*schedule_.references)[at];
      const NodeView leaf = view_of(i);
      const int runs = runs_of(leaf);
      const bool is_dense = leaf.kind == NodeKind::dense;
      const int lacks = is_dense ? 0 : runs * run_ - leaf.count();
      if (!is_dense) end += static_cast<unsigned>(runs);
      to.leaves[at] = {pools[static_cast<std::size_t>(node.pool())] +
                           static_cast<unsigned long long>(node.byte()) +
                           static_cast<unsigned long long>(node.kind()) +
                           (static_cast<unsigned long long>(lacks) << 2),
                       schedule_.places->block[at], end};
    }
    int number = 0;
    const int place = taken.pieces > 1 ? before.places : to.places + before.pieces - before.places;
    cut(block, [&](const Cut& begin, const Cut& behind) {
      device::TreePiece& piece = to.pieces[static_cast<std::size_t>(place + number)];
      piece = {.first = begin.leaf,
               .leaves = static_cast<int>(behind.leaf - begin.leaf) + (behind.within > 0 ? 1 : 0),
               .block = block,
               .before = begin.runs,
               .begin = begin.runs,
               .end = behind.runs,
               .top = 0,
               .bottom = static_cast<unsigned short>(tree_.leaf.size()),
               .number = number,
               .pieces = taken.pieces,
               .place = before.places,
               .counter = before.counters};
      if (begin.within > 0) {
        if (is_dense(begin.leaf)) {
          piece.top = static_cast<unsigned short>(begin.within);
        } else {
          piece.begin += static_cast<unsigned>(begin.within);
        }
      }
      if (behind.within > 0) {
        if (is_dense(behind.leaf)) {
          piece.bottom = static_cast<unsigned short>(behind.within);
        } else {
          piece.end += static_cast<unsigned>(behind.within);
        }
      }
      ++number;
    });
  }

 private:
  Offset first_of(Index block) const {
    return schedule_.places->first[static_cast<std::size_t>(block)];
  }
  NodeView view_of(Offset leaf) const {
    return tree_.node((*schedule_.references)[static_cast<std::size_t>(leaf)], 0);
  }
  int runs_of(const NodeView& leaf) const { return (slots_of(leaf) + run_ - 1) / run_; }
  /// In halves of an entry of a sparse leaf: entries of dense ones need no search for those that
  /// belong to one row.
  int work_of_run(const NodeView& leaf) const {
    return leaf.kind == NodeKind::dense ? run_ : 2 * run_;
  }
  bool is_dense(Offset leaf) const { return view_of(leaf).kind == NodeKind::dense; }

  /// The work of each piece of a block of y.
  long long share_of(Index block) const {
    // Two warps take windows of 32 runs in turn.
    const long long step = 64LL * 2 * run_;
    long long all = 0;
    for (Offset i = first_of(block); i < first_of(block + 1); ++i) {
      const NodeView leaf = view_of(i);
      all += static_cast<long long>(runs_of(leaf)) * work_of_run(leaf);
    }
    if (all <= 2 * work_of_piece_) return std::max(all, step);
    const long long pieces = (all + work_of_piece_ / 2) / work_of_piece_;
    return (all / pieces + step - 1) / step * step;
  }

  /// Calls `end_piece(begin, end)` with the pieces of a block of y, which have nearly equal work.
  template <class EndPiece>
  void cut(Index block, const EndPiece& end_piece) const {
    const long long share = share_of(block);
    const Offset end = first_of(block + 1);
    Cut begin{first_of(block), 0, 0};
    unsigned sparse = 0;
    long long free = share;
    for (Offset i = begin.leaf; i < end; ++i) {
      const NodeView leaf = view_of(i);
      const bool dense = leaf.kind == NodeKind::dense;
      // Warps take rows of a dense leaf, several at once if these are short.
      const int runs_of_row = dense ? runs_of(leaf) / leaf.shape.size() : 1;
      const int units = runs_of(leaf) / runs_of_row;
      const int step_of_units = dense ? std::max(1, 64 / runs_of_row) : 1;
      const long long work_of_unit = static_cast<long long>(runs_of_row) * work_of_run(leaf);
      for (int done = 0; done < units;) {
        int taken = units - done;
        if (taken * work_of_unit > free) {
          taken = static_cast<int>(free / work_of_unit) / step_of_units * step_of_units;
          if (taken == 0 && free == share) taken = std::min(step_of_units, units - done);
        }
        done += taken;
        free = std::max(0LL, free - taken * work_of_unit);
        if (done == units) break;
        const Cut behind{i, sparse, done};
        end_piece(begin, behind);
        begin = behind;
        free = share;
      }
      if (!dense) sparse += static_cast<unsigned>(units);
    }
    end_piece(begin, Cut{end, sparse, 0});
  }

  const Tree& tree_;
  const LeafSchedule& schedule_;
  int run_;
  long long work_of_piece_;
};

}  // namespace

int run_of(const Tree& tree) {
  const int longest = device::longest_run(tree.leaf.payload_bytes);
  const Offset blocks = tree.leaf.blocks_of(std::max(tree.rows, tree.columns));
  const Offset leaves = tree.memory.leaves.nodes();
  return 2 * tree.entries < longest * leaves || tree.entries <= 64LL * longest * blocks ? 1
                                                                                        : longest;
}

TreePieces tree_pieces(const Tree& tree, const LeafSchedule& schedule,
                       std::span<const unsigned long long> pools, const Device& device,
                       int entries) {
  const PieceCutter cutter(tree, schedule, entries);
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
