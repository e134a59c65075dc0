#include "short_columns.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "heddle/config.hpp"
#include "heddle/tools/team.hpp"
#include "slice_shapes.hpp"

namespace heddle {

namespace detail {

namespace {

constexpr Index none = std::numeric_limits<Index>::max();

/// Calls `visit(slot)` for each entry of a slice.
template <class Visit>
void for_each_entry(const SlicedPattern& A, Index slice, const Visit& visit) {
  const auto s = static_cast<std::size_t>(slice);
  const Offset first = A.offset[s];
  if (A.C == 1) {
    for (Offset slot = first; slot < A.offset[s + 1]; ++slot) visit(slot);
    return;
  }
  const int T = A.threads_of(slice);
  const Index first_row = A.first_row_of(slice);
  const Index rows = std::min(A.rows, A.first_row_of(slice + 1)) - first_row;
  for (Index r = 0; r < rows; ++r) {
    const Index length = A.row_length[static_cast<std::size_t>(first_row + r)];
    for (Index j = 0; j < length; ++j) visit(slot_of(first, A.C, T, r, j));
  }
}

/// Returns true if all columns of the slice fit.
bool shorten_slice(SlicedPattern& A, Index slice) {
  const auto column = [&](Offset slot) { return A.column[static_cast<std::size_t>(slot)]; };
  Index least = none, greatest = -1;
  for_each_entry(A, slice, [&](Offset slot) {
    least = std::min(least, column(slot));
    greatest = std::max(greatest, column(slot));
  });
  const Index base = base_of_columns(least, greatest);
  A.column_base[static_cast<std::size_t>(slice)] = base;
  if (base < 0) return false;
  for_each_entry(A, slice, [&](Offset slot) {
    A.short_column[static_cast<std::size_t>(slot)] =
        static_cast<unsigned short>(column(slot) - base);
  });
  return true;
}

}  // namespace

void shorten_columns(SlicedPattern& sliced, const Plan& plan, const Device& device) {
  if (plan.layout.column_bits != 16) return;
  const Index slices = sliced.slices();
  sliced.short_column = Array<unsigned short>(static_cast<std::size_t>(sliced.slots), device);
  sliced.column_base = Array<Index>(static_cast<std::size_t>(slices), device);
  if constexpr (has_cuda) {
    if (device.on_gpu()) {
      sliced.memory.short_slots = cuda::shorten_columns(sliced, device);
      return;
    }
  }
  std::vector<char> fits(static_cast<std::size_t>(slices));
  parallel_for(team_size(device.stream(), sliced.entries), slices, 0, [&](Index slice) {
    fits[static_cast<std::size_t>(slice)] = shorten_slice(sliced, slice) ? 1 : 0;
  });
  ShortSlots read(sliced.C, false);
  for (Index slice = 0; slice < slices; ++slice) {
    const auto s = static_cast<std::size_t>(slice);
    read.add(sliced.C == 1 ? slice : sliced.first_row_of(slice),
             sliced.offset[s + 1] - sliced.offset[s], fits[s] != 0);
  }
  sliced.memory.short_slots = read.count();
}

Offset short_slots(const PatternView& pattern, const Plan& plan, std::span<const Index> order,
                   std::span<const Index> position, bool on_gpu) {
  const Index C = lanes_of(pattern, plan);
  ShortSlots read(C, on_gpu);
  for_each_slice(pattern, plan, order, [&](const SliceShape& shape) {
    Index least = none, greatest = -1;
    for (Index stored = shape.first_row; stored < shape.first_row + shape.rows; ++stored) {
      const Index row = order.empty() ? stored : order[static_cast<std::size_t>(stored)];
      for (Offset i = pattern.offsets[row]; i < pattern.offsets[row + 1]; ++i) {
        const Index user = pattern.column[i];
        const Index at = position.empty() ? user : position[static_cast<std::size_t>(user)];
        least = std::min(least, at);
        greatest = std::max(greatest, at);
      }
    }
    read.add(shape.first_row, static_cast<Offset>(shape.steps) * C,
             base_of_columns(least, greatest) >= 0);
  });
  return read.count();
}

}  // namespace detail

const Index* columns_of_rows(const SlicedPattern& A, Index begin, Index end, Index ahead) {
  using detail::ShortSlots;
  if (A.short_column.empty() || A.C > ShortSlots::max_lanes || begin >= end) {
    return A.column.data();
  }
  const Offset* const offset = A.offset.data();
  const Index first_slice = A.slice_of(begin), last_slice = A.slice_of(end - 1);
  const Offset first = offset[first_slice];
  if (offset[last_slice + 1] - first > ShortSlots::max_of_group) return A.column.data();
  const Offset last = offset[last_slice + 1] + ahead;
  thread_local std::vector<Index> written;
  if (written.size() < static_cast<std::size_t>(last - first)) {
    written.resize(static_cast<std::size_t>(last - first));
  }
  Index* const to = written.data();
  const unsigned short* const above = A.short_column.data();
  const Index slices = A.slices();
  Offset slot = first;
  for (Index slice = first_slice; slice < slices && slot < last; ++slice) {
    const Index base = A.column_base.data()[slice];
    const Offset stop = std::min(last, offset[slice + 1]);
    if (base < 0) {
      for (; slot < stop; ++slot) to[slot - first] = A.column.data()[slot];
    } else {
      for (; slot < stop; ++slot) to[slot - first] = base + above[slot];
    }
  }
  for (; slot < last; ++slot) to[slot - first] = 0;
  return to - first;
}

}  // namespace heddle
