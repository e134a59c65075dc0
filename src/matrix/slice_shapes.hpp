// How rows in storage order are cut into slices: what the memory account and the builder share.
#pragma once

#include <algorithm>
#include <span>

#include "heddle/sliced.hpp"

namespace heddle::detail {

struct SliceShape {
  Index first_row;  // in storage order
  Index rows;       // fewer than C / T only in the last slice
  int threads;
  Index steps;  // of C slots each
};

inline Index lanes_of(const PatternView& pattern, const Plan& plan) {
  return plan.lanes == Plan::all_rows ? std::max<Index>(pattern.rows, 1) : plan.lanes;
}

/// Calls `visit` for every slice, in order. `order` is the storage order, empty for the natural
/// one.
template <class Visit>
void for_each_slice(const PatternView& pattern, const Plan& plan, std::span<const Index> order,
                    Visit visit) {
  const Index C = lanes_of(pattern, plan);
  const auto longest = [&](Index begin, Index end) {
    Index length = 0;
    for (Index row = begin; row < end; ++row) {
      length = std::max(length,
                        pattern.length(order.empty() ? row : order[static_cast<std::size_t>(row)]));
    }
    return length;
  };
  const auto cut = [&](Index begin, Index end, int T) {
    const Index rows_of_slice = C / T;
    for (Index row = begin; row < end;) {
      const Index rows = std::min(rows_of_slice, end - row);
      visit(SliceShape{row, rows, T, (longest(row, row + rows) + T - 1) / T});
      row += rows;
    }
  };
  if (plan.threshold == 0) {
    cut(0, pattern.rows, plan.threads_per_row);
    return;
  }
  // K2 (Wong et al. 2015, section 5.4): the C rows of a K1 slice share its threads out until none
  // holds more than the threshold; a row leaves neither its C lanes nor the 32 threads of a warp.
  constexpr int warp = 32;
  for (Offset begin = 0; begin < pattern.rows; begin += C) {
    const auto first = static_cast<Index>(begin);
    const auto last = static_cast<Index>(std::min<Offset>(pattern.rows, begin + C));
    const Index length = longest(first, last);
    int T = 1;
    while (C % (2 * T) == 0 && 2 * T <= warp && (length + T - 1) / T > plan.threshold) T *= 2;
    cut(first, last, T);
  }
}

/// True where sliced storage keeps every entry on its own place, so that no map is needed.
bool keeps_order(const PatternView& pattern, const Plan& plan, std::span<const Index> order,
                 bool natural_columns, const Stream& stream);

/// The account for a known storage order; `basis_bytes` is what the bases hold.
MemoryUse memory_of(const PatternView& pattern, const Plan& plan, std::span<const Index> order,
                    int entry_bytes, long long basis_bytes, bool scatters, bool maps_values);

}  // namespace heddle::detail
