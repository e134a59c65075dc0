// Sums of ranks with a GPU each, joined by the kernels that use them to decide.
#pragma once

#include <memory>
#include <vector>

#include "distributed/partition/group_tree.hpp"
#include "heddle/array.hpp"
#include "heddle/communicator.hpp"
#include "heddle/kernels/rank_arguments.hpp"

namespace heddle::cuda {

/// A kernel of a graph sends the sums of its rank's nodes to the memory of all ranks, and waits for
/// theirs, see kernels/rank_sums.cuh. Two places take turns: whoever stores one again has seen, one
/// kernel before, that all blocks had read it, since kernels of a rank follow one another. Defined
/// in builds with CUDA.
class PeerSums {
 public:
  /// True if each block of a kernel can join the tree's nodes.
  static bool takes(const detail::GroupTree& tree);

  /// Collective. `tree`: one with nodes of up to `groups_of_node` groups that `takes` accepts.
  /// `group_at`: where this rank's groups, in their order, lie in fields. `given_up`: that of
  /// `RankSums`.
  PeerSums(Communicator& ranks, const detail::GroupTree& tree, const std::vector<Index>& group_at,
           const int* given_up, const Device& device);
  ~PeerSums();
  PeerSums(const PeerSums&) = delete;
  PeerSums& operator=(const PeerSums&) = delete;

  /// For the next kernel that joins sums, on a stream that is being captured. Each capture has an
  /// even number of these, so that turns go on when its graph is launched again: bodies that hosts
  /// replay, and no start before them.
  device::SumsOfRanks of_next_kernel(const Stream& stream);
  /// Bytes on the GPU.
  long long memory() const;

 private:
  struct Port;

  Device device_;
  std::vector<std::shared_ptr<Port>> ports_;  // one for each rank
  Array<Index> group_at_;
  Array<int> groups_, levels_;
  Array<device::PeerPacket*> inboxes_;
  Array<device::NodeJoining> joinings_;
  Array<unsigned> rounds_;
  device::SumsOfRanks of_all_{};
  unsigned long long capture_ = 0;
};

}  // namespace heddle::cuda
