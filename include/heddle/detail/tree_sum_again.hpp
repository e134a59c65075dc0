// Sums of trees whose places are those of a sum before.
#pragma once

#include "heddle/detail/tree_sum.hpp"

namespace heddle::detail {

/// Writes the leaves of A + B where C, a sum in one pool, has them, but into `to`; inner nodes are
/// left alone. `combine` adds, and leaves entries that A alone has as they are. Unless it
/// `is_known` that A and B have the pattern of C together, that is counted first: false, with
/// nothing written, where they have another one. Throws `Error` as `sum_of_trees`.
HEDDLE_EXPORT bool write_sum_again(const ScheduledTree& C, const ScheduledTree& A,
                                   const ScheduledTree& B, bool is_known,
                                   const CombineEntries& combine, Pool& to, const Device& device);

}  // namespace heddle::detail
