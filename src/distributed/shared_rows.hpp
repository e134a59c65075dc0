// The rows of all ranks, as seen by sums over fields.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "distributed/partition/group_tree.hpp"
#include "heddle/communicator.hpp"
#include "heddle/device.hpp"
#include "heddle/partition.hpp"
#include "heddle/row_share.hpp"
#include "solvers/gpu_loops/ranks_in_loop.hpp"

namespace heddle {

namespace cuda {
class GroupSums;
class PeerSums;
class RankSums;
}  // namespace cuda

namespace detail {

class SharedRows final : public RowShare, public cuda::RanksInLoop {
 public:
  /// `places`: for each group of this rank's fields, its place among the groups of all ranks.
  SharedRows(Communicator& ranks, const Partition& partition, std::vector<long long> places,
             const Device& device);

  Index rows() const override { return rows_; }
  long long all_rows() const override { return all_rows_; }
  long long place_of_group(Index group) const override {
    return places_[static_cast<std::size_t>(group)];
  }
  void join(double* partials, int stride, int count, double* to, Join how) override {
    join_numbers(partials, stride, count, to, how);
  }
  void join(long double* partials, int stride, int count, long double* to, Join how) override {
    join_numbers(partials, stride, count, to, how);
  }
  device::LoopEnd agree(device::LoopEnd own) override {
    own_end_ = own;
    return end_of_all_;
  }

  void join_on_gpu(double* partials, int count, double* to, Join how,
                   const Stream& stream) override;

  /// Comes before the first `queue_join`. `product`: that of `matrix`, and as long-lived.
  /// Collective.
  void connect(const Device& device, const void* matrix, cuda::RankProduct& product);
  void queue_join(double* partials, int parts, int count, double* to,
                  const Stream& stream) override;

  device::SumsOfRanks next_sums(const Stream& stream) override;

  cuda::RankProduct* product_of(const void* matrix) const override {
    return matrix == matrix_ ? product_ : nullptr;
  }
  bool may_be_captured(const void* matrix) const override {
    const cuda::RankProduct* const product = product_of(matrix);
    return product != nullptr && given_up() != nullptr && product->may_be_captured();
  }
  void meet() override;
  void give_up() noexcept override;
  bool has_given_up() const override {
    const volatile int* const word = given_up();
    return word != nullptr && *word != 0;
  }
  /// Same as for `RankSums`, after `connect`.
  const int* given_up() const;

  long long memory() const;                    // for joining sums in loops on a GPU
  double seconds() const { return seconds_; }  // in joins; on a GPU, without its work

 private:
  /// Like `join_on_gpu`, with `parts` sums of each group.
  void join_by_hosts(const double* partials, int parts, int count, double* to, Join how,
                     const Stream& stream);
  template <class T>
  void join_numbers(T* partials, int stride, int count, T* to, Join how);
  /// Continues from the joins of this rank's nodes: `node(n)` are the numbers of the n-th one.
  template <class T, class Node>
  void join_nodes(const Node& node, int count, T* to, Join how);

  Communicator& ranks_;
  Index rows_;
  long long all_rows_;
  std::vector<long long> places_;
  std::vector<Index> group_at_;  // in fields, in the order of their places
  GroupTree tree_;
  GroupTree tree_of_kernels_;         // with nodes that a block joins
  std::vector<GroupNode> own_nodes_;  // for groups in that order
  std::vector<std::byte> mine_, all_;
  std::vector<int> sizes_;
  std::vector<long long> ends_;  // why each rank wants to end
  std::vector<int> sizes_of_ends_;
  device::LoopEnd own_end_ = device::loop_runs;
  device::LoopEnd end_of_all_ = device::loop_runs;
  double seconds_ = 0;
  // Shared, as their destructors are built only with CUDA.
  std::shared_ptr<cuda::GroupSums> on_gpu_;
  std::shared_ptr<cuda::RankSums> of_ranks_;    // null if hosts join
  std::shared_ptr<cuda::PeerSums> in_kernels_;  // null if kernels before others join
  const void* matrix_ = nullptr;
  cuda::RankProduct* product_ = nullptr;
};

}  // namespace detail

}  // namespace heddle
