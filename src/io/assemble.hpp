// Turns entries in any order into sorted rows without duplicates.
#pragma once

#include "heddle/array.hpp"
#include "heddle/entries/slots.hpp"

namespace heddle::io {

/// Sorts every row by column; numbers of entries with the same column, `components` each (0 for a
/// pattern), are added in the order in which they stand. Returns the first row whose sum is not
/// finite, else -1.
Index sort_and_sum_rows(Array<Offset>& offsets, Array<Index>& column, Array<double>& values,
                        int components, const Device& device);

}  // namespace heddle::io
