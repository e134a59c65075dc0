#include "halo.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

#include "distributed/communicators/counts_for_ranks.hpp"
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
    const auto next = static_cast<std::size_t>(end - columns.begin());
    parts.push_back({owner, checked_index(k), checked_index(next - k)});
    k = next;
  }
  return parts;
}

}  // namespace

Halo make_halo(Communicator& ranks, const Partition& partition, std::vector<long long> columns) {
  Halo halo;
  halo.columns = std::move(columns);
  halo.receives = parts_by_owner(partition, halo.columns);
  std::vector<CountForRank> wanted_of_others;
  wanted_of_others.reserve(halo.receives.size());
  for (const HaloPart& part : halo.receives) wanted_of_others.push_back({part.rank, part.count});
  long long rows = 0;
  for (const auto& [rank, count] : counts_for_this(ranks, wanted_of_others)) {
    halo.sends.push_back({static_cast<int>(rank), checked_index(rows), checked_index(count)});
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
