// How many items ranks have for one another, as lists of the ranks that have any.
#pragma once

#include <vector>

#include "heddle/communicator.hpp"

namespace heddle::detail {

struct CountForRank {
  long long rank;
  long long count;

  bool operator==(const CountForRank&) const = default;
};

/// The counts that each rank has for this one, in the order of ranks; `mine` is what this one has
/// for others. There is memory for a few lists at a time only, however many ranks there are.
/// Collective.
std::vector<CountForRank> counts_for_this(Communicator& ranks,
                                          const std::vector<CountForRank>& mine);

}  // namespace heddle::detail
