// Operations on the tree of a matrix, each a class of its own, scheduled while they run (Derler et
// al. 2017, section 4): a GPU's controller launches kernels for queues of nodes, threads of a CPU
// take nodes from each other. See docs/guide/hierarchical.md.
#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "heddle/config.hpp"
#include "heddle/detail/trees/task_scheduler_cuda.hpp"
#include "heddle/detail/trees/task_team.hpp"
#include "heddle/entry_text.hpp"
#include "heddle/hierarchical_matrix.hpp"
#include "heddle/kernels/trees/tree_operation.hpp"

namespace heddle {

/// Runs one operation on the tree of one matrix, as it is stored: before the form and factor of a
/// matrix's state. `Operation` derives from `TreeOperation`. On a GPU there is one set of queues,
/// so runs must follow one another, and no graph with conditional nodes can hold one; the scheduler
/// outlives its runs on streams other than the device's.
template <class Operation>
class TreeScheduler {
  static_assert(std::is_trivially_copyable_v<Operation>);
  static_assert(std::is_same_v<typename Operation::Task, NodeTask>);

 public:
  TreeScheduler(TreeScheduler&&) noexcept = default;
  TreeScheduler& operator=(TreeScheduler&&) noexcept = default;

  /// Shares the tree. `text` is the name of `Operation` and its headers, like that of an entry, for
  /// a GPU. Throws `Error`: unsupported without a text there, memory where queues do not fit.
  template <class E>
  TreeScheduler(const HierarchicalMatrix<E>& matrix, const EntryText& text)
      : device_(matrix.device()) {
    if constexpr (has_cuda) {
      if (device_.on_gpu()) {
        on_gpu_ = std::make_shared<cuda::TaskScheduler>(text, sizeof(Operation),
                                                        std::vector{matrix.on_gpu()}, device_);
      }
    }
    keep(matrix);
  }

  /// Takes another matrix on the same device, such as an edited one, once work on the last is done;
  /// a GPU's kernels stay, and queues that hold its nodes. Throws `Error` like the constructor, and
  /// usage for another device.
  template <class E>
  void set_matrix(const HierarchicalMatrix<E>& matrix) {
    if (matrix.device().stream().gpu != device_.stream().gpu) {
      throw Error(ErrorKind::usage, "an operation on trees takes matrices of one device");
    }
    if constexpr (has_cuda) {
      if (on_gpu_) on_gpu_->set_trees({matrix.on_gpu()});
    }
    keep(matrix);
  }

  /// Fills in the members that `TreeOperation` has, prepares, and works on every leaf once, in no
  /// order. On a GPU this only queues work on the
  /// stream. Throws `Error` (internal) if the GPU could not launch a kernel of the run before.
  void run(Operation operation, const Stream& stream) const {
    operation.shape = tree_->leaf;
    if constexpr (has_cuda) {
      if (on_gpu_) {
        operation.pools = on_gpu_->pools();
        return on_gpu_->launch(&operation, stream);
      }
    }
    operation.pools = pools_.data();
    parallel_for(team_size(stream, operation.items()), operation.items(),
                 [&](Offset i) { operation.prepare(i); });
    if (tree_->entries == 0) return;
    const int threads = team_size(stream, tree_->entries);
    detail::run_tasks(operation, detail::root_task(*tree_, pools_), threads);
  }

  /// Null on a CPU.
  const std::shared_ptr<cuda::TaskScheduler>& on_gpu() const { return on_gpu_; }

 private:
  template <class E>
  void keep(const HierarchicalMatrix<E>& matrix) {
    matrix_ = std::make_shared<const HierarchicalMatrix<E>>(matrix);
    tree_ = &matrix.tree();
    pools_ =
        device_.on_gpu() ? std::vector<unsigned long long>() : detail::addresses_of_pools(*tree_);
  }

  std::shared_ptr<const void> matrix_;  // keeps the tree
  const detail::Tree* tree_ = nullptr;
  Device device_;
  std::vector<unsigned long long> pools_;  // addresses on a CPU
  std::shared_ptr<cuda::TaskScheduler> on_gpu_;
};

}  // namespace heddle
