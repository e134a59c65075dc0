// Rounding of a matrix's scalars to floats, shared by the CPU and a GPU's kernel.
#pragma once

#include <string>

#include "heddle/detail/sliced.hpp"

namespace heddle::detail {

/// "the entry of row 3, column 5"; rows and columns as the user counts them, from 0.
std::string entry_on(Offset slot, const SlicedPattern& A, const Stream& stream);

/// A scalar of the matrix: its slot is step + lane.
struct ScalarPlace {
  Offset step;
  int lane;
  int component;
};

/// The scalar that lies at an index under `rule`. Entries with all components together have one
/// piece, of K components.
HEDDLE_INLINE ScalarPlace place_of(const SlotRule& rule, Offset index) {
  const Offset K = rule.components;
  if (rule.planes || rule.piece >= K) {
    const Offset slot = rule.planes ? index % rule.slots : index / K;
    const auto component = static_cast<int>(rule.planes ? index / rule.slots : index % K);
    return {slot - slot % rule.C, static_cast<int>(slot % rule.C), component};
  }
  const Offset C = rule.C;
  const Offset step = index / (C * K) * C;
  const Offset in_step = index - step * K;
  const Offset piece = in_step / (C * rule.piece);
  const int first = static_cast<int>(piece) * rule.piece;
  const int width = rule.lane_scale(first);
  const Offset in_piece = in_step - C * first;
  return {step, static_cast<int>(in_piece / width), first + static_cast<int>(in_piece % width)};
}

/// Reads scalar i of the copy from its place in the values.
template <class T>
struct Narrowing {
  SlotRule rule;       // rule of the copy
  SlotRule wide_rule;  // rule of the values
  bool same_places;
  const T* from;
  float* to;

  /// Stores scalar i; returns the outcome.
  enum Outcome { not_normal, normal, overflow, underflow };
  HEDDLE_INLINE Outcome narrow(Offset i) const {
    constexpr T most = T(3.4028234663852886e+38), least = T(1.1754943508222875e-38);
    Offset at = i;
    if (!same_places) {
      const ScalarPlace place = place_of(rule, i);
      at = wide_rule(place.step, place.lane, place.component);
    }
    const T value = from[at];
    const T magnitude = value < 0 ? -value : value;
    to[i] = static_cast<float>(value);
    if (magnitude >= least && magnitude <= most) return normal;
    // Neither applies to a value that is infinite already, or not a number.
    if (magnitude > most && magnitude * 0 == 0) return overflow;
    return magnitude > 0 && magnitude < least ? underflow : not_normal;
  }
};

template <class T>
Narrowing<T> narrowing(const SlicedPattern& pattern, InnerLayout inner, int K, const T* from,
                       float* to) {
  const SlotRule rule = slot_rule(inner, K, pattern.C, pattern.slots, sizeof(float));
  const SlotRule wide = slot_rule(inner, K, pattern.C, pattern.slots, sizeof(T));
  return {rule, wide, rule.planes || pattern.C == 1 || rule.piece == wide.piece, from, to};
}

/// The outcome over all scalars; `none` if there is no such scalar.
struct Narrowed {
  static constexpr Offset none = Offset(~0ULL >> 1);
  Offset first_overflow = none;
  Offset first_underflow = none;
  bool any_normal = false;
};

}  // namespace heddle::detail

namespace heddle::cuda {

/// Throws `Error` (unsupported) while a graph is captured: the GPU has to look at the values to
/// find out if they fit into floats, and a capture does not wait for that.
void check_not_captured(const Stream& stream);

detail::Narrowed narrow_values(const detail::Narrowing<double>& narrowing, Offset scalars,
                               const Device& device);

}  // namespace heddle::cuda
