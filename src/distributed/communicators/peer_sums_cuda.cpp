#include "peer_sums_cuda.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>
#include <utility>

#include "base/cuda_call.hpp"
#include "heddle/detail/reduction.hpp"
#include "peer_memory_cuda.hpp"
#include "ports_of_ranks.hpp"

namespace heddle::cuda {

static_assert(device::max_numbers_of_source == Reduction<double>::width);

/// The part of a rank that others see, and keep for as long as they may write there.
struct PeerSums::Port {
  PeerMemory inbox;
};

bool PeerSums::takes(const detail::GroupTree& tree) {
  if (tree.nodes.size() > std::size_t{device::max_nodes_of_ranks}) return false;
  std::vector<std::pair<int, int>> joinings = tree.joinings;
  const std::vector<int> levels = detail::sort_by_level(joinings, tree.nodes.size());
  return levels.size() <= std::size_t{device::max_levels_of_ranks} + 1;
}

PeerSums::PeerSums(Communicator& ranks, const detail::GroupTree& tree,
                   const std::vector<Index>& group_at, const int* given_up, const Device& device)
    : device_(device) {
  std::shared_ptr<Port> port;
  const auto nodes = static_cast<int>(tree.nodes.size());
  together(ranks, [&] {
    const auto packets = static_cast<std::size_t>(device::packets_of_inbox(nodes));
    port = std::make_shared<Port>(
        Port{PeerMemory(packets * sizeof(device::PeerPacket), device.stream())});
    const std::vector<detail::GroupNode> own = tree.own_nodes(ranks.rank());
    const std::vector<Index> places =
        detail::places_of_groups(own, group_at, device::groups_of_node);
    std::vector<int> groups;
    for (std::size_t n = 0; n < own.size(); ++n) {
      const std::span of_node(places.data() + n * device::groups_of_node, device::groups_of_node);
      groups.push_back(static_cast<int>(
          std::count_if(of_node.begin(), of_node.end(), [](Index at) { return at >= 0; })));
    }
    std::vector<std::pair<int, int>> pairs = tree.joinings;
    const std::vector<int> levels = detail::sort_by_level(pairs, tree.nodes.size());
    std::vector<device::NodeJoining> joinings;
    joinings.reserve(pairs.size());
    for (const auto& [to, from] : pairs) joinings.push_back({to, from});
    group_at_ = Array<Index>(std::span<const Index>(places), device);
    groups_ = Array<int>(std::span<const int>(groups), device);
    levels_ = Array<int>(std::span<const int>(levels), device);
    joinings_ = Array<device::NodeJoining>(std::span<const device::NodeJoining>(joinings), device);
    rounds_ = Array<unsigned>(2, device);
  });
  ports_ = detail::gather_ports(ranks, port);
  together(ranks, [&] {
    std::vector<device::PeerPacket*> inboxes;
    inboxes.reserve(ports_.size());
    for (const auto& of_rank : ports_) {
      inboxes.push_back(reinterpret_cast<device::PeerPacket*>(of_rank->inbox.data()));
    }
    inboxes_ = Array<device::PeerPacket*>(std::span<device::PeerPacket* const>(inboxes), device);
    const auto rank = static_cast<std::size_t>(ranks.rank());
    of_all_.group_at = group_at_.data();
    of_all_.groups = groups_.data();
    of_all_.inboxes = inboxes_.data();
    of_all_.inbox = inboxes[rank];
    of_all_.joinings = joinings_.data();
    of_all_.levels = levels_.data();
    of_all_.rounds = rounds_.data();
    of_all_.given_up = given_up;
    of_all_.ranks = ranks.size();
    of_all_.nodes = nodes;
    of_all_.own_nodes = tree.nodes_of_rank[rank];
    of_all_.first_node =
        std::accumulate(tree.nodes_of_rank.begin(), tree.nodes_of_rank.begin() + ranks.rank(), 0);
    of_all_.level_count = static_cast<int>(levels_.size()) - 1;
    of_all_.root = tree.root;
  });
}

PeerSums::~PeerSums() { cudaStreamSynchronize(device_.stream().queue); }

device::SumsOfRanks PeerSums::of_next_kernel(const Stream& stream) {
  const unsigned long long capture = capture_of(stream);
  const bool is_first = std::exchange(capture_, capture) != capture;
  of_all_.turn = is_first ? 0 : 1 - of_all_.turn;
  return of_all_;
}

long long PeerSums::memory() const {
  return static_cast<long long>((group_at_.size() + groups_.size() + levels_.size()) * sizeof(int) +
                                joinings_.size() * sizeof(device::NodeJoining) +
                                inboxes_.size() * sizeof(void*) +
                                static_cast<std::size_t>(device::packets_of_inbox(of_all_.nodes)) *
                                    sizeof(device::PeerPacket));
}

}  // namespace heddle::cuda
