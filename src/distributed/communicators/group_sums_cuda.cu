#include "group_sums_cuda.cuh"

#include <algorithm>

#include "base/cuda_call.hpp"
#include "base/device_cuda.hpp"

namespace heddle::cuda {

namespace {

__global__ void __launch_bounds__(groups_of_tile) join_nodes(const GroupJoin a, double* results) {
  join_tile(a, blockIdx.x, [&](int node, int v, double sum) {
    results[static_cast<long long>(node) * a.count + v] = sum;
  });
}

}  // namespace

/// Results in pinned host memory.
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
  if (count <= max_numbers_) return;
  count = std::max(count, 2 * max_numbers_);  // bases grow, vector by vector
  const auto numbers = static_cast<std::size_t>(count);
  const std::size_t blocks = (numbers + numbers_of_block - 1) / numbers_of_block;
  device_.synchronize();
  results_ = std::make_unique<Results>(nodes_ * numbers, device_.stream());
  if (max_numbers_ > 0) retired_.emplace_back(std::move(of_tiles_), std::move(finished_));
  of_tiles_ = Array<double>(tiles_.size() * numbers, device_);
  finished_ = Array<unsigned>(nodes_ * blocks, device_);
  max_numbers_ = count;
}

GroupJoin GroupSums::join_of(const double* partials, int parts, int count, RowShare::Join how) {
  return {tiles_.data(), tiles_of_node_.data(),      group_at_.data(), partials,        parts,
          count,         how == RowShare::Join::sum, of_tiles_.data(), finished_.data()};
}

void GroupSums::queue(const double* partials, int parts, int count, RowShare::Join how, double* to,
                      const Stream& stream) {
  if (nodes_ == 0) return;
  const OnGpu here(stream);
  reserve(count);
  const dim3 grid(static_cast<unsigned>(tiles_.size()),
                  static_cast<unsigned>((count + numbers_of_block - 1) / numbers_of_block));
  join_nodes<<<grid, groups_of_tile, 0, stream.queue>>>(join_of(partials, parts, count, how), to);
  check(cudaGetLastError(), "launch of the join of partial sums");
}

std::span<const double> GroupSums::join(const double* partials, int parts, int count,
                                        RowShare::Join how, const Stream& stream) {
  reserve(count);
  queue(partials, parts, count, how, results_->numbers, stream);
  synchronize(stream);
  return {results_->numbers, nodes_ * static_cast<std::size_t>(count)};
}

}  // namespace heddle::cuda
