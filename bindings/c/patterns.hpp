// The caller's places and values of entries, as compressed sparse rows or triplets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "base/unset_array.hpp"
#include "guard.hpp"
#include "heddle.h"
#include "heddle/array.hpp"
#include "sized_struct.hpp"
#include "views.hpp"

namespace heddle::c {

/// Indices of either width and any base, read as counted from 0.
class Indices {
 public:
  Indices(const void* data, std::int64_t count, std::int32_t bits, std::int32_t base,
          const char* name)
      : data_(data), base_(base), wide_(bits == 64) {
    if (bits != 32 && bits != 64) {
      throw Error(ErrorKind::usage, std::string("pattern.") + name + "_bits is " +
                                        std::to_string(bits) + ", not 32 or 64");
    }
    if (data == nullptr && count > 0) {
      throw Error(ErrorKind::usage, std::string("pattern.") + name + " is a null pointer");
    }
  }
  std::int64_t operator[](std::int64_t i) const {
    const std::int64_t index = wide_ ? static_cast<const std::int64_t*>(data_)[i]
                                     : static_cast<const std::int32_t*>(data_)[i];
    // Avoids overflow: a base of 1 subtracts 1.
    return index == std::numeric_limits<std::int64_t>::min() ? index : index - base_;
  }
  /// Converts to 32-bit indices. Throws `Error` (out_of_range) for one beyond that.
  Array<Index> narrowed(std::int64_t count, const char* name) const {
    const auto* const narrow = static_cast<const std::int32_t*>(data_);
    if (!wide_ && base_ == 0) {
      return UnsetArray<Index>({narrow, static_cast<std::size_t>(count)}).into_array();
    }
    Array<Index> indices(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t index = (*this)[i];
      if (!std::in_range<Index>(index)) {
        throw Error(ErrorKind::out_of_range, std::string(name) + " " + std::to_string(index) +
                                                 " of entry " + std::to_string(i) +
                                                 " (from 0) is too large for any matrix");
      }
      indices[static_cast<std::size_t>(i)] = static_cast<Index>(index);
    }
    return indices;
  }

 private:
  const void* data_;
  std::int64_t base_;
  bool wide_;
};

inline heddle_pattern checked_pattern(const heddle_pattern* given) {
  heddle_pattern defaults{};
  defaults.row_bits = defaults.column_bits = 32;
  const heddle_pattern pattern =
      read_struct(&required(given, "pattern"), defaults, "heddle_pattern");
  checked_index(pattern.rows);
  checked_index(pattern.columns);
  if (pattern.entries < 0) throw Error(ErrorKind::size_mismatch, "pattern.entries is negative");
  if (pattern.base != 0 && pattern.base != 1) {
    throw Error(ErrorKind::usage, "pattern.base is neither 0 nor 1");
  }
  return pattern;
}

/// Throws `Error` like `check_view`, and if the view cannot be the values of a matrix.
template <class S>
void check_values(const heddle_view& values, const NamedEntry& entry) {
  check_view<S>(values, entry, "values");
  if (values.location != HEDDLE_HOST) {
    throw Error(ErrorKind::unsupported, "values of a matrix must be in the host's memory");
  }
  if (values.layout != HEDDLE_ROW_MAJOR && values.layout != HEDDLE_COLUMN_MAJOR) {
    throw Error(ErrorKind::usage,
                "values.layout: a matrix needs HEDDLE_ROW_MAJOR or HEDDLE_COLUMN_MAJOR");
  }
}

inline void check_count(const heddle_view& values, std::int64_t entries) {
  if (values.count == entries) return;
  throw Error(ErrorKind::size_mismatch, "the matrix has " + std::to_string(entries) +
                                            " entries, but there are values of " +
                                            std::to_string(values.count));
}

/// Copies of the triplets' places, counted from 0.
struct TripletPlaces {
  explicit TripletPlaces(const heddle_pattern& pattern)
      : row(Indices(pattern.row, pattern.entries, pattern.row_bits, pattern.base, "row")
                .narrowed(pattern.entries, "row")),
        column(Indices(pattern.column, pattern.entries, pattern.column_bits, pattern.base, "column")
                   .narrowed(pattern.entries, "column")) {}
  Array<Index> row, column;
};

}  // namespace heddle::c
