// How a schedule is cut into pieces for blocks of a GPU's threads: arithmetic over its leaves,
// shared by CPU and GPU.
#pragma once

#include "heddle/kernels/trees/tree_arguments.hpp"

namespace heddle::cuda {

/// The share of a block of y's pieces in numbers that are counted over all pieces.
struct Taken {
  int pieces = 0;
  int places = 0;    // for partial sums, if there are several pieces
  int counters = 0;  // for these
};

class PieceCutter {
 public:
  /// `leaves` are complete, those of block b of y from first[b] on. `run`: entries in a run.
  HEDDLE_INLINE PieceCutter(const device::TreeLeaf* leaves, const Offset* first,
                            const NodeShape& leaf, int run, int entries)
      : leaves_(leaves), first_(first), shape_(leaf), run_(run) {
    // Warps take windows of 32 runs one after another.
    const bool has_short_runs = run_ < device::longest_run(leaf.payload_bytes);
    work_of_piece_ = has_short_runs ? entries : 2LL * entries;
  }

  HEDDLE_INLINE Taken taken_by(Index block) const {
    Taken taken;
    cut(block, [&](const Cut&, const Cut&) { ++taken.pieces; });
    if (taken.pieces > 1) {
      taken.places = taken.pieces;
      taken.counters = device::counters_of_pieces(taken.pieces);
    }
    return taken;
  }

  /// Writes the pieces of a block of y; earlier blocks have taken `before`, and all blocks have
  /// `places` places. Pieces of long blocks of y come first, since they have to be joined when all
  /// are done.
  HEDDLE_INLINE void write(Index block, const Taken& before, const Taken& taken, int places,
                           device::TreePiece* to) const {
    const int place = taken.pieces > 1 ? before.places : places + before.pieces - before.places;
    int number = 0;
    cut(block, [&](const Cut& begin, const Cut& end) {
      device::TreePiece piece{};
      piece.first = begin.leaf;
      piece.leaves = static_cast<int>(end.leaf - begin.leaf) + (end.within > 0 ? 1 : 0);
      piece.block = block;
      piece.before = piece.begin = begin.runs;
      piece.end = end.runs;
      piece.bottom = static_cast<unsigned short>(shape_.size());
      piece.number = number;
      piece.pieces = taken.pieces;
      piece.place = before.places;
      piece.counter = before.counters;
      if (begin.within > 0) {
        if (is_dense(begin.leaf)) {
          piece.top = static_cast<unsigned short>(begin.within);
        } else {
          piece.begin += static_cast<unsigned>(begin.within);
        }
      }
      if (end.within > 0) {
        if (is_dense(end.leaf)) {
          piece.bottom = static_cast<unsigned short>(end.within);
        } else {
          piece.end += static_cast<unsigned>(end.within);
        }
      }
      to[place + number] = piece;
      ++number;
    });
  }

 private:
  /// A place in the leaves of a block of y: `within` counts runs of a sparse leaf, rows of a dense
  /// one.
  struct Cut {
    Offset leaf;
    unsigned runs;  // in sparse leaves before it
    int within;
  };

  HEDDLE_INLINE bool is_dense(Offset leaf) const { return leaves_[leaf].kind() == NodeKind::dense; }
  /// `before`: `end` of the leaf before it in its block of y, or 0.
  HEDDLE_INLINE int runs_of(Offset leaf, unsigned before) const {
    if (!is_dense(leaf)) return static_cast<int>(leaves_[leaf].end - before);
    return (static_cast<int>(shape_.positions()) + run_ - 1) / run_;
  }
  /// Work in halves of an entry of a sparse leaf: entries of dense ones need no search for those
  /// that belong to one row.
  HEDDLE_INLINE int work_of_run(Offset leaf) const { return is_dense(leaf) ? run_ : 2 * run_; }

  /// The work of each piece of a block of y.
  HEDDLE_INLINE long long share_of(Index block) const {
    // Two warps take windows of 32 runs in turn.
    const long long step = 64LL * 2 * run_;
    long long all = 0;
    unsigned before = 0;
    for (Offset i = first_[block]; i < first_[block + 1]; ++i) {
      all += static_cast<long long>(runs_of(i, before)) * work_of_run(i);
      before = leaves_[i].end;
    }
    if (all <= 2 * work_of_piece_) return all > step ? all : step;
    const long long pieces = (all + work_of_piece_ / 2) / work_of_piece_;
    return (all / pieces + step - 1) / step * step;
  }

  /// Calls `end_piece(begin, end)` for the pieces of a block of y, which have nearly equal work.
  template <class EndPiece>
  HEDDLE_INLINE void cut(Index block, const EndPiece& end_piece) const {
    const long long share = share_of(block);
    const Offset end = first_[block + 1];
    Cut begin{first_[block], 0, 0};
    unsigned sparse = 0;
    long long free = share;
    for (Offset i = begin.leaf; i < end; ++i) {
      const bool dense = is_dense(i);
      const int runs = runs_of(i, sparse);
      // Warps take rows of a dense leaf, several at once if these are short.
      const int runs_of_row = dense ? runs / shape_.size() : 1;
      const int units = runs / runs_of_row;
      const int rows_at_once = 64 / runs_of_row > 1 ? 64 / runs_of_row : 1;
      const int step_of_units = dense ? rows_at_once : 1;
      const long long work_of_unit = static_cast<long long>(runs_of_row) * work_of_run(i);
      for (int done = 0; done < units;) {
        const int left = units - done;
        int taken = left;
        if (taken * work_of_unit > free) {
          taken = static_cast<int>(free / work_of_unit) / step_of_units * step_of_units;
          if (taken == 0 && free == share) taken = step_of_units < left ? step_of_units : left;
        }
        done += taken;
        free = free > taken * work_of_unit ? free - taken * work_of_unit : 0;
        if (done == units) break;
        const Cut cut_end{i, sparse, done};
        end_piece(begin, cut_end);
        begin = cut_end;
        free = share;
      }
      if (!dense) sparse += static_cast<unsigned>(units);
    }
    end_piece(begin, Cut{end, sparse, 0});
  }

  const device::TreeLeaf* leaves_;
  const Offset* first_;
  NodeShape shape_;
  int run_;
  long long work_of_piece_;
};

/// Number of runs for these entries; a run is one entry in trees with few entries, see `run_of`.
HEDDLE_INLINE constexpr int runs_of_entries(int entries, int run) {
  return (entries + run - 1) / run;
}

/// A leaf at an address, with `sparse` runs of its block of y before it.
HEDDLE_INLINE device::TreeLeaf scheduled_leaf(const NodeView& leaf, Index block, unsigned sparse,
                                              int run) {
  const auto address = reinterpret_cast<unsigned long long>(leaf.data);
  const auto kind = static_cast<unsigned long long>(leaf.kind);
  if (leaf.kind == NodeKind::dense) return {address | kind, block, sparse};
  const int runs = runs_of_entries(leaf.count(), run);
  const auto lacks = static_cast<unsigned long long>(runs * run - leaf.count());
  return {address | kind | lacks << 2, block, sparse + static_cast<unsigned>(runs)};
}

}  // namespace heddle::cuda
