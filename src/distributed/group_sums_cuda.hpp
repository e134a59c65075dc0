// Partial sums of a rank's groups of rows, joined on its GPU.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "group_tree.hpp"
#include "heddle/array.hpp"
#include "heddle/row_share.hpp"

namespace heddle::cuda {

/// Joins what lies within the subtrees of one rank, in the tree that `detail::join_range` walks
/// over. Defined in builds with CUDA.
class GroupSums {
 public:
  /// `nodes`: the rank's subtrees, of groups counted among all ranks' as `first_group` is.
  /// `group_at`: of each place behind that, where the group lies in fields.
  GroupSums(std::span<const detail::GroupNode> nodes, long long first_group,
            const std::vector<Index>& group_at, const Device& device);
  ~GroupSums();

  /// `count` numbers of each node, one node behind the other, from partial sums on the GPU, which
  /// it overwrites. Waits for the stream; valid until the next call.
  std::span<const double> join(double* partials, int count, RowShare::Join how,
                               const Stream& stream);

 private:
  struct Results;

  std::size_t nodes_;
  Array<detail::GroupNode> of_rank_;  // counted from the rank's first group
  Array<Index> group_at_;
  std::unique_ptr<Results> results_;
};

}  // namespace heddle::cuda
