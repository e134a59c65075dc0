#include "heddle/tuning/entry_size.hpp"

#include <cmath>

namespace heddle {

EntrySize::EntrySize(int entry_bytes)
    : bytes(entry_bytes), vector_bytes(entry_bytes), most_vector_bytes(entry_bytes) {
  constexpr int largest_number = 64;
  if (entry_bytes <= largest_number) return;
  const double of_doubles = std::sqrt(8.0 * entry_bytes),
               of_complex = std::sqrt(16.0 * entry_bytes);
  vector_bytes = static_cast<int>(of_doubles);
  most_vector_bytes = static_cast<int>(std::ceil(of_complex));
}

}  // namespace heddle
