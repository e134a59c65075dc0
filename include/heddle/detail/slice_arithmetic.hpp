// How rows are cut into slices and where an entry lies: the index arithmetic shared by every
// builder of sliced storage and every kernel over it.
#pragma once

#include "heddle/entries/slots.hpp"
#include "heddle/export.hpp"

namespace heddle {

/// K2 (Wong et al. 2015, section 5.4): threads that share each of C rows whose longest holds
/// `longest` entries. They double until none holds more than `threshold`, while a row stays within
/// C lanes and the 32 threads of a warp.
HEDDLE_INLINE int threads_of_block(Index longest, Index C, Index threshold) {
  constexpr int warp = 32;
  int T = 1;
  while (C % (2 * T) == 0 && 2 * T <= warp && longest / T + (longest % T != 0) > threshold) T *= 2;
  return T;
}

/// Number of slices of C lanes for `rows` rows, T lanes each.
HEDDLE_INLINE Index slices_of_rows(Index rows, Index C, int T) {
  const Index rows_of_slice = C / T;
  return rows / rows_of_slice + (rows % rows_of_slice != 0);
}

/// Steps that a row of `length` entries takes on T lanes.
HEDDLE_INLINE Index steps_of_row(Index length, int T) { return length / T + (length % T != 0); }

/// The slot of entry j of a slice's r-th row.
HEDDLE_INLINE Offset slot_of(Offset slice_offset, Index C, int T, Index r, Index j) {
  return slice_offset + Offset(j / T) * C + Offset(r) * T + j % T;
}

/// The last of `count` ascending values that is not above `value`; the first one is not.
template <class T>
HEDDLE_INLINE Index last_not_above(const T* values, Index count, T value) {
  Index begin = 0, end = count;
  while (end - begin > 1) {
    const Index middle = begin + (end - begin) / 2;
    if (values[middle] <= value) {
      begin = middle;
    } else {
      end = middle;
    }
  }
  return begin;
}

/// The slices of a pattern as a kernel reads them: pointers into a SlicedPattern's arrays.
struct HEDDLE_EXPORT SlicesView {
  Index C;
  int T;  // where it is the same for all slices
  Index slices;
  const Offset* offset;          // slices + 1
  const Index* first_row;        // null where T is the same for all
  const unsigned char* threads;  // likewise

  /// A stored row's place: its slice's first slot and threads, and its number within the slice.
  struct RowPlace {
    Offset offset;
    int T;
    Index r;
  };
  HEDDLE_INLINE Index slice_of(Index stored_row) const {
    return first_row == nullptr ? stored_row / (C / T)
                                : last_not_above(first_row, slices, stored_row);
  }
  HEDDLE_INLINE RowPlace place_of(Index stored_row) const {
    if (first_row == nullptr) {
      const Index rows_of_slice = C / T;
      return {offset[stored_row / rows_of_slice], T, stored_row % rows_of_slice};
    }
    const Index slice = last_not_above(first_row, slices, stored_row);
    return {offset[slice], threads[slice], stored_row - first_row[slice]};
  }
};

}  // namespace heddle
