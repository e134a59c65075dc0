#include "heddle/detail/trees/tree_walk_cuda.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "base/cuda_call.hpp"
#include "base/device_cuda.hpp"
#include "heddle/error.hpp"
#include "hierarchical/tree_program.hpp"
#include "spmv/kernel_library_cuda.hpp"

namespace heddle::cuda {

TreeWalk::TreeWalk(TreeEntry entry, std::shared_ptr<const TreeOnGpu> matrix, const Device& device)
    : entry_(std::move(entry)), matrix_(std::move(matrix)), device_(device) {
  if (entry_.text.type.empty()) {
    throw Error(ErrorKind::unsupported,
                "this entry cannot run on a GPU: HEDDLE_ENTRY(type, header) gives its text");
  }
  const detail::Tree& tree = matrix_->matrix().tree();
  const auto make_queue = [&](device::NodeQueue queue, long long nodes) {
    if (nodes > std::numeric_limits<Index>::max()) {
      throw Error(ErrorKind::unsupported,
                  "schedule=tree takes fewer than 2^31 nodes; use larger nodes");
    }
    queues_[queue] = Array<device::QueuedNode>(static_cast<std::size_t>(nodes), device_);
  };
  const NodeCounts& leaves = tree.memory.leaves;
  const long long single = leaves.of_kind[static_cast<std::size_t>(NodeKind::coo1)];
  make_queue(device::queue_of_inner, tree.memory.inner.nodes());
  make_queue(device::queue_of_single, single);
  make_queue(device::queue_of_few, leaves.nodes() - single);
  make_queue(device::queue_of_many, leaves.nodes() - single);
  counters_ = Array<unsigned>(device::queue_counters, device_);
  pools_ = Array<unsigned long long>(matrix_->addresses(), device_);
  const Stream stream = device_.stream();
  const KernelSource source =
      tree_walk_source(tree_program(entry_, tree.leaf.log2_size, 1, device::store_scaled));
  begin_ = load_kernel(source, "heddle_begin_tree_walk", stream);
  walk_ = load_kernel(source, "heddle_tree_walk", stream);
  device_.synchronize();  // a launch may be on another stream
}

void TreeWalk::check_operand(const void* data, bool is_aos, const char* name) const {
  if (!is_aos) {
    throw Error(ErrorKind::size_mismatch,
                std::string(name) +
                    " is not AoS, which a tree needs; `permute` copies it into a field that is");
  }
  check_kernel_operand(data, name, device_.stream());
}

long long TreeWalk::bytes() const {
  auto bytes = static_cast<long long>(counters_.size() * sizeof(unsigned) +
                                      pools_.size() * sizeof(unsigned long long));
  for (const auto& queue : queues_) {
    bytes += static_cast<long long>(queue.size() * sizeof(device::QueuedNode));
  }
  return bytes;
}

template <class T>
void TreeWalk::launch_with(double alpha, const void* x, double beta, void* y,
                           const Stream& stream) const {
  const detail::Tree& tree = matrix_->matrix().tree();
  const bool is_transposed = entry_.form != detail::TreeForm::direct;
  device::TreeWalkArguments<char, T> arguments{};
  for (std::size_t queue = 0; queue < queues_.size(); ++queue) {
    arguments.queues[queue] = const_cast<device::QueuedNode*>(queues_[queue].data());
  }
  arguments.counters = const_cast<unsigned*>(counters_.data());
  arguments.pools = pools_.data();
  arguments.x = static_cast<const char*>(x);
  arguments.y = static_cast<char*>(y);
  arguments.alpha = static_cast<T>(alpha);
  arguments.beta = static_cast<T>(beta);
  arguments.root = tree.root;
  arguments.level_of_root = detail::levels_of(tree.rows, tree.columns, tree.leaf.log2_size) - 1;
  arguments.leaves = static_cast<unsigned>(tree.memory.leaves.nodes());
  arguments.scalars_of_y = Offset(is_transposed ? tree.columns : tree.rows) * entry_.row_components;
  constexpr unsigned threads = 32 * warps_of_walk;
  const auto most = static_cast<unsigned>(8 * multiprocessors(stream));
  void* pointers[] = {&arguments};
  const auto of_y = static_cast<unsigned>(
      std::min<Offset>(most, (arguments.scalars_of_y + threads - 1) / threads));
  cuda::launch(static_cast<cudaKernel_t>(begin_),
               {.blocks = std::max(1U, of_y), .threads = threads}, stream, pointers);
  if (arguments.leaves == 0) return;
  // One warp per leaf, and some more for the nodes above the leaves.
  const unsigned wanted = arguments.leaves / warps_of_walk + 1;
  cuda::launch(static_cast<cudaKernel_t>(walk_),
               {.blocks = std::min(most, wanted), .threads = threads}, stream, pointers);
}

void TreeWalk::launch(double alpha, const void* x, double beta, void* y,
                      const Stream& stream) const {
  const OnGpu here(stream);
  if (entry_.shape.scalar_bytes == 8) {
    launch_with<double>(alpha, x, beta, y, stream);
  } else {
    launch_with<float>(alpha, x, beta, y, stream);
  }
}

}  // namespace heddle::cuda
