// Sums of ranks, joined on each rank's GPU.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "base/stream_watch_cuda.hpp"
#include "distributed/partition/group_tree.hpp"
#include "group_sums_cuda.hpp"
#include "heddle/array.hpp"
#include "heddle/communicator.hpp"
#include "heddle/kernels/rank_arguments.hpp"

namespace heddle::cuda {

class NcclCommunicator;

/// Each rank leaves the sums of its subtrees in pinned host memory, and joins those of all ranks
/// itself, in the order of the tree. GPUs wait for one another by events, hosts for none: they only
/// report that an event is recorded. Two places take turns: whoever writes one again has waited,
/// one sum before, for all that read it two sums before.
///
/// If each rank has a GPU of its own, and these reach each other, a kernel does it alone, so that a
/// graph may hold it: it stores the numbers in the memory of all others, and waits for theirs.
/// Ranks of one GPU might wait there for one another's kernels to begin.
///
/// If NCCL is the transfer, it gathers the sums of all ranks on each GPU. Not for staged transfers,
/// whose hosts join sums. Defined in builds with CUDA.
class RankSums {
 public:
  /// Collective.
  RankSums(Communicator& ranks, const detail::GroupTree& tree, const Device& device);
  /// Waits for the work that it has queued.
  ~RankSums();
  RankSums(const RankSums&) = delete;
  RankSums& operator=(const RankSums&) = delete;

  // The steps of one sum, in this order.

  /// Room for the sums of this rank's subtrees, one subtree after another.
  double* mine();
  /// The sums are there once the stream has come this far. The hosts of all ranks meet after that.
  void tell(const Stream& stream);
  /// `count` sums over all ranks into `to`, in the GPU's memory.
  void join(int count, double* to, const Stream& stream);

  /// True if a stream is being captured, where that kernel takes part.
  bool joins_captured(const Stream& stream) const;
  /// All of the above by that kernel, for partial sums on the GPU.
  void join_captured(GroupSums& groups, const double* partials, int parts, int count, double* to,
                     const Stream& stream);
  /// Not 0 once a rank has given up; null if kernels cannot wait for other ranks. The same on all
  /// ranks.
  const int* given_up() const;
  /// From now on no kernel of any rank waits for others.
  void give_up() noexcept;

  /// Bytes on the GPU.
  long long memory() const;

  using Joining = device::NodeJoining;
  /// The tree over the nodes of all ranks, as kernels join it.
  struct NodeTree {
    const int* levels;
    const Joining* joinings;
    int nodes, level_count, root;
    double* storage;  // null: shared memory holds the nodes
  };

 private:
  struct Port;

  NodeTree node_tree();
  std::size_t shared_bytes(int count) const;
  void share(Communicator& ranks, const std::shared_ptr<Port>& own);
  std::size_t gathered_of_rank() const { return gathered_.size() / ranks_; }

  Device device_;
  int rank_;
  std::size_t ranks_;
  int root_;
  int first_own_node_ = 0;
  std::vector<std::shared_ptr<Port>> ports_;  // one for each rank
  NcclCommunicator* nccl_ = nullptr;          // in place of ports
  Array<double> gathered_;                    // by NCCL, as many numbers for each rank
  Array<int> rank_of_node_, first_node_;      // for each node; for each rank
  Array<Joining> joinings_;                   // first those that need no other, and so on
  Array<int> levels_;                         // where these levels begin, and the end
  Array<const double*> places_[2];            // for each rank
  Array<double> storage_;                     // for nodes that shared memory does not hold
  bool meet_in_kernels_ = false;
  Array<device::PeerPacket*> inboxes_;  // one for each rank
  Array<unsigned> last_round_;          // those kernels' last
  unsigned round_ = 0;
  std::optional<StreamWatch> watch_;  // if NCCL gathers
};

}  // namespace heddle::cuda
