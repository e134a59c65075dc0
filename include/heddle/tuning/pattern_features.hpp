// The features of a pattern that decide which plan suits it: a few numbers from one pass over it,
// and a fingerprint that identifies the same pattern.
#pragma once

#include <string>

#include "heddle/csr.hpp"
#include "heddle/export.hpp"

namespace heddle {

struct HEDDLE_EXPORT PatternFeatures {
  Index rows = 0;
  Index columns = 0;
  Offset entries = 0;
  double mean_row = 0;           // entries per row
  double deviation_of_rows = 0;  // standard deviation of the row lengths
  Index longest_row = 0;
  double mean_distance = 0;  // mean |row - column| of entries, divided by the number of columns

  bool operator==(const PatternFeatures&) const = default;
};

/// One pass over rows and columns, in parallel; the pattern lies in the host's memory. The result
/// is the same for any number of threads.
HEDDLE_EXPORT PatternFeatures pattern_features(const PatternView& pattern,
                                               const Device& device = Device::cpu());

/// The distance of two matrices for a plan: Euclidean, in the logarithms (base 2) of rows, columns
/// over rows, mean row, 1 + deviation, longest row over mean row, and 1 + rows x mean distance at a
/// quarter of their weight. 0 for equal features; about 1 for matrices of one kind and twice the
/// size.
HEDDLE_EXPORT double distance(const PatternFeatures& a, const PatternFeatures& b);

/// 32 hexadecimal digits of shape, row lengths and columns as stored, for a pattern in the host's
/// memory: different digits mean a different pattern. The same for 32- and 64-bit offsets and any
/// number of threads.
HEDDLE_EXPORT std::string fingerprint(const PatternView& pattern,
                                      const Device& device = Device::cpu());

}  // namespace heddle
