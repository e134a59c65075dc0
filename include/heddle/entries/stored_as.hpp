// An entry kept in a narrower scalar than the one it computes in: half the memory traffic of the
// matrix under full arithmetic.
#pragma once

#include "heddle/entries/entry.hpp"
#include "heddle/export.hpp"

namespace heddle {

/// `stored_as<float, quaternion<double>>` holds floats and acts as a quaternion<double>.
template <class Stored, class A>
struct HEDDLE_EXPORT stored_as {
  using stored_scalar = Stored;
  using arithmetic = A;
  static constexpr int components = A::components;

  Stored component[components];

  HEDDLE_INLINE A load() const {
    A a;
    for (int k = 0; k < components; ++k) {
      a.component[k] = static_cast<typename A::stored_scalar>(component[k]);
    }
    return a;
  }
};

}  // namespace heddle
