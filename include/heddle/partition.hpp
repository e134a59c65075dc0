// The assignment of rows to ranks.
#pragma once

#include <span>
#include <vector>

#include "heddle/csr.hpp"
#include "heddle/export.hpp"

namespace heddle {

/// Whole groups of 256 consecutive rows for each rank: sums belong to groups, and a group shared by
/// two ranks would be summed in another order. Only the last group of all may be shorter. Some
/// ranks may have none. Every rank knows the whole partition.
///
/// A rank has its groups in the order of all rows. Ranks number their rows consecutively, rank
/// after rank: if each rank has a range of the rows, these numbers are those of the rows.
class HEDDLE_EXPORT Partition {
 public:
  /// Ranges: rank r has the rows from `first_rows[r]` up to the next number. Throws `Error` (usage)
  /// unless they ascend from 0 to all rows, and all but the last are multiples of 256.
  explicit Partition(std::vector<long long> first_rows);

  /// Ranges of about equal weight. `group_weights` holds the weight of each group of 256 rows, such
  /// as its entries.
  static Partition by_weight(long long rows, int ranks, std::span<const long long> group_weights);
  /// Ranges of about equal numbers of entries.
  static Partition by_entries(const PatternView& pattern, int ranks);
  /// Ranges of about equal numbers of rows.
  static Partition even(long long rows, int ranks);
  /// The rank of each group is given. Throws `Error`: usage for a rank that does not exist,
  /// size_mismatch for another number of groups.
  static Partition by_owner(long long rows, int ranks, std::span<const int> owner_of_group);
  /// Made by METIS (Karypis and Kumar 1998): about equal numbers of entries, and few entries
  /// between groups of two ranks. It is the same on any machine with one version of METIS. Throws
  /// `Error`: unsupported if heddle was built without it, size_mismatch unless the matrix is
  /// square, memory.
  static Partition by_metis(const PatternView& pattern, int ranks);
  /// The same with SCOTCH (Pellegrini and Roman 1996).
  static Partition by_scotch(const PatternView& pattern, int ranks);

  int ranks() const { return static_cast<int>(first_rows_.size()) - 1; }
  long long rows() const { return first_rows_.back(); }
  /// The number of a rank's first row.
  long long first_row(int rank) const { return first_rows_[static_cast<std::size_t>(rank)]; }
  long long rows_of(int rank) const { return first_row(rank + 1) - first_row(rank); }
  /// The rank that has a row, and the rank whose row has a given number.
  int owner(long long row) const { return owner_of_number(number(row)); }
  int owner_of_number(long long number) const;

  /// True if each rank has a range of the rows.
  bool is_of_ranges() const { return places_.empty(); }
  /// The number of a row, and the row with a given number.
  long long number(long long row) const;
  long long row(long long number) const;
  /// The place among all groups of one of a rank's groups, in the rank's order.
  long long place_of_group(int rank, long long group) const;

  bool operator==(const Partition&) const = default;

 private:
  Partition() = default;

  std::vector<long long> first_rows_;  // row numbers
  // For a partition without ranges:
  std::vector<long long> first_groups_;   // first group of each rank, in `places_`
  std::vector<long long> places_;         // places of the groups of all ranks, rank after rank
  std::vector<long long> first_numbers_;  // first number of each group, by its place
};

}  // namespace heddle
