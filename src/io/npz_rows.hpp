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
  /// Reads the sizes. Throws `Error` as `read_npz`.
  explicit NpzRows(const std::string& path);

  Index rows() const { return static_cast<Index>(sizes_.rows); }
  Index columns() const { return static_cast<Index>(sizes_.columns); }
  /// Duplicates count for themselves.
  long long entries() const { return entries_; }

  bool is_complex() const { return is_complex_; }

  /// Whether rows of the file are rows of such entries, which its blocks tell: one by one where
  /// they are numbers, else blocks of an entry's size. Not where an entry is a definition, nor in
  /// Fortran order, where the numbers of a block lie apart, nor in a file of other formats than
  /// rows (CSC, COO, DIA), of which nothing else is known here.
  bool are_rows_of(const AnyEntry& entry) const;

  /// Entries in each so many rows. Reads the offsets, and checks that
  /// columns and values are as many.
  std::vector<long long> entries_of_groups(Index rows_of_group) const;

  /// Where the rows of all entries lie, as `AnyMatrix::read` has them: what a plan is chosen by.
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
  /// Rows [first, end), with the columns of all: what `AnyMatrix::read` has there. Reads no more
  /// than these of columns and values where the file stores them uncompressed, so that only `check`
  /// of the `sums` of all rows tells whether they are as they were written. Throws `Error` as
  /// `AnyMatrix::read`, with the file's name in front.
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
  long long entries_ = 0;  // of which there are values
  long long columns_of_entries_ = 0;
};

}  // namespace heddle
