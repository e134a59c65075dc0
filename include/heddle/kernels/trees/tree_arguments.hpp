// Arguments of the kernels of trees: plain structs that the host fills in.
#pragma once

#include "heddle/kernels/arguments.hpp"
#include "heddle/kernels/trees/tree_node.hpp"

namespace heddle::device {

/// The longest run for entries of `entry_bytes` bytes. A thread takes a run of 1, 2 or 4 adjacent
/// entries of a leaf at once; the last run of a leaf may lack some.
HEDDLE_HD constexpr int longest_run(int entry_bytes) {
  return entry_bytes <= 8 ? 4 : entry_bytes <= 16 ? 2 : 1;
}

/// A leaf in the form that a product uses.
struct alignas(16) TreeLeaf {
  /// The address of the node, which leaves four bits free: its kind is in the lowest two, and above
  /// them the number of entries that its last run lacks.
  unsigned long long node;
  Index block;   // block of x that the leaf multiplies
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
  unsigned begin, end;    // range of its runs, counted as in `TreeLeaf`
  unsigned short top;     // row of the first leaf where the piece begins, if that is dense
  unsigned short bottom;  // row of the last leaf where the piece ends, if that is dense
  int number;             // its number among the pieces of this block of y
  int pieces;
  int place;    // room for the partial sums of the first of them; a piece that is alone has none
  int counter;  // the first of `counters_of_pieces`
};

/// Number of pieces in a group. The block of threads that finishes last within a group adds the
/// sums of its pieces, and the one that finishes last of all groups adds the sums of the groups.
inline constexpr int pieces_of_group = 16;
HEDDLE_HD constexpr int groups_of_pieces(int pieces) {
  return (pieces + pieces_of_group - 1) / pieces_of_group;
}
/// Number of counters of a block of y with several pieces: one of its groups, and one of the pieces
/// of each group.
HEDDLE_HD constexpr int counters_of_pieces(int pieces) { return 1 + groups_of_pieces(pieces); }

/// M: scalars of fields, T: those of the sums of a row.
template <class M, class T>
struct TreeArguments {
  const TreeLeaf* leaves;
  const TreePiece* pieces;
  const M* x;
  M* y;
  const M* with;              // operand of the epilogue
  Offset y_component_stride;  // not used: fields are AoS
  T alpha, beta;
  SumSpace sums;
  double* results;    // where the sums of the epilogue go
  T* partials;        // sums for blocks of y that have several pieces
  unsigned* arrived;  // counters of those blocks; zero between launches
  Index rows;         // rows of y
  Index columns;      // rows of x
  unsigned blocks;    // blocks of y
};

}  // namespace heddle::device
