#include "root_exchange.hpp"

#include <algorithm>
#include <utility>

namespace heddle::detail {

namespace {

constexpr std::size_t largest_message = std::size_t(1) << 30;

/// Number of messages that parts of up to `size` bytes take.
std::size_t messages_of(std::size_t size) { return (size + largest_message - 1) / largest_message; }

template <class Byte>
std::span<Byte> part_of(std::span<Byte> bytes, std::size_t message) {
  const std::size_t begin = std::min(bytes.size(), message * largest_message);
  return bytes.subspan(begin, std::min(bytes.size() - begin, largest_message));
}

/// Exchanges with rank 0: `far(r)` are its bytes of rank r, `near` those of another rank.
template <class Near, class Far, class Exchange>
void exchange_parts(Communicator& ranks, const std::vector<std::size_t>& sizes,
                    std::span<Near> near, const Far& far, const Exchange& exchange) {
  const std::size_t messages = messages_of(*std::max_element(sizes.begin(), sizes.end()));
  for (std::size_t m = 0; m < messages; ++m) {
    std::vector<Message<Near>> of_near;
    std::vector<Message<typename decltype(far(1))::element_type>> of_far;
    if (ranks.rank() != 0) {
      const std::span<Near> part = part_of(near, m);
      if (!part.empty()) of_near.push_back({0, part});
    } else {
      for (int r = 1; r < ranks.size(); ++r) {
        const auto part = part_of(far(r), m);
        if (!part.empty()) of_far.push_back({r, part});
      }
    }
    exchange(of_near, of_far);
    ranks.end_exchange();
  }
}

}  // namespace

std::vector<std::vector<std::byte>> bytes_to_root(Communicator& ranks,
                                                  std::span<const std::byte> mine) {
  std::vector<std::size_t> sizes;
  for (const long long size : gather(ranks, static_cast<long long>(mine.size()))) {
    sizes.push_back(static_cast<std::size_t>(size));
  }
  std::vector<std::vector<std::byte>> of_ranks;
  together(ranks, [&] {
    if (ranks.rank() != 0) return;
    for (const std::size_t size : sizes) of_ranks.emplace_back(size);
    std::copy(mine.begin(), mine.end(), of_ranks.front().begin());
  });
  exchange_parts(
      ranks, sizes, mine, [&](int r) { return std::span(of_ranks[static_cast<std::size_t>(r)]); },
      [&](const auto& sends, const auto& receives) { ranks.begin_exchange(sends, receives); });
  return of_ranks;
}

std::vector<std::byte> bytes_from_root(Communicator& ranks,
                                       std::vector<std::vector<std::byte>> of_ranks) {
  std::vector<std::size_t> sizes(static_cast<std::size_t>(ranks.size()));
  const auto rank = static_cast<std::size_t>(ranks.rank());
  if (rank == 0) {
    std::transform(of_ranks.begin(), of_ranks.end(), sizes.begin(),
                   [](const auto& bytes) { return bytes.size(); });
  }
  sizes = broadcast_from_root(ranks, sizes);
  std::vector<std::byte> mine;
  together(ranks, [&] {
    if (rank == 0) {
      mine = std::move(of_ranks.front());
    } else {
      mine.resize(sizes[rank]);
    }
  });
  exchange_parts(
      ranks, sizes, std::span(mine),
      [&](int r) { return std::span<const std::byte>(of_ranks[static_cast<std::size_t>(r)]); },
      [&](const auto& receives, const auto& sends) { ranks.begin_exchange(sends, receives); });
  return mine;
}

}  // namespace heddle::detail
