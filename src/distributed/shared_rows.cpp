#include "shared_rows.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <span>
#include <utility>

#include "distributed/communicators/group_sums_cuda.hpp"
#include "distributed/communicators/peer_sums_cuda.hpp"
#include "distributed/communicators/rank_sums_cuda.hpp"
#include "heddle/config.hpp"
#include "heddle/detail/index.hpp"
#include "heddle/detail/reduction.hpp"
#include "heddle/transfer.hpp"

namespace heddle::detail {

namespace {

template <class T>
void join_into(T* a, const T* b, int count, RowShare::Join how) {
  for (int v = 0; v < count; ++v) {
    a[v] = how == RowShare::Join::sum ? a[v] + b[v] : Reduction<T>::larger(a[v], b[v]);
  }
}

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

SharedRows::SharedRows(Communicator& ranks, const Partition& partition,
                       std::vector<long long> places, const Device& device)
    : ranks_(ranks),
      rows_(checked_index(partition.rows_of(ranks.rank()))),
      all_rows_(partition.rows()),
      places_(std::move(places)),
      group_at_(places_.size()),
      tree_(partition),
      tree_of_kernels_(partition, device::groups_of_node),
      own_nodes_(tree_.own_nodes(ranks.rank())),
      sizes_(static_cast<std::size_t>(ranks.size())),
      ends_(sizes_.size()),
      sizes_of_ends_(sizes_.size(), static_cast<int>(sizeof(long long))) {
  std::iota(group_at_.begin(), group_at_.end(), 0);
  std::sort(group_at_.begin(), group_at_.end(),
            [this](Index a, Index b) { return place_of_group(a) < place_of_group(b); });
  if constexpr (has_cuda) {
    if (device.on_gpu()) {
      on_gpu_ = std::make_shared<cuda::GroupSums>(own_nodes_, group_at_, device);
    }
  }
}

template <class T>
void SharedRows::join_numbers(T* partials, int stride, int count, T* to, Join how) {
  const auto start = Clock::now();
  const auto own = [&](long long group) {
    return partials + Offset(group_at_[static_cast<std::size_t>(group)]) * stride;
  };
  for (const GroupNode& node : own_nodes_) {
    join_node(node, static_cast<long long>(group_at_.size()),
              [&](long long g, long long h) { join_into(own(g), own(h), count, how); });
  }
  join_nodes([&](std::size_t n) { return own(own_nodes_[n].first); }, count, to, how);
  seconds_ += seconds_since(start);
}

void SharedRows::join_on_gpu(double* partials, int count, double* to, Join how,
                             const Stream& stream) {
  join_by_hosts(partials, 1, count, to, how, stream);
}

void SharedRows::join_by_hosts(const double* partials, int parts, int count, double* to, Join how,
                               const Stream& stream) {
  if constexpr (has_cuda) {
    const std::span<const double> nodes = on_gpu_->join(partials, parts, count, how, stream);
    const auto start = Clock::now();
    join_nodes([&](std::size_t n) { return nodes.data() + n * static_cast<std::size_t>(count); },
               count, to, how);
    seconds_ += seconds_since(start);
  }
}

void SharedRows::connect(const Device& device, const void* matrix, cuda::RankProduct& product) {
  matrix_ = matrix;
  product_ = &product;
  if constexpr (has_cuda) {
    if (transfer_of(ranks_) == Transfer::staged) return;
    of_ranks_ = std::make_shared<cuda::RankSums>(ranks_, tree_, device);
    const int* const given_up = of_ranks_->given_up();
    if (given_up == nullptr || !cuda::PeerSums::takes(tree_of_kernels_)) return;
    in_kernels_ =
        std::make_shared<cuda::PeerSums>(ranks_, tree_of_kernels_, group_at_, given_up, device);
  }
}

long long SharedRows::memory() const {
  if constexpr (has_cuda) {
    if (of_ranks_) return of_ranks_->memory() + (in_kernels_ ? in_kernels_->memory() : 0);
  }
  return 0;
}

void SharedRows::queue_join(double* partials, int parts, int count, double* to,
                            const Stream& stream) {
  if constexpr (has_cuda) {
    if (!of_ranks_) {
      double sums[Reduction<double>::width];
      join_by_hosts(partials, parts, count, sums, Join::sum, stream);
      return copy_bytes(to, sums, static_cast<std::size_t>(count) * sizeof(double), stream);
    }
    if (of_ranks_->joins_captured(stream)) {
      return of_ranks_->join_captured(*on_gpu_, partials, parts, count, to, stream);
    }
    const auto start = Clock::now();
    on_gpu_->queue(partials, parts, count, Join::sum, of_ranks_->mine(), stream);
    of_ranks_->tell(stream);
    meet();
    of_ranks_->join(count, to, stream);
    seconds_ += seconds_since(start);
  }
}

device::SumsOfRanks SharedRows::next_sums(const Stream& stream) {
  if constexpr (has_cuda) {
    if (in_kernels_ && of_ranks_->joins_captured(stream)) {
      return in_kernels_->of_next_kernel(stream);
    }
  }
  return {};
}

void SharedRows::meet() {
  const auto own = static_cast<long long>(own_end_);
  ranks_.all_gather(std::as_bytes(std::span(&own, 1)), std::as_writable_bytes(std::span(ends_)),
                    sizes_of_ends_);
  end_of_all_ = static_cast<device::LoopEnd>(*std::max_element(ends_.begin(), ends_.end()));
}

void SharedRows::give_up() noexcept {
  if constexpr (has_cuda) {
    if (of_ranks_) of_ranks_->give_up();
  }
}

const int* SharedRows::given_up() const {
  if constexpr (has_cuda) {
    if (of_ranks_) return of_ranks_->given_up();
  }
  return nullptr;
}

template <class T, class Node>
void SharedRows::join_nodes(const Node& node, int count, T* to, Join how) {
  // Each rank sends its reason to end, if any, and its nodes.
  const auto numbers = static_cast<std::size_t>(count);
  std::size_t in_all = 0;
  for (std::size_t r = 0; r < sizes_.size(); ++r) {
    const std::size_t values = 1 + static_cast<std::size_t>(tree_.nodes_of_rank[r]) * numbers;
    sizes_[r] = static_cast<int>(values * sizeof(T));
    in_all += values;
  }
  const auto rank = static_cast<std::size_t>(ranks_.rank());
  mine_.resize(static_cast<std::size_t>(sizes_[rank]));
  all_.resize(in_all * sizeof(T));
  T* const mine = reinterpret_cast<T*>(mine_.data());
  mine[0] = static_cast<T>(own_end_);
  for (std::size_t n = 0; n < own_nodes_.size(); ++n) {
    std::copy_n(node(n), numbers, mine + 1 + n * numbers);
  }
  ranks_.all_gather(mine_, all_, sizes_);

  T* from = reinterpret_cast<T*>(all_.data());
  T* packed = from;  // the nodes alone
  T end = 0;
  for (const int nodes : tree_.nodes_of_rank) {
    end = std::max(end, *from++);
    const auto values = static_cast<std::size_t>(nodes) * numbers;
    packed = std::copy_n(from, values, packed);
    from += values;
  }
  end_of_all_ = static_cast<device::LoopEnd>(static_cast<int>(end));
  T* const nodes = reinterpret_cast<T*>(all_.data());
  for (const auto& [a, b] : tree_.joinings) {
    join_into(nodes + a * count, nodes + b * count, count, how);
  }
  if (tree_.nodes.empty()) {
    std::fill_n(to, numbers, T(0));
  } else {
    std::copy_n(nodes + tree_.root * count, numbers, to);
  }
}

}  // namespace heddle::detail
