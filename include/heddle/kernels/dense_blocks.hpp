// Rules for the diagonal blocks of block Jacobi, on both devices. `ring` scalars per number. A row
// of zeros counts as one of the identity, and a block without inverse as the diagonal of its
// columns' largest numbers. Numbers that mirror each other across the diagonal are conjugates in a
// Hermitian block, equal in a symmetric one.
#pragma once

#include "heddle/entries/annotations.hpp"

namespace heddle::device {

template <class D>
HEDDLE_INLINE D size_of(D value) {
  return value < 0 ? -value : value;
}
template <class D>
HEDDLE_INLINE D sum_of_sizes(const D* number, int ring) {
  D sum = 0;
  for (int p = 0; p < ring; ++p) sum += size_of(number[p]);
  return sum;
}
/// 1 / size; 1 where that leaves the range.
template <class D>
HEDDLE_INLINE D inverse_size(D size) {
  const D inverse = 1 / size;
  return inverse - inverse == 0 ? inverse : D(1);
}
/// Scalar p of a number's mirror image has this sign.
HEDDLE_INLINE int mirrored_sign(int p, bool is_hermitian) { return is_hermitian && p > 0 ? -1 : 1; }

/// True if a, in row i and column j, mirrors b but for `tolerance` of both and of `scale`, the root
/// of the product of the diagonal's sizes in i and j: rows and columns may differ in scale.
template <class D>
HEDDLE_INLINE bool are_mirrored(const D* a, const D* b, int ring, bool is_hermitian, D scale,
                                D tolerance) {
  D defect = 0;
  for (int p = 0; p < ring; ++p) defect += size_of(a[p] - mirrored_sign(p, is_hermitian) * b[p]);
  return defect <= tolerance * (sum_of_sizes(a, ring) + sum_of_sizes(b, ring) + scale);
}

/// Replaces both with their mean. Halves come first: neither may overflow.
template <class D>
HEDDLE_INLINE void mirror(D* a, D* b, int ring, bool is_hermitian) {
  for (int p = 0; p < ring; ++p) {
    const int sign = mirrored_sign(p, is_hermitian);
    const D mean = a[p] / 2 + sign * (b[p] / 2);
    a[p] = mean;
    b[p] = sign * mean;
  }
}

}  // namespace heddle::device
