#include "row_parts.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <utility>

#include "heddle/detail/index.hpp"
#include "heddle/detail/reduction.hpp"
#include "heddle/error.hpp"

namespace heddle::detail {

std::vector<std::byte> RowPart::values_of(std::span<const std::byte> all, std::size_t bytes) const {
  std::vector<std::byte> values(entry.size() * bytes);
  for (std::size_t k = 0; k < entry.size(); ++k) {
    std::memcpy(values.data() + k * bytes, all.data() + static_cast<std::size_t>(entry[k]) * bytes,
                bytes);
  }
  return values;
}

namespace {

/// The rank's rows as they were given, and where they lie among all rows.
class GivenRows {
 public:
  GivenRows(const Partition& partition, int rank, const RankRows& rows)
      : given_(rows),
        partition_(partition),
        first_(partition.first_row(rank)),
        end_(partition.first_row(rank + 1)),
        rows_(checked_index(partition.rows_of(rank))) {
    const std::vector<Offset>& offsets = rows.offsets;
    const bool fits = offsets.size() == static_cast<std::size_t>(rows_) + 1 &&
                      offsets.front() == 0 && std::is_sorted(offsets.begin(), offsets.end()) &&
                      static_cast<std::size_t>(offsets.back()) == rows.columns.size();
    if (!fits) {
      throw Error(ErrorKind::size_mismatch,
                  "rank " + std::to_string(rank) + " has " + std::to_string(rows_) +
                      " rows in the partition: it needs one more offset than rows, ascending from "
                      "0 to the number of its entries");
    }
    for (const long long column : rows.columns) {
      if (column >= 0 && column < partition.rows()) continue;
      throw Error(ErrorKind::out_of_range, "rank " + std::to_string(rank) +
                                               " has an entry in column " + std::to_string(column) +
                                               " of a matrix of " +
                                               std::to_string(partition.rows()) + " columns");
    }
  }

  Index rows() const { return rows_; }
  Index groups() const { return groups_of(rows_); }
  long long number(long long column) const { return partition_.number(column); }
  bool owns(long long column) const { return number(column) >= first_ && number(column) < end_; }
  /// A column that the rank owns, as one of its rows.
  Index row_of(long long column) const { return static_cast<Index>(number(column) - first_); }
  long long column(Offset entry) const { return given_.columns[static_cast<std::size_t>(entry)]; }
  Offset begin(Index row) const { return given_.offsets[static_cast<std::size_t>(row)]; }
  Offset end(Index row) const { return given_.offsets[static_cast<std::size_t>(row) + 1]; }
  Index first_of(Index group) const { return group * rows_of_group; }
  Index end_of(Index group) const {
    return static_cast<Index>(std::min<Offset>(rows_, Offset(group + 1) * rows_of_group));
  }

  /// A short group is the last of all: it stays after the others.
  bool is_interior(Index group) const {
    if (end_of(group) - first_of(group) < rows_of_group) return false;
    for (Offset k = begin(first_of(group)); k < end(end_of(group) - 1); ++k) {
      if (!owns(column(k))) return false;
    }
    return true;
  }

