// The sizes of an entry and of the rows of its vectors: all that the choice of a plan needs to know
// about its type.
#pragma once

#include <cmath>

#include "heddle/entries/entry.hpp"
#include "heddle/export.hpp"

namespace heddle {

struct HEDDLE_EXPORT EntrySize {
  int bytes;             // size as given
  int vector_bytes;      // bytes of a row of x
  int max_vector_bytes;  // the same, or an upper bound if that is a guess
  int scalar_bytes = 8;  // bytes of a number of the entry

  /// A guess: a number, or a square block of doubles or complex numbers, that acts on its own kind.
  EntrySize(int entry_bytes)  // NOLINT(google-explicit-constructor): used if nothing else is known
      : EntrySize(entry_bytes, entry_bytes) {
    constexpr int largest_number = 64;
    if (entry_bytes <= largest_number) return;
    vector_bytes = static_cast<int>(std::sqrt(8.0 * entry_bytes));                  // doubles
    max_vector_bytes = static_cast<int>(std::ceil(std::sqrt(16.0 * entry_bytes)));  // complex
  }
  EntrySize(int entry_bytes, int bytes_of_vector, int bytes_of_scalar = 8)
      : bytes(entry_bytes),
        vector_bytes(bytes_of_vector),
        max_vector_bytes(bytes_of_vector),
        scalar_bytes(bytes_of_scalar) {}

  template <class E>
  static EntrySize of() {
    using V = vector_entry_t<E>;
    return {static_cast<int>(sizeof(E)),
            V::components * static_cast<int>(sizeof(typename V::scalar)),
            static_cast<int>(sizeof(stored_scalar_t<E>))};
  }
};

}  // namespace heddle
