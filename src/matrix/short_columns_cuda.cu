#include "base/launch_cuda.cuh"
#include "short_columns.hpp"

namespace heddle::cuda {

namespace {

constexpr Index threads_of_row = 8;

/// The stored rows of a pattern and their columns, as kernels read them.
struct RowsOfPattern {
  SlicesView slices;
  const Index* row_length;  // null for C = 1
  const Index* column;

  /// Calls `visit(slot)` for each of a thread's entries of its row.
  template <class Visit>
  __device__ void for_each_entry(Offset thread, const Visit& visit) const {
    const auto stored = static_cast<Index>(thread / threads_of_row);
    const SlicesView::RowPlace row = slices.place_of(stored);
    const Index length = row_length != nullptr
                             ? row_length[stored]
                             : static_cast<Index>(slices.offset[stored + 1] - row.offset);
    for (auto j = static_cast<Index>(thread % threads_of_row); j < length; j += threads_of_row) {
      visit(slot_of(row.offset, slices.C, row.T, row.r, j));
    }
  }
  __device__ Index slice_of(Offset thread) const {
    return slices.slice_of(static_cast<Index>(thread / threads_of_row));
  }
};

}  // namespace

Offset shorten_columns(SlicedPattern& sliced, const Device& device) {
  using heddle::detail::short_reach;
  using heddle::detail::wide_mark;
  constexpr Index none = std::numeric_limits<Index>::max();
  const Stream stream = device.stream();
  const Offset threads = Offset(sliced.rows) * threads_of_row;
  const RowsOfPattern rows{sliced.view(), sliced.C == 1 ? nullptr : sliced.row_length.data(),
                           sliced.column.data()};
  Index* const base = sliced.column_base.data();
  for_each_index(stream, sliced.slices(), [=] __device__(Offset slice) { base[slice] = none; });
  for_each_index(stream, threads, [=] __device__(Offset thread) {
    Index least = none;
    rows.for_each_entry(thread, [&](Offset slot) { least = min(least, rows.column[slot]); });
    Index* const of_slice = base + rows.slice_of(thread);
    if (least < *of_slice) atomicMin(of_slice, least);
  });
  for_each_index(stream, threads, [=] __device__(Offset thread) {
    Index* const of_slice = base + rows.slice_of(thread);
    const Index least = *of_slice & ~wide_mark;  // other threads may mark it meanwhile
    bool fits = true;
    rows.for_each_entry(thread,
                        [&](Offset slot) { fits &= rows.column[slot] - least < short_reach; });
    if (!fits) atomicOr(of_slice, wide_mark);
  });
  for_each_index(stream, threads,
                 [=, above = sliced.short_column.data()] __device__(Offset thread) {
                   const Index least = base[rows.slice_of(thread)];
                   if (least < 0) return;
                   rows.for_each_entry(thread, [&](Offset slot) {
                     above[slot] = static_cast<unsigned short>(rows.column[slot] - least);
                   });
                 });
  Array<unsigned long long> slots(1, device);
  for_each_index(stream, sliced.slices(),
                 [=, offset = sliced.offset.data(), sum = slots.data()] __device__(Offset slice) {
                   if (base[slice] == none) base[slice] = 0;
                   if (base[slice] < 0) return;
                   atomicAdd(sum,
                             static_cast<unsigned long long>(offset[slice + 1] - offset[slice]));
                 });
  return static_cast<Offset>(slots.to_host()[0]);
}

}  // namespace heddle::cuda
