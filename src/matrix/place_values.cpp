#include "heddle/detail/place_values.hpp"

#include <string>

#include "heddle/error.hpp"

namespace heddle {

void check_placed_bytes(const SlicedPattern& pattern, const EntryShape& shape, std::size_t from,
                        std::size_t to) {
  const auto entry_bytes =
      static_cast<std::size_t>(shape.components) * static_cast<std::size_t>(shape.scalar_bytes);
  const auto check = [&](std::size_t given, Offset count, const char* what) {
    const std::size_t needed = static_cast<std::size_t>(count) * entry_bytes;
    if (given == needed) return;
    throw Error(ErrorKind::size_mismatch,
                std::to_string(count) + " " + what + " of " + std::to_string(entry_bytes) +
                    " bytes were given values of " + std::to_string(given) + " bytes, not " +
                    std::to_string(needed));
  };
  check(from, pattern.entries, "entries");
  check(to, pattern.slots, "slots");
}

}  // namespace heddle
