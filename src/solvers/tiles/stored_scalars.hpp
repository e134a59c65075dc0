// Scalars of a matrix whose width is known at run time: 4 and 8 bytes, or a long double.
#pragma once

#include <cstddef>

#include "heddle/entries/slots.hpp"

namespace heddle::detail {

template <class D>
D get_stored(const std::byte* scalars, int bytes, Offset i) {
  switch (bytes) {
    case sizeof(float):
      return static_cast<D>(reinterpret_cast<const float*>(scalars)[i]);
    case sizeof(double):
      return static_cast<D>(reinterpret_cast<const double*>(scalars)[i]);
    default:
      return static_cast<D>(reinterpret_cast<const long double*>(scalars)[i]);
  }
}

/// Rounds to the stored scalar; returns what is stored.
template <class D>
D set_stored(std::byte* scalars, int bytes, Offset i, D value) {
  const auto put = [&]<class T>(T* at) { return static_cast<D>(at[i] = static_cast<T>(value)); };
  switch (bytes) {
    case sizeof(float):
      return put(reinterpret_cast<float*>(scalars));
    case sizeof(double):
      return put(reinterpret_cast<double*>(scalars));
    default:
      return put(reinterpret_cast<long double*>(scalars));
  }
}

}  // namespace heddle::detail
