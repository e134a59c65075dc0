// What the kernels of trees are given: plain structs that the host fills in.
#pragma once

#include "heddle/kernels/arguments.hpp"
#include "heddle/kernels/tree_node.hpp"

namespace heddle::device {

/// A leaf as a product meets it: the address of its node, which leaves the low bits to its kind,
/// the block of x that it multiplies, and how many slots there are up to its end in its piece. A
/// dense leaf has a slot for each position, any other one for each entry.
struct alignas(16) TreeLeaf {
  unsigned long long node;
  Index block;
  int end;
};

/// Some leaves of one block of y, for one block of threads.
struct alignas(16) TreePiece {
  Offset first;  // leaf
  int leaves;
  Index block;
  int number;  // of the pieces of this block of y
  int pieces;
  int place;    // where partial sums have room for the first of them; it has no room if it is alone
  int counter;  // the first of `counters_of_pieces`
};

/// Sums of so many pieces are added by the block of threads that is done last with one of them, and
/// those of all such groups by the one that is last of these.
inline constexpr int pieces_of_group = 16;
HEDDLE_HD constexpr int groups_of_pieces(int pieces) {
  return (pieces + pieces_of_group - 1) / pieces_of_group;
}
/// Counters of a block of y that has several pieces: of its groups, and of the pieces of each.
HEDDLE_HD constexpr int counters_of_pieces(int pieces) { return 1 + groups_of_pieces(pieces); }

/// M: scalars of fields, T: those of the sums of a row.
template <class M, class T>
struct TreeArguments {
  const TreeLeaf* leaves;
  const TreePiece* pieces;
  const M* x;
  M* y;
  const M* with;              // of the epilogue
  Offset y_component_stride;  // not used: fields are AoS
  T alpha, beta;
  SumSpace sums;
  double* results;    // where the sums of the epilogue go
  T* partials;        // of blocks of y that have several pieces
  unsigned* arrived;  // counters of these; zero between launches
  Index rows;         // of y
  unsigned blocks;    // of y
};

}  // namespace heddle::device
