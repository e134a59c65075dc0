#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

#include "base/cuda_call.hpp"
#include "base/cuda_handles.hpp"
#include "base/stream_watch_cuda.hpp"
#include "group_sums_cuda.cuh"
#include "heddle/detail/reduction.hpp"
#include "heddle/kernels/peer_words.cuh"
#include "nccl_communicator_cuda.hpp"
#include "peer_memory_cuda.hpp"
#include "ports_of_ranks.hpp"
#include "rank_sums_cuda.hpp"

namespace heddle::cuda {

namespace {

constexpr int width = Reduction<double>::width;
constexpr unsigned threads_of_join = 512;
constexpr std::size_t max_shared = 32 << 10;  // bytes of numbers; the tree lies after them

struct FreePinned {
  void operator()(double* data) const { cudaFreeHost(data); }
};

using NodeTree = RankSums::NodeTree;
using device::PeerPacket;

/// Shared memory of a block: the numbers of all nodes, if there is no room elsewhere, then the
/// tree, because a load of it from far away would be waited for at every level.
__device__ __forceinline__ double* load_tree(NodeTree& tree, int count, double* shared) {
  if (tree.storage != nullptr) return tree.storage;
  const auto thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  auto* const joinings = reinterpret_cast<RankSums::Joining*>(shared + tree.nodes * count);
  auto* const levels = reinterpret_cast<int*>(joinings + tree.nodes);
  for (int i = thread; i < tree.nodes - 1; i += threads) joinings[i] = tree.joinings[i];
  for (int i = thread; i <= tree.level_count; i += threads) levels[i] = tree.levels[i];
  tree.joinings = joinings;
  tree.levels = levels;
  return shared;
}

/// Called by a block that has left `count` numbers of each node in `nodes`: joins level by level.
__device__ __forceinline__ void join_levels(const NodeTree& tree, int count, double* nodes,
                                            double* to) {
  const auto thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  __syncthreads();
  for (int level = 0; level < tree.level_count; ++level) {
    const int end = tree.levels[level + 1] * count;
    for (int i = tree.levels[level] * count + thread; i < end; i += threads) {
      const RankSums::Joining joining = tree.joinings[i / count];
      const int v = i % count;
      nodes[joining.to * count + v] += nodes[joining.from * count + v];
    }
    __syncthreads();
  }
  if (thread < count) to[thread] = tree.nodes == 0 ? 0.0 : nodes[tree.root * count + thread];
}

struct JoinArguments {
  NodeTree tree;
  const double* const* places;
  const int *rank_of_node, *first_node;
  int count;
  double* to;
};

/// One block: loads the sums of all ranks' nodes, and joins them.
__global__ void __launch_bounds__(threads_of_join) join_ranks(const JoinArguments a) {
  extern __shared__ double shared[];
  NodeTree tree = a.tree;
  double* const nodes = load_tree(tree, a.count, shared);
  for (int i = static_cast<int>(threadIdx.x); i < a.tree.nodes * a.count; i += threads_of_join) {
    const int rank = a.rank_of_node[i / a.count];
    // From another GPU, by way of the host: no cache may hold what was there two sums before.
    nodes[i] = __ldcv(a.places[rank] + i - a.first_node[rank] * a.count);
  }
  join_levels(tree, a.count, nodes, a.to);
}

struct PeerJoinArguments {
  GroupJoin groups;
  NodeTree tree;
  PeerPacket* const* inboxes;  // one per rank: `width` numbers of each node, twice by turns
  int ranks, rank, first_node;
  unsigned* last_round;
  const int* given_up;
  double* to;

