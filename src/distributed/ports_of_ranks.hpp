// What ranks that are threads of one process show to one another.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "heddle/communicator.hpp"

namespace heddle::detail {

/// Those of all ranks, which everybody keeps for as long as it may use them. Collective. The
/// receiver owns the handle that it gets: its sender may be gone by then. Where the exchange fails
/// nobody knows which handles were got: they are lost then, and the ports with them, as freeing one
/// that a rank still takes would be worse.
template <class Port>
std::vector<std::shared_ptr<Port>> gather_ports(Communicator& ranks,
                                                const std::shared_ptr<Port>& own) {
  using Handle = std::shared_ptr<Port>*;
  const auto count = static_cast<std::size_t>(ranks.size());
  std::vector<Handle> mine, all(count * count);
  for (std::size_t r = 0; r < count; ++r) mine.push_back(new std::shared_ptr<Port>(own));
  const std::vector<int> sizes(count, static_cast<int>(count * sizeof(Handle)));
  ranks.all_gather(std::as_bytes(std::span(mine)), std::as_writable_bytes(std::span(all)), sizes);
  std::vector<std::shared_ptr<Port>> ports;
  for (std::size_t r = 0; r < count; ++r) {
    const std::unique_ptr<std::shared_ptr<Port>> handle(
        all[r * count + static_cast<std::size_t>(ranks.rank())]);
    ports.push_back(*handle);
  }
  return ports;
}

}  // namespace heddle::detail
