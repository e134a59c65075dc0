// The smallest residual that the rounding of x allows; for the host and for a GPU.
#pragma once

#include <cmath>

#include "heddle/entries/annotations.hpp"

namespace heddle::detail {

/// Rounding the components of x changes b - A x by about epsilon |A D x|, where D is diagonal and
/// random. One product measures that for any operator; |A D x| is no more than |A| |x|. That change
/// and epsilon |b| are the rounding level. Solves end at a third of it up to some tens, more the
/// longer they were; no solve is known to come below a tenth, except for systems whose solution is
/// exact.
template <class T>
class AccuracyLimit {
 public:
  /// `epsilon`: that of the scalars; 0 leaves everything to the tolerance.
  HEDDLE_INLINE void begin(T epsilon, T norm_of_b) {
    epsilon_ = epsilon;
    size_ = norm_of_b;
    norm_of_b_ = norm_of_b;
  }
  /// |A D x|^2 for a D whose squares have this mean.
  HEDDLE_INLINE void learn(T squared_image, T mean_square) {
    size_ = norm_of_b_ + std::sqrt(squared_image / mean_square);
  }
  /// The residual that a recurrence need not go below.
  HEDDLE_INLINE T least() const { return epsilon_ * size_ / 10; }

  /// True if a solve may end at this true residual, above its target, after `fruitless` runs in a
  /// row that gained too little. `is_last`: nothing else is left to try.
  HEDDLE_INLINE bool is_reached(T norm, T target, int fruitless, bool is_last) const {
    const T level = epsilon_ * size_;
    if (!(norm <= most * level)) return false;
    const bool hopeless = target < least();
    return hopeless ? norm <= some * level || fruitless >= 1 : is_last && fruitless >= 2;
  }
  /// |A D x| + |b| for the newest x, and for zero.
  HEDDLE_INLINE T size() const { return size_; }
  HEDDLE_INLINE T size_of_zero() const { return norm_of_b_; }
  HEDDLE_INLINE T backward_error(T norm) const { return size_ > 0 ? norm / size_ : T(0); }

 private:
  static constexpr T some = 4, most = 64;

  T epsilon_ = 0;
  T norm_of_b_ = 0;
  T size_ = 0;  // |A D x| + |b|
};

}  // namespace heddle::detail
