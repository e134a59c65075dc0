// Sliced storage for threads that take any entry of any row: where a row and its scalars lie.
#pragma once

#include "heddle/kernels/arguments.hpp"

namespace heddle::device {

// `Layout` below is a struct of constants:
//   scalar (stored), components (K), lanes (C; 0: known at run time), threads (T; 0: by slice),
//   planes (components apart), piece (P: components together), see entries/slots.hpp.

template <class Layout, class S>
HEDDLE_INLINE Offset lanes_in(const Matrix<S>& A) {
  if constexpr (Layout::lanes != 0) return Layout::lanes;
  return A.lanes;
}

/// The place of a stored row.
struct RowPlace {
  Offset first;  // slot of its entry 0
  int threads;   // T
  int length;

  template <class Layout, class S>
  HEDDLE_INLINE Offset slot(const Matrix<S>& A, int entry) const {
    const Offset C = lanes_in<Layout>(A);
    if constexpr (Layout::threads == 1) return first + entry * C;
    const int T = Layout::threads != 0 ? Layout::threads : threads;
    return first + entry / T * C + entry % T;
  }
};

template <class Layout, class S>
HEDDLE_INLINE RowPlace place_of_row(const Matrix<S>& A, Index row) {
  RowPlace place;
  if constexpr (Layout::lanes == 1) {  // CSR
    place.first = A.offset[row];
    place.threads = 1;
    place.length = static_cast<int>(A.offset[row + 1] - place.first);
  } else if constexpr (Layout::threads != 0) {
    constexpr int T = Layout::threads;
    const Index rows_of_slice = static_cast<Index>(lanes_in<Layout>(A)) / T;
    place.first = A.offset[row / rows_of_slice] + Offset(row % rows_of_slice) * T;
    place.threads = T;
    place.length = A.row_length[row];
  } else {
    Index slice = 0, end = A.slices;  // the last slice that begins at or before the row
    while (end - slice > 1) {
      const Index middle = slice + (end - slice) / 2;
      if (A.first_row[middle] <= row) {
        slice = middle;
      } else {
        end = middle;
      }
    }
    place.threads = A.threads[slice];
    place.first = A.offset[slice] + Offset(row - A.first_row[slice]) * place.threads;
    place.length = A.row_length[row];
  }
  return place;
}

/// Index of component k of a slot's entry among the stored scalars.
template <class Layout, class S>
HEDDLE_INLINE Offset scalar_at(const Matrix<S>& A, Offset slot, int k) {
  constexpr int K = Layout::components, P = Layout::piece;
  if constexpr (Layout::planes) {
    return k * A.slots + slot;
  } else if constexpr (P >= K || Layout::lanes == 1) {
    return slot * K + k;
  } else {
    const Offset C = lanes_in<Layout>(A), lane = slot % C;
    const int first = k / P * P, width = K - first < P ? K - first : P;
    return (slot - lane) * K + first * C + lane * width + (k - first);
  }
}

}  // namespace heddle::device
