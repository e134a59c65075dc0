#include "heddle/rank_triplets.hpp"

#include <algorithm>
#include <numeric>

#include "distributed/communicators/counts_for_ranks.hpp"
#include "heddle/detail/index.hpp"
#include "heddle/error.hpp"

namespace heddle::detail {

namespace {

/// The counts that each rank has for this one; `mine` are those that this one has for each.
std::vector<std::size_t> all_counts_for_this(Communicator& ranks,
                                             const std::vector<std::size_t>& mine) {
  std::vector<CountForRank> some;
  for (std::size_t r = 0; r < mine.size(); ++r) {
    if (mine[r] == 0) continue;
    some.push_back({static_cast<long long>(r), static_cast<long long>(mine[r])});
  }
  std::vector<std::size_t> counts(mine.size());
  for (const auto& [rank, count] : counts_for_this(ranks, some)) {
    counts[static_cast<std::size_t>(rank)] = static_cast<std::size_t>(count);
  }
  return counts;
}

/// Sends parts of `from`, one for each rank, to those ranks; parts of `to` come from them.
void exchange_parts(Communicator& ranks, std::span<const std::byte> from,
                    const std::vector<std::size_t>& to_ranks, std::span<std::byte> to,
                    const std::vector<std::size_t>& from_ranks, std::size_t bytes) {
  std::vector<Message<const std::byte>> sends;
  std::vector<Message<std::byte>> receives;
  std::span<const std::byte> own_from;
  std::span<std::byte> own_to;
  std::size_t sent = 0, received = 0;
  for (std::size_t r = 0; r < to_ranks.size(); ++r) {
    const auto part = from.subspan(sent, to_ranks[r] * bytes);
    const auto target = to.subspan(received, from_ranks[r] * bytes);
    sent += part.size();
    received += target.size();
    const auto rank = static_cast<int>(r);
    if (rank == ranks.rank()) {
      own_from = part;
      own_to = target;
      continue;
    }
    if (!part.empty()) sends.push_back({rank, part});
    if (!target.empty()) receives.push_back({rank, target});
  }
  ranks.begin_exchange(sends, receives);
  std::copy(own_from.begin(), own_from.end(), own_to.begin());
  ranks.end_exchange();
}

}  // namespace

TripletExchange::TripletExchange(Communicator& ranks, const Partition& partition,
                                 std::vector<TripletPlace> places)
    : ranks_(ranks), order_(places.size()), to_(static_cast<std::size_t>(ranks.size())) {
  std::vector<int> owners(places.size());
  together(ranks, [&] {
    if (partition.ranks() != ranks.size()) {
      throw Error(ErrorKind::usage, "the partition is for " + std::to_string(partition.ranks()) +
                                        " ranks, but there are " + std::to_string(ranks.size()));
    }
    for (std::size_t k = 0; k < places.size(); ++k) {
      const auto [row, column] = places[k];
      if (row < 0 || row >= partition.rows() || column < 0 || column >= partition.rows()) {
        throw Error(ErrorKind::out_of_range,
                    "rank " + std::to_string(ranks.rank()) + " has a triplet at (" +
                        std::to_string(row) + ", " + std::to_string(column) +
                        "), outside a matrix of " + std::to_string(partition.rows()) + " rows");
      }
      owners[k] = partition.owner(row);
      ++to_[static_cast<std::size_t>(owners[k])];
    }
    std::vector<std::size_t> next(to_.size(), 0);
    std::partial_sum(to_.begin(), to_.end() - 1, next.begin() + 1);
    for (std::size_t k = 0; k < places.size(); ++k) {
      order_[next[static_cast<std::size_t>(owners[k])]++] = k;
    }
  });
  from_ = all_counts_for_this(ranks, to_);
  const std::vector<std::byte> bytes = send(reinterpret_cast<const std::byte*>(places.data()),
                                            sizeof(TripletPlace), sizeof(TripletPlace));
  received_.resize(bytes.size() / sizeof(TripletPlace));
  if (!bytes.empty()) std::memcpy(received_.data(), bytes.data(), bytes.size());
}

std::vector<std::byte> TripletExchange::send(const std::byte* first, std::size_t stride,
                                             std::size_t bytes) const {
  std::vector<std::byte> from(order_.size() * bytes);
  for (std::size_t k = 0; k < order_.size(); ++k) {
    std::memcpy(from.data() + k * bytes, first + order_[k] * stride, bytes);
  }
  std::vector<std::byte> to(std::accumulate(from_.begin(), from_.end(), std::size_t(0)) * bytes);
  exchange_parts(ranks_, from, to_, to, from_, bytes);
  return to;
}

OrderedTriplets order_for_rank(const Partition& partition, int rank,
                               const std::vector<TripletPlace>& places, RankRows& rows) {
  // The columns that exist, numbered from 0 in their order.
  std::vector<long long> columns;
  columns.reserve(places.size());
  for (const TripletPlace& place : places) columns.push_back(place.column);
  std::sort(columns.begin(), columns.end());
  columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
  std::vector<Index> row, column;
  row.reserve(places.size());
  column.reserve(places.size());
  for (const TripletPlace& place : places) {
    row.push_back(static_cast<Index>(partition.number(place.row) - partition.first_row(rank)));
    const auto at = std::lower_bound(columns.begin(), columns.end(), place.column);
    column.push_back(static_cast<Index>(at - columns.begin()));
  }
  OrderedTriplets ordered = order_triplets(
      checked_index(partition.rows_of(rank)), checked_index(columns.size()), places.size(),
      {row.data(), sizeof(Index)}, {column.data(), sizeof(Index)}, Device::cpu());
  rows.offsets.assign(ordered.offsets.data(), ordered.offsets.data() + ordered.offsets.size());
  rows.columns.clear();
  rows.columns.reserve(ordered.column.size());
  for (std::size_t k = 0; k < ordered.column.size(); ++k) {
    rows.columns.push_back(columns[static_cast<std::size_t>(ordered.column[k])]);
  }
  return ordered;
}

}  // namespace heddle::detail
