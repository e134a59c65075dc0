#include "halo.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

#include "heddle/detail/index.hpp"

namespace heddle::detail {

namespace {

std::vector<HaloPart> parts_by_owner(const Partition& partition,
                                     const std::vector<long long>& columns) {
  std::vector<HaloPart> parts;
  for (std::size_t k = 0; k < columns.size();) {
    const int owner = partition.owner_of_number(columns[k]);
    const auto end =
        std::lower_bound(columns.begin(), columns.end(), partition.first_row(owner + 1));
    const auto behind = static_cast<std::size_t>(end - columns.begin());
    parts.push_back({owner, checked_index(k), checked_index(behind - k)});
    k = behind;
  }
  return parts;
}

/// Rows that each rank wants of this one.
std::vector<long long> wanted_of_this(Communicator& ranks, const std::vector<HaloPart>& receives) {
  const auto size = static_cast<std::size_t>(ranks.size());
  std::vector<long long> mine(size), all(size * size), wanted(size);
  for (const HaloPart& part : receives) mine[static_cast<std::size_t>(part.rank)] = part.count;
  const std::vector<int> sizes(size, static_cast<int>(size * sizeof(long long)));
  ranks.all_gather(std::as_bytes(std::span(mine)), std::as_writable_bytes(std::span(all)), sizes);
  const auto rank = static_cast<std::size_t>(ranks.rank());
  for (std::size_t r = 0; r < size; ++r) wanted[r] = all[r * size + rank];
  return wanted;
}

}  // namespace

Halo make_halo(Communicator& ranks, const Partition& partition, std::vector<long long> columns) {
  Halo halo;
  halo.columns = std::move(columns);
  halo.receives = parts_by_owner(partition, halo.columns);
  const std::vector<long long> wanted = wanted_of_this(ranks, halo.receives);
  long long rows = 0;
  for (int r = 0; r < ranks.size(); ++r) {
    const long long count = wanted[static_cast<std::size_t>(r)];
    if (count == 0) continue;
    halo.sends.push_back({r, checked_index(rows), checked_index(count)});
    rows += count;
  }
  std::vector<long long> sent(static_cast<std::size_t>(rows));
  const auto part_of = [](auto& numbers, const HaloPart& part) {
    return std::span(numbers).subspan(static_cast<std::size_t>(part.first),
                                      static_cast<std::size_t>(part.count));
  };
  std::vector<Message<const std::byte>> lists;
  std::vector<Message<std::byte>> asked;
  lists.reserve(halo.receives.size());
  asked.reserve(halo.sends.size());
  for (const HaloPart& part : halo.receives) {
    lists.push_back({part.rank, std::as_bytes(part_of(halo.columns, part))});
  }
  for (const HaloPart& part : halo.sends) {
    asked.push_back({part.rank, std::as_writable_bytes(part_of(sent, part))});
  }
  ranks.begin_exchange(lists, asked);
  ranks.end_exchange();
  const long long first = partition.first_row(ranks.rank());
  halo.sent_rows.reserve(sent.size());
  for (const long long column : sent) halo.sent_rows.push_back(static_cast<Index>(column - first));
  return halo;
}

}  // namespace heddle::detail
