// The tables of the suite `hierarchical`, as the paper on HiSparse has them (Derler et al. 2017,
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

/// Bytes an entry; mean and deviation of times over all problems, and of the time for a compulsory
/// byte; what that comes to beside others; then every median. Empty ones are left out.
std::vector<TitledMatrix> hierarchical_tables(const std::vector<const Record*>& records);

}  // namespace heddle::bench
