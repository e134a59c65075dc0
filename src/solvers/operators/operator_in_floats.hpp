// A second copy of a matrix of doubles, in floats, on the same pattern.
#pragma once

#include "heddle/detail/narrow_values.hpp"
#include "heddle/detail/sliced_operator.hpp"

namespace heddle::detail {

/// Still without values. 16 bits serve its iterations too; an exact copy might refuse the floats.
inline SlicedOperator<float> operator_in_floats(const SlicedOperator<double>& A,
                                                const EntryTableHandle<float>& entry) {
  Plan plan = A.plan();
  const StoredScalar kept = plan.layout.stored;
  if (is_exact(kept) || kept == StoredScalar::single) plan.layout.stored = StoredScalar::own;
  return {entry, A.shared_pattern(), A.order(), plan, A.device()};
}

/// Writes the rounded values. Throws like `narrow_values`.
inline void round_values(const SlicedOperator<double>& A, SlicedOperator<float>& in_floats) {
  narrow_values<double>(A.pattern(), A.plan().layout.inner, A.entry().sizes.components,
                        reinterpret_cast<const double*>(A.stored_values().data()),
                        reinterpret_cast<float*>(in_floats.stored_values().data()),
                        A.device().stream());
  in_floats.values_changed();
}

/// Bytes of its own values, without the pattern that it shares.
inline long long bytes_of_values(const SlicedOperator<float>& in_floats) {
  const EntryTable<float>& entry = in_floats.entry();
  const auto& copy = entry.copy(in_floats.plan().layout.stored);
  const Offset slots = in_floats.pattern().slots;
  return entry.bytes_of(slots) + (copy ? copy->bytes_of(slots) : 0);
}

}  // namespace heddle::detail
