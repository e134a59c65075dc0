// The groups of block Jacobi that contain rows of a rank.
#pragma once

#include <vector>

#include "heddle/distributed_operator.hpp"
#include "solvers/inverses/row_groups.hpp"

namespace heddle::detail {

struct RankGroups {
  GroupStarts starts;             // in all rows of these groups, in their order
  std::vector<long long> ghosts;  // rows of other ranks among them, as ranks number them, ascending
};

/// The groups of one process: of `size` rows each, or natural ones of up to `most` if it is 0. A
/// rank sees only one bit for each row of all. Collective.
RankGroups groups_of_rank(Communicator& ranks, const Partition& partition, const RankRows& own,
                          int size, Index most);

}  // namespace heddle::detail
