// The cut of rows in storage order into slices, shared by the memory account and the builder.
#pragma once

#include <algorithm>
#include <span>

#include "heddle/detail/slice_arithmetic.hpp"
#include "heddle/detail/sliced.hpp"
#include "heddle/tools/team.hpp"

namespace heddle::detail {

struct SliceShape {
  Index first_row;  // in storage order
  Index rows;       // fewer than C / T only in the last slice
  int threads;
  Index steps;  // steps of C slots each
};

inline Index lanes_of(const PatternView& pattern, const Plan& plan) {
  const Index lanes = plan.layout.lanes;
  return lanes == Layout::all_rows ? std::max<Index>(pattern.rows, 1) : lanes;
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
      visit(SliceShape{row, rows, T, steps_of_row(longest(row, row + rows), T)});
      row += rows;
    }
  };
  if (plan.layout.threshold == 0) {
    cut(0, pattern.rows, plan.layout.threads_per_row);
    return;
  }
  for (Offset begin = 0; begin < pattern.rows; begin += C) {
    const auto first = static_cast<Index>(begin);
    const auto last = static_cast<Index>(std::min<Offset>(pattern.rows, begin + C));
    cut(first, last, threads_of_block(longest(first, last), C, plan.layout.threshold));
  }
}

/// True if sliced storage keeps every entry in its place, so that no map is needed. `is_sorted()`:
/// true if the columns of every row ascend.
template <class IsSorted>
bool keeps_order(const Plan& plan, bool has_order, bool natural_columns,
                 const IsSorted& is_sorted) {
  if (plan.layout.lanes != 1 || has_order) return false;
  return plan.layout.columns == ColumnOrder::given || (natural_columns && is_sorted());
}
inline bool keeps_order(const PatternView& pattern, const Plan& plan, bool has_order,
                        bool natural_columns, const Stream& stream) {
  return keeps_order(plan, has_order, natural_columns, [&] {
    return has_sorted_columns(pattern, team_size(stream, pattern.entries()));
  });
}

/// The account of a layout of `slices` slices and `slots` slots. `basis_bytes`: bytes of the bases.
MemoryUse account_of(Index rows, Offset entries, const Plan& plan, Index C, Offset slices,
                     Offset slots, EntryBytes entry_bytes, long long basis_bytes, bool scatters,
                     bool maps_values);

/// Same, for a known storage order.
MemoryUse memory_of(const PatternView& pattern, const Plan& plan, std::span<const Index> order,
                    EntryBytes entry_bytes, long long basis_bytes, bool scatters, bool maps_values);

}  // namespace heddle::detail
