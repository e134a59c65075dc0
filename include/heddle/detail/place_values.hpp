// Values from a user's array into sliced storage on a GPU, by a kernel that knows no entries.
#pragma once

#include <cstddef>
#include <span>

#include "heddle/detail/sliced.hpp"
#include "heddle/export.hpp"

namespace heddle {

/// What the kernel knows of an entry: K scalars, which the user's array may hold by columns.
struct HEDDLE_EXPORT EntryShape {
  int components;    // K
  int scalar_bytes;  // 4 or 8
  // Only for blocks that are stored by columns; else one element.
  int block_rows = 1;
  int block_columns = 1;

  int scalars_of_element() const { return components / (block_rows * block_columns); }
};

/// Where scalar k of a block of `rows` x `columns` elements of `size` scalars lies once it is
/// stored by columns instead of by rows. With rows and columns exchanged, the way back.
HEDDLE_INLINE constexpr int transposed_component(int k, int rows, int columns, int size) {
  const int element = k / size;
  return (element % columns * rows + element / columns) * size + k % size;
}

/// Throws `Error` (size_mismatch) unless so many bytes are those of all the entries, and of all the
/// slots.
void check_placed_bytes(const SlicedPattern& pattern, const EntryShape& shape, std::size_t from,
                        std::size_t to);

/// Brings K scalars an entry, from the memory of host or device, to the slots of a pattern that
/// lies on a GPU; padding stays what it was. Device memory is read in the order of the stream,
/// without allocation; memory of the host passes through a buffer on the GPU, or of pinned memory
/// where the GPU's is short, and may be written again when this returns. `buffer_entries`: how many
/// that holds at most; 0: as many as are worth it.
HEDDLE_EXPORT void place_values_on_gpu(const SlicedPattern& pattern, InnerLayout inner,
                                       const EntryShape& shape, std::span<const std::byte> from,
                                       std::span<std::byte> to, const Stream& stream,
                                       Offset buffer_entries = 0);

}  // namespace heddle
