// Row lengths with the statistics that a paper prints about a matrix.
#pragma once

#include <cstdint>
#include <vector>

#include "heddle/csr.hpp"

namespace heddle::bench {

struct RowStatistics {
  Index rows = 0;
  Offset entries = 0;
  Index longest = 0;  // of one row
  /// Sums over slices of 16 and of 32 consecutive rows of the slice's longest row.
  Offset steps_of_16 = 0, steps_of_32 = 0;
};

RowStatistics row_statistics(const PatternView& pattern);

/// The length of each row: exactly these statistics, the same on every machine. All rows but one
/// stay far below the longest. Throws `Error` (usage) where no lengths of that kind have the
/// statistics.
std::vector<Index> row_lengths(const RowStatistics& statistics, std::uint64_t seed);

}  // namespace heddle::bench
