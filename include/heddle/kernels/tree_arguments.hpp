// What the kernels of trees are given: plain structs that the host fills in.
#pragma once

#include "heddle/kernels/arguments.hpp"
#include "heddle/kernels/tree_node.hpp"

namespace heddle::device {

/// A thread takes some entries of a leaf at once, which lie together: a run of 1, 2 or 4. The last
/// run of a leaf may lack some. This is the longest one for entries of so many bytes.
HEDDLE_HD constexpr int longest_run(int entry_bytes) {
  return entry_bytes <= 8 ? 4 : entry_bytes <= 16 ? 2 : 1;
}

/// A leaf as a product meets it.
struct alignas(16) TreeLeaf {
  /// The address of the node, which leaves four bits: its kind in the lowest two, and above them
  /// the entries that its last run lacks.
  unsigned long long node;
  Index block;   // of x, which it multiplies
  unsigned end;  // runs of sparse leaves of its block of y up to its end, modulo 2^32

  HEDDLE_HD constexpr NodeKind kind() const { return static_cast<NodeKind>(node & 3); }
  HEDDLE_HD constexpr int lacks() const { return static_cast<int>(node >> 2 & 3); }
  HEDDLE_HD constexpr unsigned long long address() const { return node & ~15ULL; }
};

/// Runs and rows of some leaves of one block of y, for one block of threads. A leaf may be cut.
struct alignas(16) TreePiece {
  Offset first;  // leaf
  int leaves;
  Index block;
  unsigned before;        // `end` of the leaf before the first one, 0 where there is none
  unsigned begin, end;    // of its runs, counted as in `TreeLeaf`
  unsigned short top;     // row of the first leaf where the piece begins, if that is dense
  unsigned short bottom;  // row of the last leaf where the piece ends, if that is dense
  int number;             // of the pieces of this block of y
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
  Index columns;      // rows of x
  unsigned blocks;    // of y
};

}  // namespace heddle::device
