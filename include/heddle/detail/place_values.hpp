// Copies values from a user's array into sliced storage, knowing only the sizes of entries.
#pragma once

#include <cstddef>
#include <span>
#include <type_traits>
#include <vector>

#include "heddle/detail/sliced.hpp"
#include "heddle/export.hpp"
#include "heddle/tools/team.hpp"

namespace heddle {

/// All that is known of an entry here: K scalars, which the user's array may hold by columns.
struct HEDDLE_EXPORT EntryShape {
  int components;    // K
  int scalar_bytes;  // on a GPU 4 or 8
  // Only for blocks that are stored by columns; else one element.
  int block_rows = 1;
  int block_columns = 1;

  int scalars_of_element() const { return components / (block_rows * block_columns); }
};

/// Throws `Error` (size_mismatch) unless `from` is the bytes of all entries, and `to` the bytes of
/// all slots.
void check_placed_bytes(const SlicedPattern& pattern, const EntryShape& shape, std::size_t from,
                        std::size_t to);

/// Copies K scalars per entry, from host or device memory, to the slots of a pattern that lies on a
/// GPU; padding is left unchanged. Device memory is read in stream order, without allocation. Host
/// memory passes through a buffer on the GPU, or in pinned memory if the GPU's is short, and may be
/// overwritten once this returns. `buffer_entries`: the most entries that the buffer holds; 0: as
/// many as are worthwhile.
HEDDLE_EXPORT void place_values_on_gpu(const SlicedPattern& pattern, InnerLayout inner,
                                       const EntryShape& shape, std::span<const std::byte> from,
                                       std::span<std::byte> to, const Stream& stream,
                                       Offset buffer_entries = 0);

/// Same on the CPU, for scalars T: K per entry, or as many as the shape says if K is 0, which is
/// slower.
template <class T, int K>
void place_values_on_cpu(const SlicedPattern& pattern, InnerLayout inner, const EntryShape& shape,
                         std::span<const std::byte> from, std::span<std::byte> to,
                         const Stream& stream) {
  check_placed_bytes(pattern, shape, from.size(), to.size());
  const auto* const given = reinterpret_cast<const T*>(from.data());
  auto* const stored = reinterpret_cast<T*>(to.data());
  const auto place = [&](const auto& components, const auto& formula, const auto& component_in) {
    parallel_for(team_size(stream, pattern.entries), pattern.slots, [&](Offset slot) {
      const Offset entry = pattern.entry_of_slot[slot];
      if (entry == EntryMap::padding) return;
      const int lane = static_cast<int>(slot % pattern.C);
      for (int k = 0; k < components; ++k) {
        stored[formula(slot - lane, lane, k)] = given[entry * components + component_in(k)];
      }
    });
  };
  const auto place_by = [&](const auto& components, const auto& formula) {
    if (shape.block_rows == 1) return place(components, formula, [](int k) { return k; });
    std::vector<int> transposed(static_cast<std::size_t>(components));
    for (int k = 0; k < components; ++k) {
      transposed[static_cast<std::size_t>(k)] = transposed_component(
          k, shape.block_rows, shape.block_columns, shape.scalars_of_element());
    }
    place(components, formula, [at = transposed.data()](int k) { return at[k]; });
  };
  if constexpr (K == 0) {
    place_by(shape.components,
             slot_rule(inner, shape.components, pattern.C, pattern.slots, sizeof(T)));
  } else {
    place_by(std::integral_constant<int, K>(),
             slot_formula<K>(inner, pattern.C, pattern.slots, sizeof(T)));
  }
}

}  // namespace heddle
