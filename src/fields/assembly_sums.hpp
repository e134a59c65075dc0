// Sums of element values on a GPU, by code that knows only the number of components of entries.
#pragma once

#include "heddle/detail/assembly_map.hpp"

namespace heddle {

namespace detail {

/// How the place of a term's number is found: from its code alone, from its place in the tiles, or
/// by a calculation.
enum class Placing { by_code, by_row, by_numbering };

/// Component k of the entry in a slot; for entries with one component also by tiles. A placing that
/// is known in advance leaves no branch between loads, so that they are in flight together.
template <class S, Placing P>
struct EntrySums {
  using Sum = S;
  AssemblyLists lists;
  ElementNumbering numbering;
  const S* from;
  SlotRule to_slot;
  S* to;
  bool in_twos;  // neighbouring terms lie together and aligned

  HEDDLE_INLINE Offset place(unsigned term) const {
    if constexpr (P == Placing::by_code) return Offset(term) * numbering.components;
    return numbering.place(lists.code.element_of_term(term), lists.code.first_of_term(term),
                           lists.code.last(term));
  }
  HEDDLE_INLINE void operator()(Offset slot, int k) const {
    unsigned at = lists.first_term[slot];
    const unsigned end = lists.first_term[slot + 1];
    if (at == end) return;
    const S* const plane = from + k * numbering.stride();
    constexpr unsigned in_flight = 4;
    S sum = 0;
    for (; at + in_flight <= end; at += in_flight) {
      S value[in_flight];
      for (unsigned i = 0; i < in_flight; ++i) value[i] = plane[place(lists.term[at + i])];
      for (unsigned i = 0; i < in_flight; ++i) sum += value[i];
    }
    for (; at < end; ++at) sum += plane[place(lists.term[at])];
    store(slot, sum, k);
  }
  HEDDLE_INLINE void store(Offset slot, S sum, int k = 0) const {
    const auto lane = static_cast<int>(slot % to_slot.C);
    to[to_slot(slot - lane, lane, k)] = sum;
  }

  HEDDLE_INLINE const S* in_tiles(const AssemblyTiles& tiles,
                                  const AssemblyTiles::Term& term) const {
    return from + (P == Placing::by_row ? Offset(tiles.number(term)) : place(tiles.code_of(term)));
  }
  HEDDLE_INLINE S term(const AssemblyTiles& tiles, const AssemblyTiles::Term& term) const {
    return *in_tiles(tiles, term);
  }
  HEDDLE_INLINE TwoTerms<S> two_terms(const AssemblyTiles& tiles,
                                      const AssemblyTiles::Term& term) const {
    TwoTerms<S> two;
    __builtin_memcpy(&two, __builtin_assume_aligned(in_tiles(tiles, term), sizeof two), sizeof two);
    return two;
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
/// Queues the sums of those entries that tiles serve.
template <class Sums>
void sum_tiles(const Sums& sums, const Stream& stream);
}  // namespace cuda

}  // namespace heddle