 private:
  const RankRows& given_;
  const Partition& partition_;
  long long first_, end_;  // numbers
  Index rows_;
};

/// Rows [first, first + rows) of the basis; `compact` numbers their columns, -1 for one whose
/// entries belong to another part.
template <class Compact>
RowPart make_part(const GivenRows& given, const Basis& basis, Index first, Index rows,
                  Index columns, bool sorts, const Compact& compact) {
  RowPart part;
  part.first_row = first;
  part.rows = rows;
  part.columns = columns;
  part.offsets.reserve(static_cast<std::size_t>(rows) + 1);
  for (Index i = 0; i < rows; ++i) {
    const Index row = basis.user_row(first + i);
    const auto at = static_cast<std::ptrdiff_t>(part.entry.size());
    for (Offset k = given.begin(row); k < given.end(row); ++k) {
      if (compact(given.column(k)) >= 0) part.entry.push_back(k);
    }
    const auto by_column = [&](Offset a, Offset b) { return given.column(a) < given.column(b); };
    if (sorts) std::sort(part.entry.begin() + at, part.entry.end(), by_column);
    part.offsets.push_back(static_cast<Offset>(part.entry.size()));
  }
  part.column.reserve(part.entry.size());
  for (const Offset k : part.entry) part.column.push_back(compact(given.column(k)));
  return part;
}

/// In the order in which rows were given, which is that of the rows of a basis too.
RowPart make_diagonal(const GivenRows& given) {
  RowPart part;
  part.rows = part.columns = given.rows();
  for (Index row = 0; row < given.rows(); ++row) {
    for (Offset k = given.begin(row); k < given.end(row); ++k) {
      if (!given.owns(given.column(k)) || given.row_of(given.column(k)) != row) continue;
      part.column.push_back(row);
      part.entry.push_back(k);
    }
    part.offsets.push_back(static_cast<Offset>(part.entry.size()));
  }
  return part;
}

/// The order of groups: those of interior rows come first.
std::vector<Index> order_of_groups(const GivenRows& given, Index& interior_groups) {
  std::vector<Index> groups, boundary;
  for (Index group = 0; group < given.groups(); ++group) {
    (given.is_interior(group) ? groups : boundary).push_back(group);
  }
  interior_groups = static_cast<Index>(groups.size());
  groups.insert(groups.end(), boundary.begin(), boundary.end());
  return groups;
}

/// Writes a window in the order of `Basis::make`, which is that of one process.
Index* put_window(const GivenRows& given, Index first, Index end, Index* to) {
  Index* const sorted_end = to + (end - first);
  std::iota(to, sorted_end, first);
  if (end - first == 1) return sorted_end;
  const auto length = [&](Index row) { return given.end(row) - given.begin(row); };
  std::stable_sort(to, sorted_end, [&](Index a, Index b) { return length(a) > length(b); });
  return sorted_end;
}

}  // namespace

RowParts split_rows(const Partition& partition, int rank, const RankRows& rows, bool sorts,
                    Index sort_window, BoundaryStorage boundary) {
  const GivenRows given(partition, rank, rows);
  RowParts parts;
  Index interior_groups = 0;
  const std::vector<Index> groups = order_of_groups(given, interior_groups);
  Array<Index> order(static_cast<std::size_t>(given.rows()));
  Index* next = order.data();
  for (const Index group : groups) {
    parts.places.push_back(partition.place_of_group(rank, group));
    const Index end = given.end_of(group);
    for (Index row = given.first_of(group); row < end;) {
      const Index last = end - row > sort_window ? row + sort_window : end;
      next = put_window(given, row, last, next);
      row = last;
    }
  }
  parts.basis = std::is_sorted(order.begin(), order.end())
                    ? Basis::natural(given.rows())
                    : Basis::from_order(std::move(order), Device::cpu());
  const Basis& basis = *parts.basis;

  const Index interior = interior_groups * rows_of_group;
  const bool splits = boundary == BoundaryStorage::split;
  parts.interior_rows = interior;
  parts.interior =
      make_part(given, basis, 0, splits ? given.rows() : interior, given.rows(), sorts,
                [&](long long column) {
                  return given.owns(column) ? basis.position(given.row_of(column)) : Index(-1);
                });

  // The boundary's columns: its own rows, those of the interior that it needs, the halo.
  std::vector<Index> place(static_cast<std::size_t>(given.rows()), -1);
  const auto copy_row = [&](Index position) {
    Index& at = place[static_cast<std::size_t>(position)];
    if (at >= 0) return;
    at = static_cast<Index>(parts.copied_rows.size());
    parts.copied_rows.push_back(position);
  };
  for (Index i = interior; i < given.rows() && !splits; ++i) copy_row(i);
  std::vector<Index> needed;
  for (Index i = interior; i < given.rows(); ++i) {
    const Index row = basis.user_row(i);
    for (Offset k = given.begin(row); k < given.end(row); ++k) {
      const long long column = given.column(k);
      if (given.owns(column)) {
        needed.push_back(basis.position(given.row_of(column)));
      } else {
        parts.halo_columns.push_back(given.number(column));
      }
    }
  }
  const auto make_unique = [](auto& numbers) {
    std::sort(numbers.begin(), numbers.end());
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  };
  make_unique(needed);
  make_unique(parts.halo_columns);
  for (const Index position : needed) {
    if (!splits) copy_row(position);
  }
  const auto copied = static_cast<Offset>(parts.copied_rows.size());
  const auto& halo = parts.halo_columns;
  parts.boundary = make_part(
      given, basis, interior, given.rows() - interior,
      checked_index(copied + static_cast<Offset>(halo.size())), sorts, [&](long long column) {
        // -1 if rows are split.
        if (given.owns(column)) {
          return place[static_cast<std::size_t>(basis.position(given.row_of(column)))];
        }
        const auto at =
            std::lower_bound(halo.begin(), halo.end(), given.number(column)) - halo.begin();
        return static_cast<Index>(copied + at);
      });
  parts.diagonal = make_diagonal(given);
  return parts;
}

}  // namespace heddle::detail
