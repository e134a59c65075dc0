// The search for a row's diagonal entry, shared by the CPU and a GPU's kernel.
#pragma once

#include "heddle/detail/sliced.hpp"
#include "heddle/export.hpp"

namespace heddle::detail {

/// The parts of a pattern that the search reads, in the memory where the pattern lies.
struct HEDDLE_EXPORT DiagonalSearch {
  SlicesView slices;
  const Index* row_length;       // null for C = 1
  const Index* column;           // for each slot
  const Index* target;           // null: rows are stored in the order of the row basis
  const Index* user_row;         // for the row basis; null: it is the user's order
  const Index* column_position;  // for the column basis; null: it is the user's order
  bool same;                     // rows and columns are numbered the same way

  /// The row of y that a stored row yields.
  HEDDLE_INLINE Index row_of(Index stored) const {
    return target != nullptr ? target[stored] : stored;
  }

  /// The slot of the diagonal entry among entries first, first + stride, ... of a stored row; -1 if
  /// it is not among them.
  HEDDLE_INLINE Offset slot_among(Index stored, Index first, Index stride) const {
    const SlicesView::RowPlace place = slices.place_of(stored);
    const Index row = row_of(stored);
    Index wanted = row;
    if (!same) {
      const Index user = user_row != nullptr ? user_row[row] : row;
      wanted = column_position != nullptr ? column_position[user] : user;
    }
    const Index length = row_length != nullptr
                             ? row_length[stored]
                             : static_cast<Index>(slices.offset[stored + 1] - place.offset);
    for (Index j = first; j < length; j += stride) {
      const Offset slot = slot_of(place.offset, slices.C, place.T, place.r, j);
      if (column[slot] == wanted) return slot;
    }
    return -1;
  }
};

/// The search through a pattern, in the memory where the pattern lies. Throws if it is not square.
HEDDLE_EXPORT DiagonalSearch diagonal_search(const SlicedPattern& A);

}  // namespace heddle::detail
