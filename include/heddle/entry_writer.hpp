// Reads and writes entries of a matrix in sliced storage one by one, in place.
#pragma once

#include "heddle/detail/assert.hpp"
#include "heddle/detail/sliced.hpp"
#include "heddle/entries/slots.hpp"
#include "heddle/export.hpp"

namespace heddle {

/// Entries E by their slots, whatever the inner layout, for an assembly in place, see
/// `Operator::entry_writer`. It owns nothing, and is copied to a GPU byte by byte; several threads
/// may write to different slots.
template <class E>
class HEDDLE_EXPORT EntryWriter {
  static_assert(check_entry<E>());

 public:
  using stored = stored_scalar_t<E>;

  /// `values`: E::components scalars for each slot of the pattern, in the memory in which entries
  /// are read and written.
  EntryWriter(const SlicedPattern& pattern, InnerLayout inner, stored* values)
      : values_(values),
        slots_(pattern.slots),
        C_(pattern.C),
        formula_(slot_formula<E::components>(inner, C_, slots_, sizeof(stored))) {}

  /// Calls in the order of slots write neighbouring memory together.
  HEDDLE_INLINE void store(Offset slot, const E& entry) const {
    for (int k = 0; k < E::components; ++k) values_[index(slot, k)] = entry.component[k];
  }
  HEDDLE_INLINE E load(Offset slot) const {
    E entry;
    for (int k = 0; k < E::components; ++k) entry.component[k] = values_[index(slot, k)];
    return entry;
  }
  /// The place of component k of a slot, in scalars.
  HEDDLE_INLINE Offset index(Offset slot, int k) const {
    HEDDLE_ASSERT(0 <= slot && slot < slots_);
    const Offset lane = slot % C_;
    return formula_(slot - lane, static_cast<int>(lane), k);
  }

 private:
  stored* values_;
  Offset slots_;
  Index C_;
  SlotFormula<E::components> formula_;
};

}  // namespace heddle
