// Patterns for 16-bit columns: some slices have room for them, others do not.
#pragma once

#include "support/random_matrix.hpp"

namespace heddle::test {

inline constexpr Index columns_of_two_kinds = 200'003;

/// Rows whose columns lie near those of their neighbours, except every `far`-th one, which spreads
/// over all columns.
inline Pattern pattern_of_two_kinds(Index rows, Index far, Generator& generator) {
  Pattern pattern;
  pattern.rows = rows;
  pattern.columns = columns_of_two_kinds;
  for (Index row = 0; row < rows; ++row) {
    const int length = random_between(0, 9, generator);
    const bool reaches = row % far == 0;
    Index at = reaches ? 0 : row / 16 * 500;
    for (int j = 0; j < length; ++j) {
      at += random_between(1, reaches ? 20'000 : 200, generator);
      pattern.column.push_back(at);
    }
    pattern.offsets.push_back(static_cast<Offset>(pattern.column.size()));
  }
  return pattern;
}

}  // namespace heddle::test
