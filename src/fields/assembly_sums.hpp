// Sums of element values on a GPU, by code that knows no more of entries than their components.
#pragma once

#include "heddle/detail/assembly_map.hpp"

namespace heddle {

namespace detail {

/// Component k of the entry in a slot.
template <class S>
struct EntrySums {
  AssemblyLists lists;
  ElementNumbering numbering;
  bool by_code;  // ElementNumbering::is_by_code
  const S* from;
  SlotRule to_slot;
  S* to;

  HEDDLE_INLINE Offset place(unsigned term) const {
    if (by_code) return Offset(term) * numbering.components;
    return numbering.place(lists.code.element_of_term(term), lists.code.first_of_term(term),
                           lists.code.last(term));
  }
  HEDDLE_INLINE void operator()(Offset slot, int k) const {
    const unsigned first = lists.first_term[slot], end = lists.first_term[slot + 1];
    if (first == end) return;
    const S* const plane = from + k * numbering.stride();
    S sum = 0;
    for (unsigned at = first; at < end; ++at) sum += plane[place(lists.term[at])];
    const auto lane = static_cast<int>(slot % to_slot.C);
    to[to_slot(slot - lane, lane, k)] = sum;
  }
};

/// Component k of a row of a field.
template <class S>
struct VectorSums {
  AssemblyLists lists;
  ElementNumbering numbering;
  const S* from;
  S* to;
  Offset entry_stride, component_stride;

  HEDDLE_INLINE void operator()(Offset row, int k) const {
    const S* const plane = from + k * numbering.stride();
    S sum = 0;
    for (unsigned at = lists.first_corner[row]; at < lists.first_corner[row + 1]; ++at) {
      const unsigned corner = lists.corner[at];
      sum += plane[numbering.place(lists.code.element_of_corner(corner), lists.code.last(corner))];
    }
    to[row * entry_stride + k * component_stride] = sum;
  }
};

}  // namespace detail

namespace cuda {
/// Queues `sums(i, k)` for every i < count and every component k.
template <class Sums>
void sum(const Sums& sums, Offset count, const Stream& stream);
}  // namespace cuda

}  // namespace heddle
