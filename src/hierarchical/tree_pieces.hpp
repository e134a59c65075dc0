// A schedule cut into pieces for blocks of a GPU's threads. Needs no GPU.
#pragma once

#include <optional>

#include "heddle/array.hpp"
#include "heddle/detail/trees/leaf_schedule.hpp"
#include "heddle/kernels/trees/tree_arguments.hpp"

namespace heddle::cuda {

struct TreePieces {
  Array<device::TreeLeaf> leaves;   // in the order of the schedule
  Array<device::TreePiece> pieces;  // every block of y has one or more; those with more come first
  int places = 0;                   // for partial sums of blocks of y that have several pieces
  int counters = 0;                 // for such blocks, see `counters_of_pieces`
};

/// Entries of a run in products of this tree, if its launch leaves that open: one, so that more
/// warps run side by side, if leaves have few or blocks of y have no more than two warps' windows.
/// It depends on the tree alone, so that every GPU adds in the same order.
int run_of(const detail::Tree& tree);

/// Entries that a piece should have: a GPU has work for all of its multiprocessors, and none is
/// left with a long piece. Nodes of few rows have more blocks of y, and shorter pieces suit them.
HEDDLE_INLINE constexpr int entries_of_piece(const NodeShape& leaf) {
  return leaf.size() <= 64 ? 512 : 1024;
}
/// Same, unless the tree's launch says otherwise.
inline int entries_of_piece(const detail::Tree& tree) {
  return tree.launch.piece > 0 ? tree.launch.piece : entries_of_piece(tree.leaf);
}

/// The pieces of a tree in host memory, like those that `schedule_on_gpu` makes for one in a GPU's.
/// A block of y with more than twice `entries`, by default `entries_of_piece`, is cut into nearly
/// equal pieces of about as many, also within leaves. An entry of a dense leaf counts as half of
/// one, and an entry of a tree with short runs as two.
TreePieces tree_pieces(const detail::Tree& tree, const detail::LeafSchedule& schedule,
                       const Device& device, const std::optional<int>& entries = {});

}  // namespace heddle::cuda
