// Partial sums of a rank's groups of rows, joined on its GPU.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "distributed/partition/group_tree.hpp"
#include "heddle/array.hpp"
#include "heddle/row_share.hpp"

namespace heddle::cuda {

/// Neighbouring groups, in the order of all rows: up to 256, a subtree of a node.
struct GroupTile {
  long long first;
  int groups;
  int node;
};
/// The tiles of a node; `width`: their number if it were full, 0 for less than a tile.
struct NodeTiles {
  int first, tiles, width;
};

/// The data by which a kernel joins a rank's groups, see group_sums_cuda.cuh.
struct GroupJoin {
  const GroupTile* tiles;
  const NodeTiles* nodes;
  const Index* group_at;
  const double* partials;
  int parts, count;
  bool adds;  // or takes the largest
  double* of_tiles;
  unsigned* finished;
};

/// Joins the groups within the subtrees of one rank, in the tree that `detail::join_node` walks
/// over. Defined in builds with CUDA.
class GroupSums {
 public:
  /// `nodes`: the rank's subtrees, of its groups in the order of all rows. `group_at`: where each
  /// of these groups lies in fields.
  GroupSums(const std::vector<detail::GroupNode>& nodes, const std::vector<Index>& group_at,
            const Device& device);
  ~GroupSums();

  /// Writes `count` numbers of each node, one node after another, from partial sums on the GPU into
  /// `to`, in stream order: one call at a time. `parts`: those of a group, 1, 2, 4 or 8. Allocates,
  /// and waits, if there are more numbers than ever before.
  void queue(const double* partials, int parts, int count, RowShare::Join how, double* to,
             const Stream& stream);
  /// Same as a part of another kernel, for up to `Reduction::width` numbers, with a block for each
  /// of `tiles()`.
  GroupJoin join_of(const double* partials, int parts, int count, RowShare::Join how);
  unsigned tiles() const { return static_cast<unsigned>(tiles_.size()); }
  /// Like `queue`, but waits for the stream; the result is valid until the next call.
  std::span<const double> join(const double* partials, int parts, int count, RowShare::Join how,
                               const Stream& stream);

 private:
  struct Results;
  void reserve(int count);

  std::size_t nodes_;
  int max_numbers_ = 0;
  Device device_;
  Array<Index> group_at_;
  Array<GroupTile> tiles_;
  Array<NodeTiles> tiles_of_node_;
  Array<double> of_tiles_;    // their sums
  Array<unsigned> finished_;  // tiles of each node; zero between calls
  std::vector<std::pair<Array<double>, Array<unsigned>>> retired_;  // graphs may still hold them
  std::unique_ptr<Results> results_;
};

}  // namespace heddle::cuda
