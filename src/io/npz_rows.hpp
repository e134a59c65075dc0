// A SciPy `.npz` file of which each rank reads its rows.
#pragma once

#include <string>
#include <vector>

#include "heddle/npz.hpp"
#include "heddle/runtime/any_matrix.hpp"
#include "npz_member.hpp"

namespace heddle {

/// Rows are counted in the file's blocks.
class NpzRows {
 public:
  /// Reads the sizes. Throws `Error` like `read_npz`.
  explicit NpzRows(const std::string& path);

  Index rows() const { return static_cast<Index>(sizes_.rows); }
  Index columns() const { return static_cast<Index>(sizes_.columns); }
  /// Number of entries; each duplicate counts.
  long long entries() const { return entries_; }

  bool is_complex() const { return is_complex_; }

  /// True if rows of the file are rows of such entries, by its blocks: single numbers, or blocks of
  /// an entry's size. False if an entry is a definition, in Fortran order, where the numbers of a
  /// block lie apart, and in a file of formats other than rows (CSC, COO, DIA), of which nothing
  /// else is known here.
  bool are_rows_of(const AnyEntry& entry) const;

  /// Number of entries in each `rows_of_group` rows. Reads the offsets, and checks that there are
  /// as many columns and values.
  std::vector<long long> entries_of_groups(Index rows_of_group) const;

  /// The pattern of all rows, as `AnyMatrix::read` has it. A plan is chosen by it.
  struct Pattern {
    Index rows, columns;
    Array<Offset> offsets;
    Array<Index> column;

    PatternView view() const { return {rows, columns, OffsetsView(offsets.data()), column.data()}; }
  };
  Pattern read_pattern(const Device& device) const;

  /// Sums of the bytes of columns and values that were read.
  struct Sums {
    io::ByteSum column, values;
  };
  /// Rows [first, end), with the columns of the whole matrix, as `AnyMatrix::read` has them. If the
  /// file stores columns and values uncompressed, only those of these rows are read, so that only
  /// `check` of the `sums` of all rows shows whether they are as they were written. Throws `Error`
  /// like `AnyMatrix::read`, with the file's name in front.
  AnyMatrix read(Index first, Index end, const AnyEntry& entry, Precision precision,
                 const Device& device, Sums* sums = nullptr) const;
  /// Throws `Error` (malformed_file) unless the sums of parts that together are all rows, in their
  /// order, are those of the archive.
  void check(const std::vector<Sums>& parts) const;

 private:
  BlockMatrix read_blocks(Index first, Index end, const Device& device, Sums* sums) const;

  std::string path_;
  io::Archive archive_;
  io::BlockSizes sizes_;
  bool has_rows_ = false;
  bool is_complex_ = false;
  bool is_in_fortran_order_ = false;
  long long entries_ = 0;  // number of values
  long long columns_of_entries_ = 0;
};

}  // namespace heddle
