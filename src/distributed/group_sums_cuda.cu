#include "group_sums_cuda.hpp"

#include <algorithm>

#include "base/cuda_call.hpp"
#include "heddle/detail/reduction.hpp"

namespace heddle::cuda {

namespace {

constexpr int threads = 1024;
/// Two for each level of a tree over 2^31 rows.
constexpr std::size_t most_nodes = 64;
constexpr std::size_t most_numbers = Reduction<double>::width;

struct AllNodes {
  double number[most_nodes * most_numbers];
};

__device__ double joined(double a, double b, bool adds) {
  if (adds) return a + b;
  return a > b || isnan(a) ? a : b;
}

/// A block joins a node's groups, of which there are `groups`: each thread a subtree, then the
/// threads theirs.
__global__ void __launch_bounds__(threads)
    join_nodes(const detail::GroupNode* nodes, long long groups, const Index* group_at,
               double* partials, int count, bool adds, double* results) {
  __shared__ double of_thread[threads];
  const detail::GroupNode node = nodes[blockIdx.x];
  const int thread = static_cast<int>(threadIdx.x);
  const long long end = min(node.first + node.width, groups);
  const long long of_each = max(node.width / threads, 1LL);
  const long long first = node.first + thread * of_each;
  const long long behind = min(first + of_each, end);
  for (int v = 0; v < count; ++v) {
    const auto partial = [&](long long group) -> double& {
      return partials[static_cast<long long>(group_at[group]) * count + v];
    };
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

struct GroupSums::Results {
  explicit Results(const Stream& stream) : of_nodes(stream) {}
  Mapped<AllNodes> of_nodes;
};

GroupSums::GroupSums(std::span<const detail::GroupNode> nodes, long long first_group,
                     const std::vector<Index>& group_at, const Device& device)
    : nodes_(nodes.size()),
      group_at_(std::span(group_at), device),
      results_(std::make_unique<Results>(device.stream())) {
  if (nodes_ > most_nodes) throw Error(ErrorKind::internal, "a rank has too many subtrees");
  std::vector<detail::GroupNode> own(nodes.begin(), nodes.end());
  for (detail::GroupNode& node : own) node.first -= first_group;
  of_rank_ = Array<detail::GroupNode>(std::span<const detail::GroupNode>(own), device);
}

GroupSums::~GroupSums() = default;

std::span<const double> GroupSums::join(double* partials, int count, RowShare::Join how,
                                        const Stream& stream) {
  const OnGpu here(stream);
  if (nodes_ > 0) {
    join_nodes<<<static_cast<unsigned>(nodes_), threads, 0, stream.queue>>>(
        of_rank_.data(), static_cast<long long>(group_at_.size()), group_at_.data(), partials,
        count, how == RowShare::Join::sum, results_->of_nodes->number);
    check(cudaGetLastError(), "launch of the join of partial sums");
  }
  check(cudaStreamSynchronize(stream.queue), "cudaStreamSynchronize");
  return {results_->of_nodes->number, nodes_ * static_cast<std::size_t>(count)};
}

}  // namespace heddle::cuda
