// The product of one row, or of one thread's share of it, with a field: the loop that every layout,
// entry and backend runs.
#pragma once

#include "heddle/entries/slots.hpp"

namespace heddle {

/// What a backend does ahead of each entry; a CPU prefetches, a GPU thread has nothing to do.
struct NothingAhead {
  HEDDLE_INLINE void operator()(Offset) const {}
};

/// Sum over j < count of a_j * x(column_j), with entry j on slot `step + j * C + lane`.
template <class E, class Values, class Vector, class Ahead = NothingAhead>
HEDDLE_INLINE result_entry_t<E> row_product(const Values& values, const Index* columns,
                                            const Vector& x, Offset step, Offset C, int lane,
                                            int count, const Ahead& ahead = {}) {
  result_entry_t<E> sum = zero_vector<result_entry_t<E>>();
  for (int j = 0; j < count; ++j, step += C) {
    ahead(step + lane);
    multiply_add(sum, load(values(step, lane)), x(columns[step + lane]));
  }
  return sum;
}

/// Entries that thread t of T takes of a row of `length`: t, t + T, t + 2T, ...
HEDDLE_INLINE int share_of_row(int length, int t, int T) { return (length - t + T - 1) / T; }

}  // namespace heddle
