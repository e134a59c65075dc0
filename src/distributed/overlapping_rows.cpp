#include "overlapping_rows.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <numeric>
#include <utility>

#include "heddle/detail/index.hpp"

namespace heddle::detail {

namespace {

void make_unique(std::vector<long long>& numbers) {
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
}

/// Numbers of the columns that belong to other ranks.
std::vector<long long> columns_of_others(const Partition& partition, int rank,
                                         const RankRows& rows) {
  const long long first = partition.first_row(rank), end = partition.first_row(rank + 1);
  std::vector<long long> numbers;
  for (const long long column : rows.columns) {
    const long long number = partition.number(column);
    if (number < first || number >= end) numbers.push_back(number);
  }
  make_unique(numbers);
  return numbers;
}

void append_rows(RankRows& to, const RankRows& more) {
  const Offset before = to.offsets.back();
  for (std::size_t row = 1; row < more.offsets.size(); ++row) {
    to.offsets.push_back(before + more.offsets[row]);
  }
  to.columns.insert(to.columns.end(), more.columns.begin(), more.columns.end());
}

}  // namespace

ReachedRows reached_rows(Communicator& ranks, const Partition& partition, const RankRows& own,
                         int power) {
  ReachedRows reached;
  reached.numbers = columns_of_others(partition, ranks.rank(), own);
  std::vector<long long> news = reached.numbers;
  for (int step = 1; step < power; ++step) {
    Halo halo = make_halo(ranks, partition, news);
    RowExchange exchange(ranks, halo.sends, std::move(halo.sent_rows), halo.receives);
    const RankRows of_news = exchange.patterns(own);
    append_rows(reached.of_known, of_news);
    reached.known.insert(reached.known.end(), news.begin(), news.end());
    const std::vector<long long> columns = columns_of_others(partition, ranks.rank(), of_news);
    news.clear();
    std::set_difference(columns.begin(), columns.end(), reached.numbers.begin(),
                        reached.numbers.end(), std::back_inserter(news));
    reached.numbers.insert(reached.numbers.end(), news.begin(), news.end());
    std::sort(reached.numbers.begin(), reached.numbers.end());
  }
  return reached;
}

OverlappingRows::OverlappingRows(Communicator& ranks, const Partition& partition,
                                 std::vector<long long> ghosts)
    : ranks_(ranks), partition_(partition), ghosts_(std::move(ghosts)) {
  const long long first = partition.first_row(ranks.rank());
  const long long rows = partition.rows_of(ranks.rank());
  checked_index(rows + std::ssize(ghosts_));
  own_places_.resize(static_cast<std::size_t>(rows));
  ghost_places_.resize(ghosts_.size());
  std::vector<std::pair<long long, std::size_t>> order;  // rows, and which ghost
  order.reserve(ghosts_.size());
  for (std::size_t g = 0; g < ghosts_.size(); ++g) order.emplace_back(partition.row(ghosts_[g]), g);
  std::sort(order.begin(), order.end());
  auto ghost = order.begin();
  Index place = 0;
  for (long long k = 0; k < rows; ++k) {
    const long long row = partition.row(first + k);
    for (; ghost != order.end() && ghost->first < row; ++ghost)
      ghost_places_[ghost->second] = place++;
    own_places_[static_cast<std::size_t>(k)] = place++;
  }
  for (; ghost != order.end(); ++ghost) ghost_places_[ghost->second] = place++;
}

RowsOfRank OverlappingRows::rows_of_rank() const {
  RowsOfRank rows;
  const std::size_t all = own_places_.size() + ghosts_.size();
  rows.is_own.resize(all);
  rows.of_all.resize(all);
  const long long first = partition_.first_row(ranks_.rank());
  for (std::size_t k = 0; k < own_places_.size(); ++k) {
    const auto place = static_cast<std::size_t>(own_places_[k]);
    rows.is_own[place] = true;
    rows.of_all[place] = partition_.row(first + static_cast<long long>(k));
  }
  for (std::size_t g = 0; g < ghosts_.size(); ++g) {
    rows.of_all[static_cast<std::size_t>(ghost_places_[g])] = partition_.row(ghosts_[g]);
  }
  if (ranks_.is_one_process()) rows.sharing_memory = ranks_.size();
  return rows;
}

Index OverlappingRows::place_of(long long row) const {
  const long long number = partition_.number(row);
  const long long own = number - partition_.first_row(ranks_.rank());
  if (own >= 0 && own < std::ssize(own_places_)) return own_places_[static_cast<std::size_t>(own)];
  const auto at = std::lower_bound(ghosts_.begin(), ghosts_.end(), number);
  if (at == ghosts_.end() || *at != number) return -1;
  return ghost_places_[static_cast<std::size_t>(at - ghosts_.begin())];
}

void OverlappingRows::set_rows(const RankRows& own, std::span<const long long> known,
                               const RankRows& of_known) {
  struct Row {
    const RankRows* of = nullptr;
    std::size_t row = 0;
  };
  std::vector<Row> order(own_places_.size() + ghosts_.size());
  for (std::size_t k = 0; k < own_places_.size(); ++k) {
    order[static_cast<std::size_t>(own_places_[k])] = {&own, k};
  }
  for (std::size_t g = 0; g < known.size(); ++g) {
    order[static_cast<std::size_t>(place_of(partition_.row(known[g])))] = {&of_known, g};
  }
  sources_.own = own.offsets.back();
  sources_.place.clear();
  std::vector<Index> columns;
  rows_.offsets = Array<Offset>(order.size() + 1);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto [of, row] = order[i];
    for (Offset k = of ? of->offsets[row] : 0; of && k < of->offsets[row + 1]; ++k) {
      const Index column = place_of(of->columns[static_cast<std::size_t>(k)]);
      if (column < 0) continue;
      columns.push_back(column);
      sources_.place.push_back(of == &own ? k : sources_.own + k);
    }
    rows_.offsets[i + 1] = static_cast<Offset>(columns.size());
  }
  rows_.column = Array<Index>(std::span<const Index>(columns));
}

