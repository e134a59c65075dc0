#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

#include "base/cuda_call.hpp"
#include "heddle/detail/reduction.hpp"
#include "rank_sums_cuda.hpp"

namespace heddle::cuda {

namespace {

constexpr int width = Reduction<double>::width;
constexpr unsigned threads_of_join = 512;
constexpr std::size_t most_shared = 48 << 10;  // bytes

struct DestroyEvent {
  void operator()(cudaEvent_t event) const { cudaEventDestroy(event); }
};
struct FreePinned {
  void operator()(double* data) const { cudaFreeHost(data); }
};

struct JoinArguments {
  const double* const* places;
  const int *rank_of_node, *first_node, *levels;
  const int2* joinings;
  int nodes, level_count, root, count;
  double *room, *to;
};

/// One block: loads the sums of all ranks' nodes, and joins level after level of the tree.
__global__ void __launch_bounds__(threads_of_join) join_ranks(const JoinArguments a) {
  extern __shared__ double shared[];
  double* const nodes = a.room != nullptr ? a.room : shared;
  for (int i = static_cast<int>(threadIdx.x); i < a.nodes * a.count; i += threads_of_join) {
    const int rank = a.rank_of_node[i / a.count];
    // Of another GPU, by way of the host: no cache is to hold what was there two sums before.
    nodes[i] = __ldcv(a.places[rank] + i - a.first_node[rank] * a.count);
  }
  __syncthreads();
  for (int level = 0; level < a.level_count; ++level) {
    const int end = a.levels[level + 1] * a.count;
    for (int i = a.levels[level] * a.count + static_cast<int>(threadIdx.x); i < end;
         i += threads_of_join) {
      const int2 joining = a.joinings[i / a.count];
      const int v = i % a.count;
      nodes[joining.x * a.count + v] += nodes[joining.y * a.count + v];
    }
    __syncthreads();
  }
  if (threadIdx.x < a.count) {
    a.to[threadIdx.x] = a.nodes == 0 ? 0.0 : nodes[a.root * a.count + threadIdx.x];
  }
}

/// Sorted so that those of a level have the joins that they need on levels before.
std::vector<int> sort_by_level(std::vector<std::pair<int, int>>& joinings, std::size_t nodes) {
  std::vector<int> level_of_node(nodes, 0);
  std::vector<std::pair<int, std::pair<int, int>>> with_level;
  for (const auto& joining : joinings) {
    int& to = level_of_node[static_cast<std::size_t>(joining.first)];
    const int level = std::max(to, level_of_node[static_cast<std::size_t>(joining.second)]);
    with_level.emplace_back(level, joining);
    to = level + 1;
  }
  std::stable_sort(with_level.begin(), with_level.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<int> levels;
  for (std::size_t j = 0; j < with_level.size(); ++j) {
    joinings[j] = with_level[j].second;
    if (with_level[j].first == static_cast<int>(levels.size())) {
      levels.push_back(static_cast<int>(j));
    }
  }
  levels.push_back(static_cast<int>(joinings.size()));
  return levels;
}

}  // namespace

/// What a rank shows to the others, who keep it for as long as they may read it.
struct RankSums::Port {
  Port(int nodes, const Stream& stream) {
    const OnGpu here(stream);
    for (int p = 0; p < 2; ++p) {
      void* data = nullptr;
      const std::size_t doubles = static_cast<std::size_t>(std::max(1, nodes)) * width;
      check(cudaHostAlloc(&data, doubles * sizeof(double),
                          cudaHostAllocMapped | cudaHostAllocPortable),
            "cudaHostAlloc");
      numbers[p].reset(static_cast<double*>(data));
      cudaEvent_t event = nullptr;
      check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreateWithFlags");
      told[p].reset(event);
    }
  }

