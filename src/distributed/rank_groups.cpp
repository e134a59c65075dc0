#include "rank_groups.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <utility>

#include "distributed/exchange/row_exchange.hpp"
#include "heddle/detail/reduction.hpp"

namespace heddle::detail {

namespace {

constexpr std::size_t bytes_of_group = rows_of_group / 8;

long long group_count(const Partition& partition, int rank) {
  return (partition.rows_of(rank) + rows_of_group - 1) / rows_of_group;
}

std::span<const long long> row_of(const RankRows& rows, std::size_t row) {
  const auto begin = static_cast<std::size_t>(rows.offsets[row]);
  return std::span(rows.columns)
      .subspan(begin, static_cast<std::size_t>(rows.offsets[row + 1]) - begin);
}

/// Numbers of the rows just before this rank's groups that other ranks have.
std::vector<long long> rows_before(const Partition& partition, int rank) {
  std::vector<long long> before;
  for (long long group = 0; group < group_count(partition, rank); ++group) {
    const long long row = partition.place_of_group(rank, group) * rows_of_group - 1;
    if (row >= 0 && partition.owner(row) != rank) before.push_back(partition.number(row));
  }
  std::sort(before.begin(), before.end());
  return before;
}

/// A bit for each of this rank's rows: set if it has the columns of the row before it.
std::vector<std::byte> own_repeats(Communicator& ranks, const Partition& partition,
                                   const RankRows& own) {
  const int rank = ranks.rank();
  Halo halo = make_halo(ranks, partition, rows_before(partition, rank));
  RowExchange exchange(ranks, halo.sends, std::move(halo.sent_rows), halo.receives);
  const RankRows before = exchange.patterns(own);
  const long long first = partition.first_row(rank), rows = partition.rows_of(rank);
  std::vector<std::byte> bits(static_cast<std::size_t>(group_count(partition, rank)) *
                              bytes_of_group);
  for (long long k = 0; k < rows; ++k) {
    const long long row = partition.row(first + k);
    if (row == 0) continue;
    const long long number = partition.number(row - 1);
    std::span<const long long> other;
    if (number >= first && number < first + rows) {
      other = row_of(own, static_cast<std::size_t>(number - first));
    } else {
      const auto at = std::lower_bound(halo.columns.begin(), halo.columns.end(), number);
      other = row_of(before, static_cast<std::size_t>(at - halo.columns.begin()));
    }
    const auto mine = row_of(own, static_cast<std::size_t>(k));
    if (!std::equal(mine.begin(), mine.end(), other.begin(), other.end())) continue;
    bits[static_cast<std::size_t>(k / 8)] |= std::byte(1 << (k % 8));
  }
  return bits;
}

/// The bits of all rows, in their order.
std::vector<std::byte> all_repeats(Communicator& ranks, const Partition& partition,
                                   std::span<const std::byte> own) {
  std::vector<int> sizes;
  std::size_t all = 0;
  for (int r = 0; r < ranks.size(); ++r) {
    sizes.push_back(static_cast<int>(group_count(partition, r)) * static_cast<int>(bytes_of_group));
    all += static_cast<std::size_t>(sizes.back());
  }
  std::vector<std::byte> of_ranks(all), bits(all);
  ranks.all_gather(own, of_ranks, sizes);
  const std::byte* from = of_ranks.data();
  for (int r = 0; r < ranks.size(); ++r) {
    for (long long group = 0; group < group_count(partition, r); ++group, from += bytes_of_group) {
      const auto place = static_cast<std::size_t>(partition.place_of_group(r, group));
      std::memcpy(bits.data() + place * bytes_of_group, from, bytes_of_group);
    }
  }
  return bits;
}

}  // namespace

RankGroups groups_of_rank(Communicator& ranks, const Partition& partition, const RankRows& own,
                          int size, Index most) {
  RankGroups groups{{0}, {}};
  const int rank = ranks.rank();
  const auto take = [&](long long first, long long end) {
    // Groups of rows that sums belong to are longer: at most two ranks share a group here.
    if (partition.owner(first) != rank && partition.owner(end - 1) != rank) return;
    groups.starts.push_back(groups.starts.back() + static_cast<Index>(end - first));
    for (long long row = first; row < end; ++row) {
      if (partition.owner(row) != rank) groups.ghosts.push_back(partition.number(row));
    }
  };
  const long long rows = partition.rows();
  if (size > 0) {
    for (long long first = 0; first < rows; first += size) {
      take(first, std::min(first + size, rows));
    }
  } else {
    const std::vector<std::byte> repeats =
        all_repeats(ranks, partition, own_repeats(ranks, partition, own));
    for_each_natural_group(
        rows, most,
        [&](long long row) {
          return (repeats[static_cast<std::size_t>(row / 8)] & std::byte(1 << (row % 8))) !=
                 std::byte(0);
        },
        take);
  }
  std::sort(groups.ghosts.begin(), groups.ghosts.end());
  return groups;
}

}  // namespace heddle::detail
