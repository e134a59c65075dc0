// A schedule cut into pieces for blocks of a GPU's threads. Needs no GPU.
#pragma once

#include <span>

#include "heddle/array.hpp"
#include "heddle/detail/leaf_schedule.hpp"
#include "heddle/kernels/tree_arguments.hpp"

namespace heddle::cuda {

struct TreePieces {
  Array<device::TreeLeaf> leaves;   // in the order of the schedule
  Array<device::TreePiece> pieces;  // every block of y has one or more; those with more come first
  int places = 0;                   // for partial sums of blocks of y that have several pieces
  int counters = 0;                 // of such blocks, see `counters_of_pieces`
};

/// The bytes of leaves after which a piece of this tree ends: so many that a GPU has work for all
/// of its multiprocessors, and few enough that none is left with a long one. It depends on the
/// tree alone, so that every GPU adds in the same order, and is a power of two, so that few edits
/// change it.
long long bytes_of_piece(const detail::Tree& tree);

/// `pools`: addresses of the tree's pools, where device code reads the leaves. A piece ends behind
/// the leaf with which it comes to `most_bytes`.
TreePieces tree_pieces(const detail::Tree& tree, const detail::LeafSchedule& schedule,
                       std::span<const unsigned long long> pools, long long most_bytes,
                       const Device& device);

}  // namespace heddle::cuda
