// Columns of sliced storage in 16 bits: for each slice its least column, the base, and for each
// slot the distance of its column from the base. Slices whose columns lie 65536 or more apart keep
// theirs in 32 bits, and their base has its sign bit set.
#pragma once

#include <limits>
#include <span>

#include "heddle/detail/sliced.hpp"

namespace heddle {

namespace detail {

inline constexpr Index short_reach = 1 << 16;
inline constexpr Index wide_mark = std::numeric_limits<Index>::min();

/// The base of a slice whose columns lie within [least, greatest]; 0 for a slice without entries,
/// whose least is beyond its greatest.
HEDDLE_INLINE Index base_of_columns(Index least, Index greatest) {
  if (least > greatest) return 0;
  return greatest - least < short_reach ? least : least | wide_mark;
}

/// Counts the slots whose columns a product reads in 16 bits, slice by slice in their order: on a
/// GPU all in slices that fit, on a CPU those of groups of rows that it writes out as 32 bits.
class ShortSlots {
 public:
  static constexpr Index max_lanes = 64;
  static constexpr Offset max_of_group = 1 << 16;  // slots written out, to stay near the core

  ShortSlots(Index lanes, bool on_gpu) : on_gpu_(on_gpu), none_(!on_gpu && lanes > max_lanes) {}
  void add(Index first_row, Offset slots, bool fits) {
    if (first_row / rows_of_group != group_) finish_group();
    group_ = first_row / rows_of_group;
    of_group_ += slots;
    if (fits) short_ += slots;
  }
  Offset count() {
    finish_group();
    return count_;
  }

 private:
  static constexpr Index rows_of_group = 256;
  void finish_group() {
    if (on_gpu_ || (!none_ && of_group_ <= max_of_group)) count_ += short_;
    of_group_ = short_ = 0;
  }

  bool on_gpu_, none_;
  Index group_ = 0;
  Offset of_group_ = 0, short_ = 0, count_ = 0;
};

/// Makes the short columns of a built pattern if the plan has them, and counts their slots.
void shorten_columns(SlicedPattern& sliced, const Plan& plan, const Device& device);

/// MemoryUse::short_slots of a pattern that is not built. `order`: the storage order, empty for the
/// natural one. `position`: the position of each column in its basis, empty for the user's.
/// `on_gpu`: true if a GPU would multiply.
Offset short_slots(const PatternView& pattern, const Plan& plan, std::span<const Index> order,
                   std::span<const Index> position, bool on_gpu);

}  // namespace detail

namespace cuda {

/// Same for arrays on a GPU, which must be allocated. Returns the number of slots.
Offset shorten_columns(SlicedPattern& sliced, const Device& device);

}  // namespace cuda

}  // namespace heddle
