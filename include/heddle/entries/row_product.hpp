// The product of one row, or of one thread's share of it, with a field: the loop that every layout,
// entry and backend runs.
#pragma once

#include "heddle/entries/slots.hpp"

namespace heddle {

/// A backend's work ahead of each entry: a CPU prefetches, a GPU thread has nothing to do.
struct NothingAhead {
  HEDDLE_INLINE void operator()(Offset) const {}
};

/// A result as its own sum, for entries that state no other.
template <class V>
struct DirectSum {
  V value;
};
template <class V, class A, class X>
HEDDLE_INLINE void multiply_add(DirectSum<V>& sum, const A& a, const X& x) {
  multiply_add(sum.value, a, x);
}
template <class V>
HEDDLE_INLINE V result_of(const DirectSum<V>& sum) {
  return sum.value;
}

namespace detail {

template <class A>
struct row_sum_of {
  using type = DirectSum<typename result_entry_of<A>::type>;
};
template <class A>
  requires requires { typename A::row_sum; }
struct row_sum_of<A> {
  using type = typename A::row_sum;
};

}  // namespace detail

/// The type in which a row of E is summed; `result_of` turns it into the result.
template <class E>
using row_sum_t = typename detail::row_sum_of<arithmetic_t<E>>::type;

/// sum += a * x(column), for the entry on a slot.
template <class Sum, class Values, class Vector, class Ahead>
HEDDLE_INLINE void add_entry(Sum& sum, const Values& values, const Index* columns, const Vector& x,
                             Offset step, int lane, const Ahead& ahead) {
  ahead(step + lane);
  multiply_add(sum, load(values(step, lane)), x(columns[step + lane]));
}

/// Sum over j < count of a_j * x(column_j), with entry j on slot `step + j * C + lane`.
template <class E, class Values, class Vector, class Ahead = NothingAhead>
HEDDLE_INLINE result_entry_t<E> row_product(const Values& values, const Index* columns,
                                            const Vector& x, Offset step, Offset C, int lane,
                                            int count, const Ahead& ahead = {}) {
  row_sum_t<E> sum{};
  if constexpr (arithmetic_t<E>::components <= 2) {
    // An iteration's overhead takes as many instructions as a real number.
    HEDDLE_TWO_TURNS_ON_CPU
    for (int j = 0; j < count; ++j, step += C) {
      add_entry(sum, values, columns, x, step, lane, ahead);
    }
  } else {
    for (int j = 0; j < count; ++j, step += C) {
      add_entry(sum, values, columns, x, step, lane, ahead);
    }
  }
  return result_of(sum);
}

/// Entries that thread t of T takes of a row of `length`: t, t + T, t + 2T, ...
HEDDLE_INLINE int share_of_row(int length, int t, int T) { return (length - t + T - 1) / T; }

}  // namespace heddle
