// The columns of other ranks that a rank needs, and the ranks that send them.
#pragma once

#include <vector>

#include "heddle/communicator.hpp"
#include "heddle/entries/slots.hpp"
#include "heddle/partition.hpp"

namespace heddle::detail {

/// Rows from or for another rank: `count` from place `first` on.
struct HaloPart {
  int rank;
  Index first;
  Index count;
};

struct Halo {
  std::vector<long long> columns;  // ascending, as ranks number their rows
  std::vector<HaloPart> receives;  // places in `columns`
  std::vector<HaloPart> sends;     // places in `sent_rows`
  std::vector<Index> sent_rows;    // rows of this rank, counted from its first one
};

/// Reports to the owners of `columns`, which ascend, what this rank needs from them. Collective.
Halo make_halo(Communicator& ranks, const Partition& partition, std::vector<long long> columns);

}  // namespace heddle::detail
