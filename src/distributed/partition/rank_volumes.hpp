// The amounts that the ranks of a partition would store and exchange, counted without making them.
#pragma once

#include <vector>

#include "heddle/csr.hpp"
#include "heddle/export.hpp"
#include "heddle/partition.hpp"

namespace heddle::detail {

/// The amounts of one rank. Rows and entries are stored whole, as `DistributedOperator` does.
struct RankVolume {
  long long rows = 0;
  long long entries = 0;
  long long interior_rows = 0;
  long long interior_entries = 0;
  long long remote_entries = 0;  // those in columns of other ranks
  long long received = 0;        // rows of x, in a product
  long long sent = 0;
  long long senders = 0;  // ranks that send some, and ranks that need some
  long long receivers = 0;
};

/// The amounts of each rank. `pattern` is square, and lies in host memory.
HEDDLE_EXPORT std::vector<RankVolume> rank_volumes(const PatternView& pattern,
                                                   const Partition& partition);

/// The most of each number over all ranks, but the fewest interior rows and entries.
HEDDLE_EXPORT RankVolume worst_of(const std::vector<RankVolume>& volumes);

}  // namespace heddle::detail
