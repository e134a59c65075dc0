// Sums of ranks that are threads of one process, joined on each one's GPU.
#pragma once

#include <memory>
#include <vector>

#include "group_tree.hpp"
#include "heddle/array.hpp"
#include "heddle/communicator.hpp"

namespace heddle::cuda {

/// Each rank leaves the sums of its subtrees in pinned memory of the host, and joins those of all
/// ranks itself, in the order of the tree. GPUs wait for one another by events, the hosts for none:
/// they only tell that an event is recorded. Two places take turns: who writes one again has
/// waited, one sum before, for all that read it two sums before. Defined in builds with CUDA.
class RankSums {
 public:
  /// Collective.
  RankSums(Communicator& ranks, const detail::GroupTree& tree, const Device& device);
  /// Waits for what it has queued.
  ~RankSums();
  RankSums(const RankSums&) = delete;
  RankSums& operator=(const RankSums&) = delete;

  // Of one sum, in this order.

  /// Room for the sums of this rank's subtrees, one subtree behind the other.
  double* mine();
  /// They are there when the stream has come so far. The hosts of all ranks meet behind it.
  void tell(const Stream& stream);
  /// `count` sums over all ranks into `to`, in the GPU's memory.
  void join(int count, double* to, const Stream& stream);

  /// On the GPU.
  long long memory() const;

 private:
  struct Port;
  struct Joining {
    int to, from;
  };

  Device device_;
  int rank_;
  int root_;
  std::vector<std::shared_ptr<Port>> ports_;  // of all ranks
  Array<int> rank_of_node_, first_node_;      // of a node; of a rank
  Array<Joining> joinings_;                   // those that need no other of them first, and so on
  Array<int> levels_;                         // where these begin, and the end
  Array<const double*> places_[2];            // of each rank
  Array<double> room_;                        // for nodes that shared memory does not hold
  unsigned round_ = 0;
};

}  // namespace heddle::cuda
