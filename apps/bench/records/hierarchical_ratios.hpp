// Summary of the suite `hierarchical`: a line for each comparison of a tree with something else.
#pragma once

#include <vector>

#include "record_groups.hpp"

namespace heddle::bench {

/// Ratios in double precision over the problems that have both sides: their number, geometric mean,
/// the worst ratio and its problem. Ratios are times of others over those of the chosen tree, A* x
/// over A x, shares of the bandwidth of a copy, memory over that of CSR (in both precisions), and
/// times of edits over a product, over rebuilt compressed rows, and for one node by sizes.
Matrix hierarchical_ratios(const std::vector<const Record*>& records);

}  // namespace heddle::bench
