// The ports that ranks, as threads of one process, show to one another.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "heddle/communicator.hpp"

namespace heddle::detail {

/// The ports of all ranks, each kept by a rank for as long as it may use it. Collective. A rank
/// shows one handle to all, since it may be gone when they take its port: the last taker frees the
/// handle. If the exchange fails, no rank knows who has taken it. It is then lost, and the port
/// with it, as freeing one that a rank still takes would be worse.
template <class Port>
std::vector<std::shared_ptr<Port>> gather_ports(Communicator& ranks,
                                                const std::shared_ptr<Port>& own) {
  struct Handle {
    std::shared_ptr<Port> port;
    std::atomic<int> takers;
  };
  const auto count = static_cast<std::size_t>(ranks.size());
  std::vector<Handle*> all(count);
  std::vector<std::shared_ptr<Port>> ports(count);
  const std::vector<int> sizes(count, static_cast<int>(sizeof(Handle*)));
  Handle* const mine = new Handle{own, ranks.size()};
  ranks.all_gather(std::as_bytes(std::span(&mine, 1)), std::as_writable_bytes(std::span(all)),
                   sizes);
  for (std::size_t r = 0; r < count; ++r) {
    ports[r] = all[r]->port;
    if (--all[r]->takers == 0) delete all[r];
  }
  return ports;
}

}  // namespace heddle::detail
