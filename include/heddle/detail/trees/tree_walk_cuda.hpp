// The product of a tree on a GPU by a walk that the GPU schedules, see
// kernels/trees/tree_walk.cuh.
#pragma once

#include <array>
#include <memory>

#include "heddle/detail/trees/tree_product_cuda.hpp"
#include "heddle/kernels/trees/tree_queue_arguments.hpp"

namespace heddle::cuda {

/// There is one set of queues, so launches follow one another.
class HEDDLE_EXPORT TreeWalk {
 public:
  /// Compiles its kernels. Throws `Error`: unsupported for entries without text and for 2^31 nodes
  /// of a kind or more, memory where the queues do not fit.
  TreeWalk(TreeEntry entry, std::shared_ptr<const TreeOnGpu> matrix, const Device& device);
  TreeWalk(const TreeWalk&) = delete;
  TreeWalk& operator=(const TreeWalk&) = delete;

  /// y = alpha A x + beta y, for fields as `check_operand` requires.
  void launch(double alpha, const void* x, double beta, void* y, const Stream& stream) const;
  void check_operand(const void* data, bool is_aos, const char* name) const;
  /// Bytes of the queues in the GPU's memory.
  long long bytes() const;

 private:
  template <class T>
  void launch_with(double alpha, const void* x, double beta, void* y, const Stream& stream) const;

  TreeEntry entry_;
  std::shared_ptr<const TreeOnGpu> matrix_;
  Device device_;
  Array<unsigned long long> pools_;
  std::array<Array<device::QueuedNode>, device::node_queues> queues_;
  Array<unsigned> counters_;
  void* begin_ = nullptr;  // kernels
  void* walk_ = nullptr;
};

}  // namespace heddle::cuda