  __device__ Offset at(unsigned round, int node, int v) const {
    return (Offset(round % 2) * tree.nodes + node) * width + v;
  }
};

/// Blocks after the first join a tile each, and the block that completes a node sends its numbers
/// to all ranks. The first block waits for those of all nodes, and joins them.
__global__ void __launch_bounds__(groups_of_tile) join_with_peers(const PeerJoinArguments a) {
  extern __shared__ double shared[];
  __shared__ double sums[width];
  __shared__ int complete;
  const auto thread = static_cast<int>(threadIdx.x);
  const int count = a.groups.count;
  NodeTree tree = a.tree;
  double* const nodes =
      blockIdx.x == 0 && tree.storage == nullptr ? load_tree(tree, count, shared) : tree.storage;
  if (blockIdx.x > 0) {
    if (thread == 0) complete = -1;
    join_tile(a.groups, blockIdx.x - 1, [&](int node, int v, double sum) {
      complete = node;
      sums[v] = sum;
    });
    __syncthreads();
    if (complete < 0) return;
    const unsigned round = device::round_of_launch(a.last_round);
    for (int i = thread; i < a.ranks * count; i += groups_of_tile) {
      const int v = i % count;
      device::send_to_peer(a.inboxes[i / count] + a.at(round, a.first_node + complete, v), sums[v],
                           round);
    }
    return;
  }
  const unsigned round = device::round_of_launch(a.last_round);
  for (int i = thread; i < a.tree.nodes * count; i += groups_of_tile) {
    const PeerPacket* const from = a.inboxes[a.rank] + a.at(round, i / count, i % count);
    double number = 0;
    device::await_peer([&] { return device::look_at_packet(from, round, number); }, a.given_up);
    nodes[i] = number;
  }
  join_levels(tree, count, nodes, a.to);
  if (thread == 0) *a.last_round = round;
}

}  // namespace

/// The part of a rank that others see, and keep for as long as they may read it.
struct RankSums::Port {
  Port(int nodes, int nodes_of_all, const Stream& stream)
      : gpu(stream.gpu),
        inbox(2 * sizeof(PeerPacket) * width * static_cast<std::size_t>(nodes_of_all), stream),
        given_up(stream) {
    const OnGpu here(stream);
    for (int p = 0; p < 2; ++p) {
      void* data = nullptr;
      const std::size_t doubles = static_cast<std::size_t>(std::max(1, nodes)) * width;
      check(cudaHostAlloc(&data, doubles * sizeof(double),
                          cudaHostAllocMapped | cudaHostAllocPortable),
            "cudaHostAlloc");
      numbers[p].reset(static_cast<double*>(data));
      written[p] = make_event();
    }
  }

