// The values of an adjoint matrix from those of the matrix, slot by slot, without knowing entries.
#pragma once

#include <cstddef>
#include <span>

#include "heddle/detail/sliced.hpp"

namespace heddle {

namespace detail {

/// The places in A of the values of A*.
struct AdjointMap {
  Array<Offset> slot;    // slot of A for each entry of A*, in the order of A*'s pattern
  Array<int> component;  // A's component for each of A*'s: k is component k - 1, -k its negative
};

/// True if component k of the entry in a slot is scalar slot * components + k.
inline bool keeps_entries_whole(const SlotRule& rule) {
  return !rule.planes && (rule.C == 1 || rule.piece >= rule.components);
}

/// The work of the CPU and of a GPU's kernel on one slot.
template <class T>
struct AdjointPlaces {
  const T* from;
  T* to;
  SlotRule from_rule, to_rule;
  const Offset* source;
  const int* component;

  HEDDLE_INLINE void place(Offset slot, Offset entry) const {
    const Offset taken = source[entry];
    const auto lane = static_cast<int>(slot % to_rule.C);
    const auto taken_lane = static_cast<int>(taken % from_rule.C);
    for (int k = 0; k < to_rule.components; ++k) {
      const int of = component[k];
      const T value = from[from_rule(taken - taken_lane, taken_lane, (of < 0 ? -of : of) - 1)];
      to[to_rule(slot - lane, lane, k)] = of < 0 ? -value : value;
    }
  }
};

}  // namespace detail

namespace cuda {
/// Queues the work on all slots. T is float or double.
template <class T>
void place_adjoint(const EntryMap& entries, Offset slots, const detail::AdjointPlaces<T>& places,
                   const Stream& stream);
}  // namespace cuda

namespace detail {

/// Both matrices have one inner layout, and entries of scalars of `scalar_bytes` bytes: 4, 8 or
/// those of a long double. On a GPU it queues one kernel and waits for nothing.
void place_adjoint_values(const SlicedPattern& A, std::span<const std::byte> values,
                          const SlicedPattern& adjoint, std::span<std::byte> to,
                          const AdjointMap& map, InnerLayout inner, int scalar_bytes,
                          const Stream& stream);

}  // namespace detail

}  // namespace heddle
