#include "group_sums_cuda.hpp"

#include <algorithm>

#include "base/cuda_call.hpp"
#include "heddle/detail/reduction.hpp"

namespace heddle::cuda {

namespace {

constexpr int warp = 32;
constexpr int groups_of_tile = 256;  // and threads of a block
constexpr int numbers_of_block = Reduction<double>::width;

__device__ double joined(double a, double b, bool adds) {
  if (adds) return a + b;
  return a > b || isnan(a) ? a : b;
}

/// The pairwise tree over the first `present` threads' values; the result is that of thread 0.
__device__ double join_over_block(double value, int present, bool adds) {
  constexpr int warps = groups_of_tile / warp;
  __shared__ double of_warp[warps];
  const int thread = static_cast<int>(threadIdx.x);
  for (int half = 1; half < warp; half *= 2) {
    const double behind = __shfl_down_sync(~0u, value, half);
    if (thread % (2 * half) == 0 && thread + half < present) value = joined(value, behind, adds);
  }
  __syncthreads();  // the numbers before are read
  if (thread % warp == 0) of_warp[thread / warp] = value;
  __syncthreads();
  if (thread >= warp) return value;
  value = of_warp[thread % warps];
  for (int half = 1; half < warps; half *= 2) {
    const double behind = __shfl_down_sync(~0u, value, half);
    if (thread % (2 * half) == 0 && (thread + half) * warp < present) {
      value = joined(value, behind, adds);
    }
  }
  return value;
}

__device__ double sum_of_parts(const double* from, int parts, int count) {
  if (parts == 1) return from[0];
  if (parts == 2) return from[0] + from[count];
  return (from[0] + from[count]) + (from[2 * count] + from[3 * count]);
}

/// A block joins the groups of a tile, and the last block of a node its tiles: those are so few
/// that a kernel of their own would take longer to begin. The grid's y are `numbers_of_block` of
/// the numbers each.
__global__ void __launch_bounds__(groups_of_tile)
    join_nodes(const GroupTile* tiles, const NodeTiles* nodes, const Index* group_at,
               const double* partials, int parts, int count, bool adds, double* of_tiles,
               unsigned* finished, double* results) {
  __shared__ bool is_last;
  const int first_number = static_cast<int>(blockIdx.y) * numbers_of_block;
  const int end_number = min(count, first_number + numbers_of_block);
  const GroupTile tile = tiles[blockIdx.x];
  const NodeTiles node = nodes[tile.node];
  const int thread = static_cast<int>(threadIdx.x);
  const double* const from =
      thread < tile.groups
          ? partials + static_cast<long long>(group_at[tile.first + thread]) * parts * count
          : nullptr;
  double* const to = node.tiles == 1 ? results + static_cast<long long>(tile.node) * count
                                     : of_tiles + static_cast<long long>(blockIdx.x) * count;
  for (int v = first_number; v < end_number; ++v) {
    const double own = from != nullptr ? sum_of_parts(from + v, parts, count) : 0;
    const double sum = join_over_block(own, tile.groups, adds);
    if (thread == 0) to[v] = sum;
  }
  if (node.tiles == 1) return;
  if (thread == 0) {
    __threadfence();
    unsigned* const of_node = finished + static_cast<long long>(tile.node) * gridDim.y + blockIdx.y;
    is_last = atomicAdd(of_node, 1u) + 1 == static_cast<unsigned>(node.tiles);
    if (is_last) *of_node = 0;
    __threadfence();
  }
  __syncthreads();
  if (!is_last) return;
  // A thread joins a subtree of tiles, where there are more of them than threads.
  const int of_each = max(node.width / groups_of_tile, 1);
  const int first = thread * of_each, end = min(first + of_each, node.tiles);
  const int present = (node.tiles + of_each - 1) / of_each;
  for (int v = first_number; v < end_number; ++v) {
    double* const of_node = of_tiles + static_cast<long long>(node.first) * count + v;
    for (int half = 1; half < of_each; half *= 2) {
      for (int at = first; at + half < end; at += 2 * half) {
        double* const a = of_node + static_cast<long long>(at) * count;
        const double* const b = of_node + static_cast<long long>(at + half) * count;
        __stcg(a, joined(__ldcg(a), __ldcg(b), adds));
      }
    }
    const double own =
        thread < present ? __ldcg(of_node + static_cast<long long>(first) * count) : 0;
    const double sum = join_over_block(own, present, adds);
    if (thread == 0) results[static_cast<long long>(tile.node) * count + v] = sum;
  }
}

}  // namespace

/// In pinned memory of the host.
struct GroupSums::Results {
  Results(std::size_t count, const Stream& stream) {
    if (count == 0) return;
    const OnGpu here(stream);
    void* data = nullptr;
    check(cudaHostAlloc(&data, count * sizeof(double), cudaHostAllocMapped | cudaHostAllocPortable),
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
    : nodes_(nodes.size()), device_(device), group_at_(std::span<const Index>(group_at), device) {
  const auto groups = static_cast<long long>(group_at.size());
  std::vector<GroupTile> tiles;
  std::vector<NodeTiles> tiles_of_node;
  for (const detail::GroupNode& node : nodes) {
    const long long end = std::min(node.first + node.width, groups);
    const auto first_tile = static_cast<int>(tiles.size());
    for (long long first = node.first; first < end; first += groups_of_tile) {
      tiles.push_back({first, static_cast<int>(std::min<long long>(groups_of_tile, end - first)),
                       static_cast<int>(tiles_of_node.size())});
    }
    tiles_of_node.push_back({first_tile, static_cast<int>(tiles.size()) - first_tile,
                             static_cast<int>(node.width / groups_of_tile)});
  }
  tiles_ = Array<GroupTile>(std::span<const GroupTile>(tiles), device);
  tiles_of_node_ = Array<NodeTiles>(std::span<const NodeTiles>(tiles_of_node), device);
  reserve(numbers_of_block);
}

GroupSums::~GroupSums() = default;

void GroupSums::reserve(int count) {
  if (count <= most_numbers_) return;
  count = std::max(count, 2 * most_numbers_);  // bases grow, vector by vector
  const auto numbers = static_cast<std::size_t>(count);
  const std::size_t blocks = (numbers + numbers_of_block - 1) / numbers_of_block;
  device_.synchronize();
  results_ = std::make_unique<Results>(nodes_ * numbers, device_.stream());
  of_tiles_ = Array<double>(tiles_.size() * numbers, device_);
  finished_ = Array<unsigned>(nodes_ * blocks, device_);
  most_numbers_ = count;
}

void GroupSums::queue(const double* partials, int parts, int count, RowShare::Join how, double* to,
                      const Stream& stream) {
  if (nodes_ == 0) return;
  const OnGpu here(stream);
  reserve(count);
  const dim3 grid(static_cast<unsigned>(tiles_.size()),
                  static_cast<unsigned>((count + numbers_of_block - 1) / numbers_of_block));
  join_nodes<<<grid, groups_of_tile, 0, stream.queue>>>(
      tiles_.data(), tiles_of_node_.data(), group_at_.data(), partials, parts, count,
      how == RowShare::Join::sum, of_tiles_.data(), finished_.data(), to);
  check(cudaGetLastError(), "launch of the join of partial sums");
}

std::span<const double> GroupSums::join(const double* partials, int count, RowShare::Join how,
                                        const Stream& stream) {
  reserve(count);
  queue(partials, 1, count, how, results_->numbers, stream);
  check(cudaStreamSynchronize(stream.queue), "cudaStreamSynchronize");
  return {results_->numbers, nodes_ * static_cast<std::size_t>(count)};
}

}  // namespace heddle::cuda
