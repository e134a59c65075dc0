// What the suite `hierarchical` comes to: a line for each thing that a tree is compared with.
#pragma once

#include <vector>

#include "record_groups.hpp"

namespace heddle::bench {

/// Ratios in double precision over the problems that have both sides: how many, their geometric
/// mean, the worst one and its problem. Times of others over those of the chosen tree, A* x over
/// A x, shares of the bandwidth of a copy, memory over that of CSR (of both precisions), and times
/// of edits over a product, over compressed rows anew, and of one node by sizes.
Matrix hierarchical_ratios(const std::vector<const Record*>& records);

}  // namespace heddle::bench
