// Products of sparse matrices row by row (Gustavson 1978, ACM Trans. Math. Softw. 4(3)): the
// pattern first, then values on it, as often as there are new ones. The caller defines what an
// entry is, and what the product of two is.
#pragma once

#include <algorithm>

#include "heddle/array.hpp"
#include "heddle/csr.hpp"
#include "heddle/detail/thread_scratch.hpp"
#include "heddle/export.hpp"
#include "heddle/methods/coefficient.hpp"

namespace heddle::detail {

/// Compressed rows of A B, columns ascending. Throws `Error` (memory) if they do not fit.
HEDDLE_EXPORT void product_pattern(const PatternView& a, const PatternView& b, const Stream& host,
                                   Array<Offset>& offsets, Array<Index>& column);

/// Compressed rows of A*, columns ascending; `place` gets the place of each entry of A in them.
HEDDLE_EXPORT void adjoint_pattern(const PatternView& a, Array<Offset>& offsets,
                                   Array<Index>& column, Array<Offset>& place);

/// A number for each column, for each thread: kept, so that repeated products allocate nothing.
using ColumnPlaces = ThreadScratch<Index>;

/// Number of threads, each with a number for every column, such that these numbers are no more than
/// `entries`; at least one.
inline int team_with_columns(int team, Offset entries, Index columns) {
  return static_cast<int>(std::clamp<Offset>(entries / std::max<Offset>(columns, 1), 1, team));
}

/// Rows differ in length.
inline constexpr Offset product_rows_at_once = 64;

/// C = A B on the pattern that `product_pattern` made: calls `clear(first, end)` for the entries of
/// a row of C, then `add(k, i, j)`, entry k of C += entry i of A times entry j of B, in the order
/// of the entries of A's row. One thread computes a row, so that the bits do not depend on the
/// number of threads. `work`: approximate number of scalar operations.
template <class Clear, class Add>
void multiply_rows(const PatternView& a, const PatternView& b, const PatternView& c, long long work,
                   const Stream& host, ColumnPlaces& places, const Clear& clear, const Add& add) {
  const int team = team_with_columns(team_size(host, work), c.offsets[a.rows], b.columns);
  places.reserve(team, static_cast<std::size_t>(b.columns));
  numbered_shares(team, a.rows, product_rows_at_once, [&](int thread, auto&& for_each) {
    Index* const place = places.of_thread(thread);  // in the row of C
    for_each([&](Index row) {
      const Offset first = c.offsets[row], end = c.offsets[Offset(row) + 1];
      for (Offset k = first; k < end; ++k) place[c.column[k]] = static_cast<Index>(k - first);
      clear(first, end);
      for (Offset i = a.offsets[row], i_end = a.offsets[Offset(row) + 1]; i < i_end; ++i) {
        const Offset middle = a.column[i];
        for (Offset j = b.offsets[middle], j_end = b.offsets[middle + 1]; j < j_end; ++j) {
          add(first + place[b.column[j]], i, j);
        }
      }
    });
  });
}

/// c += a b for tiles of height x middle and middle x width numbers of a ring, row by row.
template <Ring R, class S>
HEDDLE_INLINE void add_product_of_tiles(S* __restrict c, const S* a, const S* b, int height,
                                        int middle, int width) {
  constexpr int r = ring_size(R);
  for (int i = 0; i < height; ++i) {
    for (int m = 0; m < middle; ++m) {
      const S* const left = a + (i * middle + m) * r;
      for (int j = 0; j < width; ++j) {
        multiply_add_at<R>(c + (i * width + j) * r, left, b + (m * width + j) * r);
      }
    }
  }
}

}  // namespace heddle::detail