void OverlappingRows::fetch_rows(const RankRows& own, const UserRows& pattern) {
  std::vector<bool> is_needed(own_places_.size() + ghosts_.size());
  for (const Index column : pattern.column.span())
    is_needed[static_cast<std::size_t>(column)] = true;
  std::vector<long long> needed;
  for (std::size_t g = 0; g < ghosts_.size(); ++g) {
    if (is_needed[static_cast<std::size_t>(ghost_places_[g])]) needed.push_back(ghosts_[g]);
  }
  halo_ = make_halo(ranks_, partition_, std::move(needed));
  exchange_.emplace(ranks_, halo_.sends, halo_.sent_rows, halo_.receives);
  const RankRows of_needed = exchange_->patterns(own);
  set_rows(own, halo_.columns, of_needed);
}

RankRows OverlappingRows::rows_among_all(const UserRows& rows) const {
  const std::vector<long long> of_all = rows_of_rank().of_all;
  RankRows own;
  own.columns.reserve(static_cast<std::size_t>(rows.entries()));
  for (const Index place : own_places_) {
    for (const Index column : rows.row(place)) {
      own.columns.push_back(of_all[static_cast<std::size_t>(column)]);
    }
    own.offsets.push_back(static_cast<Offset>(own.columns.size()));
  }
  return own;
}

std::vector<Index> OverlappingRows::places_of_fetched() const {
  std::vector<Index> places;
  places.reserve(halo_.columns.size());
  for (const long long number : halo_.columns) places.push_back(place_of(partition_.row(number)));
  return places;
}

/// Rows go back to where the columns of the matrix came from.
AdjointRows::AdjointRows(const OverlappingRows& overlap, const UserRows& transposed)
    : exchange_(overlap.ranks_, overlap.halo_.receives, overlap.places_of_fetched(),
                overlap.halo_.sends) {
  const std::vector<long long> of_all = overlap.rows_of_rank().of_all;
  const auto row_of_all = [&](Offset entry) {
    return of_all[static_cast<std::size_t>(transposed.column[static_cast<std::size_t>(entry)])];
  };
  const RankRows come = exchange_.patterns(transposed.offsets.span(), row_of_all);
  const std::vector<Index>& rows_that_come = overlap.halo_.sent_rows;
  std::vector<std::size_t> order(rows_that_come.size());
  std::iota(order.begin(), order.end(), std::size_t(0));
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return rows_that_come[a] < rows_that_come[b]; });

  sources_.own = transposed.entries();
  std::vector<std::pair<long long, Offset>> of_row;  // columns, and places
  auto next = order.begin();
  for (std::size_t k = 0; k < overlap.own_places_.size(); ++k) {
    of_row.clear();
    const Index place = overlap.own_places_[k];
    for (Offset e = transposed.begin(place); e < transposed.begin(place + 1); ++e) {
      of_row.emplace_back(row_of_all(e), e);
    }
    for (; next != order.end() && rows_that_come[*next] == static_cast<Index>(k); ++next) {
      for (Offset e = come.offsets[*next]; e < come.offsets[*next + 1]; ++e) {
        of_row.emplace_back(come.columns[static_cast<std::size_t>(e)], sources_.own + e);
      }
    }
    std::sort(of_row.begin(), of_row.end());
    for (const auto& [column, at] : of_row) {
      rows_.columns.push_back(column);
      sources_.place.push_back(at);
    }
    rows_.offsets.push_back(static_cast<Offset>(rows_.columns.size()));
  }
}

std::vector<std::byte> AdjointRows::values(std::span<const std::byte> transposed,
                                           std::size_t bytes) const {
  const std::vector<std::byte> received = exchange_.values(transposed, bytes);
  std::vector<std::byte> all(sources_.place.size() * bytes);
  std::byte* to = all.data();
  for (std::size_t e = 0; e < sources_.place.size(); ++e, to += bytes) {
    std::memcpy(to, sources_.value(static_cast<Offset>(e), transposed, received, bytes), bytes);
  }
  return all;
}

}  // namespace heddle::detail