  std::unique_ptr<double, FreePinned> numbers[2];
  Event written[2];
  int gpu;
  PeerMemory inbox;
  Mapped<int> given_up;
};

RankSums::RankSums(Communicator& ranks, const detail::GroupTree& tree, const Device& device)
    : device_(device),
      rank_(ranks.rank()),
      ranks_(static_cast<std::size_t>(ranks.size())),
      root_(tree.root),
      nccl_(dynamic_cast<NcclCommunicator*>(&ranks)) {
  const std::size_t count = ranks_;
  const auto own = static_cast<std::size_t>(rank_);
  std::shared_ptr<Port> port;
  together(ranks, [&] {
    if (nccl_ != nullptr) {
      const int most = *std::max_element(tree.nodes_of_rank.begin(), tree.nodes_of_rank.end());
      gathered_ = Array<double>(count * static_cast<std::size_t>(most) * width, device);
    } else {
      port = std::make_shared<Port>(tree.nodes_of_rank[own], static_cast<int>(tree.nodes.size()),
                                    device.stream());
    }
    std::vector<int> rank_of_node, first_node;
    for (std::size_t r = 0; r < count; ++r) {
      first_node.push_back(static_cast<int>(rank_of_node.size()));
      rank_of_node.insert(rank_of_node.end(), static_cast<std::size_t>(tree.nodes_of_rank[r]),
                          static_cast<int>(r));
    }
    std::vector<std::pair<int, int>> pairs = tree.joinings;
    const std::vector<int> levels = detail::sort_by_level(pairs, tree.nodes.size());
    std::vector<Joining> joinings;
    for (const auto& [to, from] : pairs) joinings.push_back({to, from});
    first_own_node_ = first_node[own];
    rank_of_node_ = Array<int>(std::span<const int>(rank_of_node), device);
    first_node_ = Array<int>(std::span<const int>(first_node), device);
    joinings_ = Array<Joining>(std::span<const Joining>(joinings), device);
    levels_ = Array<int>(std::span<const int>(levels), device);
    if (tree.nodes.size() * width * sizeof(double) > max_shared) {
      storage_ = Array<double>(tree.nodes.size() * width, device);
    }
  });
  if (nccl_ == nullptr) {
    share(ranks, port);
    return;
  }
  together(ranks, [&] {
    std::vector<const double*> places;
    for (std::size_t r = 0; r < count; ++r) {
      places.push_back(gathered_.data() + r * gathered_of_rank());
    }
    for (auto& of_turn : places_) {
      of_turn = Array<const double*>(std::span<const double* const>(places), device_);
    }
  });
  watch_.emplace(device.stream(), [nccl = nccl_] { nccl->look(); });
  // The first gathering connects the ranks, which takes as long as hundreds of others.
  nccl_->gather(gathered_.data(), gathered_of_rank(), device.stream());
  device.synchronize();
}

void RankSums::share(Communicator& ranks, const std::shared_ptr<Port>& own) {
  ports_ = detail::gather_ports(ranks, own);
  bool reaches_all = true;
  together(ranks, [&] {
    for (int p = 0; p < 2; ++p) {
      std::vector<const double*> places;
      for (const auto& port : ports_) places.push_back(port->numbers[p].get());
      places_[p] = Array<const double*>(std::span<const double* const>(places), device_);
    }
    std::vector<PeerPacket*> inboxes;
    for (const auto& port : ports_) {
      const bool is_other = port == own || port->gpu != own->gpu;
      reaches_all = reaches_all && is_other && reach(port->gpu, device_.stream());
      inboxes.push_back(reinterpret_cast<PeerPacket*>(port->inbox.data()));
    }
    inboxes_ = Array<PeerPacket*>(std::span<PeerPacket* const>(inboxes), device_);
    last_round_ = Array<unsigned>(1, device_);
  });
  const std::vector<long long> all = gather(ranks, reaches_all ? 1 : 0);
  meet_in_kernels_ = std::all_of(all.begin(), all.end(), [](auto reaches) { return reaches != 0; });
}

RankSums::~RankSums() { synchronize_quietly(device_.stream()); }

double* RankSums::mine() {
  if (nccl_ != nullptr) {
    return gathered_.data() + static_cast<std::size_t>(rank_) * gathered_of_rank();
  }
  return ports_[static_cast<std::size_t>(rank_)]->numbers[round_ % 2].get();
}

void RankSums::tell(const Stream& stream) {
  if (nccl_ != nullptr) return;
  const OnGpu here(stream);
  const Port& own = *ports_[static_cast<std::size_t>(rank_)];
  check(cudaEventRecord(own.written[round_ % 2].get(), stream.queue), "cudaEventRecord");
}

void RankSums::join(int count, double* to, const Stream& stream) {
  const OnGpu here(stream);
  const unsigned p = round_++ % 2;
  if (nccl_ != nullptr) nccl_->gather(gathered_.data(), gathered_of_rank(), stream);
  for (std::size_t r = 0; r < ports_.size(); ++r) {
    if (static_cast<int>(r) == rank_) continue;
    check(cudaStreamWaitEvent(stream.queue, ports_[r]->written[p].get(), 0), "cudaStreamWaitEvent");
  }
  const NodeTree tree = node_tree();
  const JoinArguments arguments{
      tree, places_[p].data(), rank_of_node_.data(), first_node_.data(), count, to};
  join_ranks<<<1, threads_of_join, shared_bytes(count), stream.queue>>>(arguments);
  check(cudaGetLastError(), "launch of the join of the ranks' sums");
}

RankSums::NodeTree RankSums::node_tree() {
  return {levels_.data(),
          joinings_.data(),
          static_cast<int>(rank_of_node_.size()),
          static_cast<int>(levels_.size()) - 1,
          root_,
          storage_.empty() ? nullptr : storage_.data()};
}

std::size_t RankSums::shared_bytes(int count) const {
  if (!storage_.empty()) return 0;
  return rank_of_node_.size() *
             (static_cast<std::size_t>(count) * sizeof(double) + sizeof(Joining)) +
         levels_.size() * sizeof(int);
}

bool RankSums::joins_captured(const Stream& stream) const {
  return meet_in_kernels_ && is_captured(stream);
}

void RankSums::join_captured(GroupSums& groups, const double* partials, int parts, int count,
                             double* to, const Stream& stream) {
  const OnGpu here(stream);
  const PeerJoinArguments arguments{groups.join_of(partials, parts, count, RowShare::Join::sum),
                                    node_tree(),
                                    inboxes_.data(),
                                    static_cast<int>(ports_.size()),
                                    rank_,
                                    first_own_node_,
                                    last_round_.data(),
                                    given_up(),
                                    to};
  join_with_peers<<<1 + groups.tiles(), groups_of_tile, shared_bytes(count), stream.queue>>>(
      arguments);
  check(cudaGetLastError(), "launch of the join with other ranks");
}

const int* RankSums::given_up() const {
  return meet_in_kernels_ ? ports_[static_cast<std::size_t>(rank_)]->given_up.get() : nullptr;
}

void RankSums::give_up() noexcept {
  for (const auto& port : ports_) {
    *static_cast<volatile int*>(port->given_up.get()) = 1;
  }
  if (nccl_ != nullptr) nccl_->give_up();
}

long long RankSums::memory() const {
  const std::size_t pointers = places_[0].size() + places_[1].size() + inboxes_.size();
  const std::size_t packets = nccl_ != nullptr ? 0 : 2 * rank_of_node_.size() * width;
  return static_cast<long long>(
      (rank_of_node_.size() + first_node_.size() + levels_.size()) * sizeof(int) +
      joinings_.size() * sizeof(Joining) + (storage_.size() + gathered_.size()) * sizeof(double) +
      pointers * sizeof(const double*) + packets * sizeof(PeerPacket));
}

}  // namespace heddle::cuda
