// A rank's rows in two parts: interior ones, which need no column of another rank, and boundary
// ones.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "heddle/basis.hpp"
#include "heddle/csr.hpp"
#include "heddle/distributed_operator.hpp"
#include "heddle/partition.hpp"

namespace heddle::detail {

/// Rows next to each other in the basis, with columns that are numbered for this part alone.
struct RowPart {
  Index first_row = 0;
  Index rows = 0;
  Index columns = 0;
  std::vector<Offset> offsets{0};
  std::vector<Index> column;
  std::vector<Offset> entry;  // its place among the rank's

  PatternView pattern() const {
    return {rows, columns, OffsetsView(offsets.data()), column.data()};
  }
  /// The values of this part, `bytes` bytes each, from those of the rank.
  std::vector<std::byte> values_of(std::span<const std::byte> all, std::size_t bytes) const;
};

struct RowParts {
  std::shared_ptr<const Basis> basis;   // groups of interior rows, then the others; sorted
  std::vector<long long> places;        // where those groups lie among all ranks'
  Index interior_rows = 0;              // the boundary's follow them
  RowPart interior;                     // its columns are the rank's rows, in the basis
  RowPart boundary;                     // its columns: `copied_rows`, then the halo
  std::vector<Index> copied_rows;       // in the basis; first the boundary's own
  std::vector<long long> halo_columns;  // ascending, as ranks number their rows
  RowPart diagonal;                     // in the rank's order
};

/// Throws `Error`: size_mismatch unless offsets and columns are those of the partition's rows of
/// this rank, out_of_range for a column that does not exist. `sorts`: sorts entries of a row by
/// column. `sort_window`: rows are sorted by length within windows of this many, a power of two up
/// to 256, so that each group of rows has an order of its own. Under `BoundaryStorage::split` the
/// interior has all rows, with their entries in the rank's columns, and the boundary has the other
/// entries, those in the halo.
RowParts split_rows(const Partition& partition, int rank, const RankRows& rows, bool sorts,
                    Index sort_window, BoundaryStorage boundary);

}  // namespace heddle::detail
