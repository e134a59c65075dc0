// Tables of the suite `hierarchical`, laid out as in the paper on HiSparse (Derler et al. 2017,
// figure 2, tables 1 and 2).
#pragma once

#include <string>
#include <vector>

#include "record_groups.hpp"

namespace heddle::bench {

struct TitledMatrix {
  std::string title;
  std::string corner;
  Matrix matrix;
};

/// Bytes per entry; mean and deviation of times over all problems, and of the time per compulsory
/// byte; the resulting ratios to others; then every median. Empty tables are left out.
std::vector<TitledMatrix> hierarchical_tables(const std::vector<const Record*>& records);

}  // namespace heddle::bench
