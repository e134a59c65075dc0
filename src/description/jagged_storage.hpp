// The storage named pJDS next to ELLPACK's, and next to the one of its paper (Kreutzer et al. 2012,
// section 2.1).
#pragma once

#include <span>

#include "heddle/tuning/features.hpp"

namespace heddle::detail {

/// Slices of 32 rows sorted by length have the slots of the paper's blocks of as many rows, in
/// another order: slice by slice instead of column by column. So they keep an offset for each slice
/// in place of the start of each column.
struct JaggedStorage {
  double saved = 0;             // fraction of the bytes that a product reads of ELLPACK-R
  double padding = 0;           // slots without an entry, over the entries
  long long slice_bytes = 0;    // offsets of slices
  long long column_starts = 0;  // bytes of `col_start` in the paper: 4 for each column
};

/// All zeros unless both layouts are in the list: sorted rows need a square matrix.
JaggedStorage jagged_storage(std::span<const LayoutMemory> layouts, const Features& features);

}  // namespace heddle::detail
