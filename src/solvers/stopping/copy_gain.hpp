// The length of a run of a recurrence that reads a copy of the matrix; for the host and for a GPU.
#pragma once

#include "heddle/entries/annotations.hpp"
#include "heddle/plan.hpp"

namespace heddle::detail {

/// On a copy that is off by dA, a run departs from the true residual by dA (x - x0): on floats by
/// up to 6e-8 cond(A) of the residual that it began from, on 16 bits by up to 2e-3 cond(A). Beyond
/// that its own residual says nothing.
///
/// A run that begins anew forgets the spectrum, so runs are long. When the true residual is
/// computed, it shows how far the run followed it. After a run that did, the next may gain two
/// digits more; after one that did not, the next may gain as much as that run did. The first run is
/// short, because a short run has not yet learnt what a restart forgets of the spectrum. A run that
/// misses its aim by far and gains less than a digit is the last one on the copy.
///
/// Runs that continue each other may be short, and all gain the same: only the error of the copy is
/// lost. One that aims at less than a digit is the last if it gains nothing.
template <class T>
class CopyGain {
 public:
  CopyGain() = default;
  /// `continues`: see methods/continued_conjugate_gradient.hpp.
  HEDDLE_INLINE CopyGain(StoredScalar kept, bool continues) {
    const bool in_words =
        kept == StoredScalar::scaled || kept == StoredScalar::half || kept == StoredScalar::bfloat;
    if (continues) {
      gain_ = max_ = in_words ? T(0.45) : T(1e-2);
      learns_ = false;
      left_ = T(0.9);
    } else if (kept == StoredScalar::scaled) {
      gain_ = T(1e-2);
      max_ = T(2e-3);
    } else if (in_words) {
      gain_ = 1 / digit;
      max_ = T(2e-2);
    }
  }

  /// The norm at which a run that begins at `norm` is over. It may lie below the target: the error
  /// of the copy must not fail a run that only just arrives.
  HEDDLE_INLINE T aim(T target, T norm) const {
    const T gained = gain_ * norm;
    return gained > left_ * target ? gained : left_ * target;
  }

  /// After a run that took the true residual from `before` to `norm`.
  HEDDLE_INLINE void learn(T norm, T before) {
    if (!learns_) return;
    const T gained = norm / before;
    gain_ = gained <= 2 * gain_ ? gain_ / (digit * digit) : gained;
    if (gain_ < max_) gain_ = max_;
    if (gain_ > 1 / digit) gain_ = 1 / digit;
  }
  HEDDLE_INLINE bool is_worthless(T norm, T aim, T before) const {
    if (gain_ > 1 / digit) return norm > aim && norm >= before;
    return norm > digit * aim && norm * digit > before;
  }

 private:
  static constexpr T digit = 10;

  T gain_ = T(1e-4);
  T max_ = T(1e-6);  // about 16 times what an entry is off by; half: 40, bfloat: 5
  T left_ = T(0.5);  // fraction of the target
  bool learns_ = true;
};

}  // namespace heddle::detail
