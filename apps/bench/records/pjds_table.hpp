// The table of the suite `pjds`, laid out as table 1 of Kreutzer et al. (2012).
#pragma once

#include <vector>

#include "record_groups.hpp"

namespace heddle::bench {

/// The meaning of the columns.
inline constexpr const char* pjds_columns =
    "saved: memory of pJDS less than that of ELLPACK-R; then GFlop/s of a product";

/// A line for each problem and precision: entries of a row, the share of ELLPACK-R's memory that
/// pJDS saves, and GFlop/s of a product in ELLPACK-R, in pJDS, in compressed rows, and by the
/// fastest other library. Figures that a run lacks are left out.
Matrix pjds_table(const std::vector<const Record*>& records);

}  // namespace heddle::bench
