// Converts the caller's sizes, of whatever type, to `Index`.
#pragma once

#include <concepts>
#include <limits>
#include <string>
#include <utility>

#include "heddle/entries/slots.hpp"
#include "heddle/error.hpp"

namespace heddle {

/// Throws `Error` (size_mismatch) unless `size` is a number of rows or columns that one matrix may
/// have.
template <std::integral N>
Index checked_index(N size) {
  if (std::cmp_less(size, 0) || !std::in_range<Index>(size)) {
    throw Error(ErrorKind::size_mismatch,
                std::to_string(size) + " rows or columns do not fit one matrix, which takes 0 to " +
                    std::to_string(std::numeric_limits<Index>::max()));
  }
  return static_cast<Index>(size);
}

}  // namespace heddle
