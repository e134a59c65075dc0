#include "heddle/partition.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "heddle/detail/reduction.hpp"
#include "heddle/error.hpp"

namespace heddle {

Partition::Partition(std::vector<long long> first_rows) : first_rows_(std::move(first_rows)) {
  const auto refuse = [](const std::string& why) {
    throw Error(ErrorKind::usage, "partition: " + why);
  };
  if (first_rows_.size() < 2 || first_rows_.front() != 0) {
    refuse("needs the first row of each rank, from 0 on, then the number of all rows");
  }
  for (std::size_t r = 1; r < first_rows_.size(); ++r) {
    if (first_rows_[r] < first_rows_[r - 1]) {
      refuse("rank " + std::to_string(r) + " begins at row " + std::to_string(first_rows_[r]) +
             ", before the previous rank");
    }
    if (first_rows_[r] % rows_of_group != 0 && first_rows_[r] != first_rows_.back()) {
      refuse("rank " + std::to_string(r) + " begins at row " + std::to_string(first_rows_[r]) +
             ", which is not a multiple of " + std::to_string(rows_of_group));
    }
  }
}

Partition Partition::by_weight(long long rows, int ranks,
                               std::span<const long long> group_weights) {
  if (ranks < 1) throw Error(ErrorKind::usage, "partition: at least one rank is needed");
  const long long groups = (rows + rows_of_group - 1) / rows_of_group;
  if (static_cast<long long>(group_weights.size()) != groups) {
    throw Error(ErrorKind::size_mismatch, "partition: " + std::to_string(group_weights.size()) +
                                              " weights for " + std::to_string(groups) +
                                              " groups of rows");
  }
  double all = 0;
  for (const long long weight : group_weights) all += static_cast<double>(weight);
  std::vector<long long> first_rows{0};
  double before = 0;
  long long group = 0;
  for (int r = 1; r < ranks; ++r) {
    const double share = all * r / ranks;
    while (group < groups) {
      const auto weight = static_cast<double>(group_weights[static_cast<std::size_t>(group)]);
      if (before + weight / 2 > share) break;
      before += weight;
      ++group;
    }
    first_rows.push_back(std::min(rows, group * rows_of_group));
  }
  first_rows.push_back(rows);
  return Partition(std::move(first_rows));
}

Partition Partition::by_entries(const PatternView& pattern, int ranks) {
  std::vector<long long> entries;
  for (Offset row = 0; row < pattern.rows; row += rows_of_group) {
    const Offset end = std::min<Offset>(pattern.rows, row + rows_of_group);
    entries.push_back(pattern.offsets[end] - pattern.offsets[row]);
  }
  return by_weight(pattern.rows, ranks, entries);
}

Partition Partition::even(long long rows, int ranks) {
  const long long groups = (rows + rows_of_group - 1) / rows_of_group;
  const std::vector<long long> weights(static_cast<std::size_t>(groups), 1);
  return by_weight(rows, ranks, weights);
}

Partition Partition::by_owner(long long rows, int ranks, std::span<const int> owner_of_group) {
  if (ranks < 1) throw Error(ErrorKind::usage, "partition: at least one rank is needed");
  const long long groups = (rows + rows_of_group - 1) / rows_of_group;
  if (static_cast<long long>(owner_of_group.size()) != groups) {
    throw Error(ErrorKind::size_mismatch, "partition: " + std::to_string(owner_of_group.size()) +
                                              " owners for " + std::to_string(groups) +
                                              " groups of rows");
  }
  std::vector<std::vector<long long>> places(static_cast<std::size_t>(ranks));
  for (long long place = 0; place < groups; ++place) {
    const int owner = owner_of_group[static_cast<std::size_t>(place)];
    if (owner < 0 || owner >= ranks) {
      throw Error(ErrorKind::usage, "partition: row group " + std::to_string(place) +
                                        " belongs to rank " + std::to_string(owner) +
                                        ", but the number of ranks is " + std::to_string(ranks));
    }
    places[static_cast<std::size_t>(owner)].push_back(place);
  }
  Partition made;
  made.first_rows_.push_back(0);
  made.first_groups_.push_back(0);
  made.first_numbers_.resize(owner_of_group.size());
  long long number = 0;
  for (const std::vector<long long>& of_rank : places) {
    for (const long long place : of_rank) {
      made.places_.push_back(place);
      made.first_numbers_[static_cast<std::size_t>(place)] = number;
      number += std::min<long long>(rows_of_group, rows - place * rows_of_group);
    }
    made.first_rows_.push_back(number);
    made.first_groups_.push_back(static_cast<long long>(made.places_.size()));
  }
  return std::is_sorted(made.places_.begin(), made.places_.end())
             ? Partition(std::move(made.first_rows_))
             : made;
}

int Partition::owner_of_number(long long number) const {
  const auto after = std::upper_bound(first_rows_.begin(), first_rows_.end(), number);
  return static_cast<int>(after - first_rows_.begin()) - 1;
}

long long Partition::number(long long row) const {
  if (is_of_ranges()) return row;
  return first_numbers_[static_cast<std::size_t>(row / rows_of_group)] + row % rows_of_group;
}

long long Partition::row(long long number) const {
  if (is_of_ranges()) return number;
  const int rank = owner_of_number(number);
  const long long own = number - first_row(rank);
  return place_of_group(rank, own / rows_of_group) * rows_of_group + own % rows_of_group;
}

long long Partition::place_of_group(int rank, long long group) const {
  if (is_of_ranges()) return first_row(rank) / rows_of_group + group;
  return places_[static_cast<std::size_t>(first_groups_[static_cast<std::size_t>(rank)] + group)];
}

}  // namespace heddle