  std::unique_ptr<double, FreePinned> numbers[2];
  std::unique_ptr<CUevent_st, DestroyEvent> told[2];
};

RankSums::RankSums(Communicator& ranks, const detail::GroupTree& tree, const Device& device)
    : device_(device), rank_(ranks.rank()), root_(tree.root) {
  const auto count = static_cast<std::size_t>(ranks.size());
  const auto own = static_cast<std::size_t>(rank_);
  std::shared_ptr<Port> port;
  together(ranks, [&] {
    port = std::make_shared<Port>(tree.nodes_of_rank[own], device.stream());
    std::vector<int> rank_of_node, first_node;
    for (std::size_t r = 0; r < count; ++r) {
      first_node.push_back(static_cast<int>(rank_of_node.size()));
      rank_of_node.insert(rank_of_node.end(), static_cast<std::size_t>(tree.nodes_of_rank[r]),
                          static_cast<int>(r));
    }
    std::vector<std::pair<int, int>> pairs = tree.joinings;
    const std::vector<int> levels = sort_by_level(pairs, tree.nodes.size());
    std::vector<Joining> joinings;
    for (const auto& [to, from] : pairs) joinings.push_back({to, from});
    rank_of_node_ = Array<int>(std::span<const int>(rank_of_node), device);
    first_node_ = Array<int>(std::span<const int>(first_node), device);
    joinings_ = Array<Joining>(std::span<const Joining>(joinings), device);
    levels_ = Array<int>(std::span<const int>(levels), device);
    if (tree.nodes.size() * width * sizeof(double) > most_shared) {
      room_ = Array<double>(tree.nodes.size() * width, device);
    }
  });
  // The receiver owns the handle that it gets: its sender may be gone by then. Where the exchange
  // fails, handles are lost, see `DeviceExchange::connect`.
  using Handle = std::shared_ptr<Port>*;
  std::vector<Handle> mine, all(count * count);
  for (std::size_t r = 0; r < count; ++r) mine.push_back(new std::shared_ptr<Port>(port));
  const std::vector<int> sizes(count, static_cast<int>(count * sizeof(Handle)));
  ranks.all_gather(std::as_bytes(std::span(mine)), std::as_writable_bytes(std::span(all)), sizes);
  for (std::size_t r = 0; r < count; ++r) {
    const std::unique_ptr<std::shared_ptr<Port>> handle(all[r * count + own]);
    ports_.push_back(*handle);
  }
  together(ranks, [&] {
    for (int p = 0; p < 2; ++p) {
      std::vector<const double*> places;
      for (const auto& of_rank : ports_) places.push_back(of_rank->numbers[p].get());
      places_[p] = Array<const double*>(std::span<const double* const>(places), device);
    }
  });
}

RankSums::~RankSums() { cudaStreamSynchronize(device_.stream().queue); }

double* RankSums::mine() {
  return ports_[static_cast<std::size_t>(rank_)]->numbers[round_ % 2].get();
}

void RankSums::tell(const Stream& stream) {
  const OnGpu here(stream);
  const Port& own = *ports_[static_cast<std::size_t>(rank_)];
  check(cudaEventRecord(own.told[round_ % 2].get(), stream.queue), "cudaEventRecord");
}

void RankSums::join(int count, double* to, const Stream& stream) {
  const OnGpu here(stream);
  const unsigned p = round_++ % 2;
  for (std::size_t r = 0; r < ports_.size(); ++r) {
    if (static_cast<int>(r) == rank_) continue;
    check(cudaStreamWaitEvent(stream.queue, ports_[r]->told[p].get(), 0), "cudaStreamWaitEvent");
  }
  static_assert(sizeof(Joining) == sizeof(int2));
  const auto nodes = static_cast<int>(rank_of_node_.size());
  const std::size_t bytes =
      static_cast<std::size_t>(nodes) * static_cast<std::size_t>(count) * sizeof(double);
  const JoinArguments arguments{places_[p].data(),
                                rank_of_node_.data(),
                                first_node_.data(),
                                levels_.data(),
                                reinterpret_cast<const int2*>(joinings_.data()),
                                nodes,
                                static_cast<int>(levels_.size()) - 1,
                                root_,
                                count,
                                room_.empty() ? nullptr : room_.data(),
                                to};
  join_ranks<<<1, threads_of_join, room_.empty() ? bytes : 0, stream.queue>>>(arguments);
  check(cudaGetLastError(), "launch of the join of the ranks' sums");
}

long long RankSums::memory() const {
  const std::size_t places = places_[0].size() + places_[1].size();
  return static_cast<long long>((rank_of_node_.size() + first_node_.size() + levels_.size()) *
                                    sizeof(int) +
                                joinings_.size() * sizeof(Joining) + room_.size() * sizeof(double) +
                                places * sizeof(const double*));
}

}  // namespace heddle::cuda
