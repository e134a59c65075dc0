// What an entry's size says of the vectors that it acts on.
#pragma once

#include <cmath>

namespace heddle::detail {

/// Bytes of a row of x, about: entries are numbers, or square blocks of doubles.
inline double vector_bytes_of(int entry_bytes) {
  constexpr int largest_number = 64;
  return entry_bytes <= largest_number ? entry_bytes : std::sqrt(8.0 * entry_bytes);
}

}  // namespace heddle::detail
