#include "group_sums_cuda.hpp"

#include <algorithm>

#include "base/cuda_call.hpp"
#include "heddle/detail/reduction.hpp"

namespace heddle::cuda {

namespace {

constexpr unsigned most_threads_of_node = 1024;

__device__ double joined(double a, double b, bool adds) {
  if (adds) return a + b;
  return a > b || isnan(a) ? a : b;
}

/// A block joins a node's groups, of which the rank has `groups`: each thread a subtree, then the
/// threads theirs. Numbers of threads, of groups of a node and of parts of a group are powers of
/// two.
__global__ void __launch_bounds__(most_threads_of_node)
    join_nodes(const detail::GroupNode* nodes, long long groups, const Index* group_at,
               double* partials, int parts, int count, bool adds, double* results) {
  __shared__ double of_thread[most_threads_of_node];
  const detail::GroupNode node = nodes[blockIdx.x];
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  const long long end = min(node.first + node.width, groups);
  const long long of_each = max(node.width / threads, 1LL);
  const long long first = node.first + thread * of_each;
  const long long behind = min(first + of_each, end);
  for (int v = 0; v < count; ++v) {
    const auto partial = [&](long long group) -> double& {
      return partials[static_cast<long long>(group_at[group]) * parts * count + v];
    };
    for (int half = 1; half < parts; half *= 2) {
      for (long long group = first; group < behind; ++group) {
        double* const part = &partial(group);
        for (int p = 0; p < parts; p += 2 * half) part[p * count] += part[(p + half) * count];
      }
    }
    for (long long half = 1; half < of_each; half *= 2) {
      for (long long group = first; group + half < behind; group += 2 * half) {
        partial(group) = joined(partial(group), partial(group + half), adds);
      }
    }
    of_thread[thread] = first < end ? partial(first) : 0;
    __syncthreads();
    for (int half = 1; half < threads; half *= 2) {
      if (thread % (2 * half) == 0 && first + half * of_each < end) {
        of_thread[thread] = joined(of_thread[thread], of_thread[thread + half], adds);
      }
      __syncthreads();
    }
    if (thread == 0) results[blockIdx.x * count + v] = of_thread[0];
    __syncthreads();
  }
}

}  // namespace

/// In pinned memory of the host.
struct GroupSums::Results {
  Results(std::size_t nodes, const Stream& stream) {
    if (nodes == 0) return;
    const OnGpu here(stream);
    void* data = nullptr;
    check(cudaHostAlloc(&data, nodes * Reduction<double>::width * sizeof(double),
                        cudaHostAllocMapped | cudaHostAllocPortable),
          "cudaHostAlloc");
    numbers = static_cast<double*>(data);
  }
  ~Results() {
    if (numbers != nullptr) cudaFreeHost(numbers);
  }
  Results(const Results&) = delete;
  Results& operator=(const Results&) = delete;

  double* numbers = nullptr;
};

GroupSums::GroupSums(const std::vector<detail::GroupNode>& nodes,
                     const std::vector<Index>& group_at, const Device& device)
    : nodes_(std::span<const detail::GroupNode>(nodes), device),
      group_at_(std::span<const Index>(group_at), device),
      threads_(32),
      results_(std::make_unique<Results>(nodes.size(), device.stream())) {
  for (const detail::GroupNode& node : nodes) {
    while (threads_ < most_threads_of_node && threads_ < node.width) threads_ *= 2;
  }
}

GroupSums::~GroupSums() = default;

void GroupSums::queue(double* partials, int parts, int count, RowShare::Join how, double* to,
                      const Stream& stream) {
  if (nodes_.empty()) return;
  const OnGpu here(stream);
  join_nodes<<<static_cast<unsigned>(nodes_.size()), threads_, 0, stream.queue>>>(
      nodes_.data(), static_cast<long long>(group_at_.size()), group_at_.data(), partials, parts,
      count, how == RowShare::Join::sum, to);
  check(cudaGetLastError(), "launch of the join of partial sums");
}

std::span<const double> GroupSums::join(double* partials, int count, RowShare::Join how,
                                        const Stream& stream) {
  queue(partials, 1, count, how, results_->numbers, stream);
  check(cudaStreamSynchronize(stream.queue), "cudaStreamSynchronize");
  return {results_->numbers, nodes_.size() * static_cast<std::size_t>(count)};
}

}  // namespace heddle::cuda
