// Columns of sliced storage in 16 bits: of each slice its least column, the base, and of each slot
// how far its column lies above. Slices whose columns lie 65536 or more apart keep theirs in 32
// bits; of these the base has its sign bit set.
#pragma once

#include <limits>
#include <span>

#include "heddle/detail/sliced.hpp"

namespace heddle {

namespace detail {

inline constexpr Index short_reach = 1 << 16;
inline constexpr Index wide_mark = std::numeric_limits<Index>::min();

/// The base of a slice whose columns lie within [least, greatest]; of one without entries, whose
/// least is beyond its greatest, 0.
HEDDLE_INLINE Index base_of_columns(Index least, Index greatest) {
  if (least > greatest) return 0;
  return greatest - least < short_reach ? least : least | wide_mark;
}

/// Makes the short columns of a built pattern, where the plan has them, and counts their slots.
void shorten_columns(SlicedPattern& sliced, const Plan& plan, const Device& device);

/// MemoryUse::short_slots of a pattern that is not built: `order` is the storage order, empty for
/// the natural one, `position` that of each column in its basis, empty for the user's.
Offset short_slots(const PatternView& pattern, const Plan& plan, std::span<const Index> order,
                   std::span<const Index> position);

}  // namespace detail

namespace cuda {

/// The same where the arrays lie on a GPU; they are allocated. Returns the slots.
Offset shorten_columns(SlicedPattern& sliced, const Device& device);

}  // namespace cuda

}  // namespace heddle
