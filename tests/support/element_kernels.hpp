// Assembly kernels and a pass, as in a user's header that the compilers of both the host and a GPU
// read: it includes only headers of heddle/entries/.
#pragma once

#include "heddle/entries/block.hpp"
#include "heddle/entries/entry_place.hpp"

namespace heddle::test {

/// Component k of the entry (a, b) or of the vector (a, -1) of element e: numbers whose sums round.
template <class S>
HEDDLE_INLINE S element_number(Offset e, int a, int b, int k) {
  const Offset number = (e * 7919 + a * 104729 + b * 1299709 + k * 15485863) % 2017;
  return static_cast<S>(number - 900) / static_cast<S>(509);
}

/// The same numbers from a kernel, which writes no element's matrix.
template <class E>
struct NumbersKernel {
  template <class T, class S>
  HEDDLE_INLINE static T numbers(Offset e, int a, int b) {
    T value;
    for (int k = 0; k < T::components; ++k) value.component[k] = element_number<S>(e, a, b, k);
    return value;
  }
  HEDDLE_INLINE E entry(Offset e, int a, int b) const {
    return numbers<E, stored_scalar_t<E>>(e, a, b);
  }
  HEDDLE_INLINE result_entry_t<E> vector(Offset e, int a) const {
    return numbers<result_entry_t<E>, typename result_entry_t<E>::scalar>(e, a, -1);
  }
};

/// Reports where an entry and a row are; its sums have another type than the stored scalars. It
/// reads the weight of each element.
struct PlacesKernel {
  struct Count {
    int terms;
    friend HEDDLE_INLINE Count add(const Count& a, const Count& b) { return {a.terms + b.terms}; }
  };
  const int* weight;

  HEDDLE_INLINE Count entry(Offset e, int, int) const { return {weight[e]}; }
  HEDDLE_INLINE Count vector(Offset e, int) const { return {weight[e]}; }
  HEDDLE_INLINE block<double, 3, 3> finish(const Count& sum, const EntryPlace& at) const {
    return {{double(sum.terms), double(at.slot), double(at.row), double(at.column)}};
  }
  HEDDLE_INLINE small_vector<double, 3> finish(const Count& sum, Index row) const {
    return {{double(sum.terms), double(row), 0}};
  }
};

/// A pass.
struct AddNumber {
  Offset count;
  Offset* number;

  HEDDLE_INLINE void operator()(Offset i) const { number[i] += i; }
};

}  // namespace heddle::test
