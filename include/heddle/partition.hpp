// Which rank has which rows.
#pragma once

#include <span>
#include <vector>

#include "heddle/export.hpp"

namespace heddle {

/// Contiguous ranges of rows, one a rank, which begin at multiples of 256 rows: sums belong to
/// groups of so many, and a group that two ranks shared would be summed in another order. Some may
/// be empty. All of it is known to every rank.
class HEDDLE_EXPORT Partition {
 public:
  /// Rank r has the rows from `first_rows[r]` up to the next number. Throws `Error` (usage) unless
  /// they ascend from 0 to all rows, and all but the last are multiples of 256.
  explicit Partition(std::vector<long long> first_rows);

  /// Ranges of about equal weight. `group_weights`: of each group of 256 rows, such as its entries.
  static Partition by_weight(long long rows, int ranks, std::span<const long long> group_weights);
  /// Ranges of about equal numbers of rows.
  static Partition even(long long rows, int ranks);

  int ranks() const { return static_cast<int>(first_rows_.size()) - 1; }
  long long rows() const { return first_rows_.back(); }
  long long first_row(int rank) const { return first_rows_[static_cast<std::size_t>(rank)]; }
  long long rows_of(int rank) const { return first_row(rank + 1) - first_row(rank); }
  /// The rank that has a row.
  int owner(long long row) const;

  bool operator==(const Partition&) const = default;

 private:
  std::vector<long long> first_rows_;
};

}  // namespace heddle
