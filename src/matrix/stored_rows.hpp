// The rows of a sliced matrix as the user numbers them, on the host, and their transpose.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/unset_array.hpp"
#include "heddle/detail/sliced.hpp"

namespace heddle::detail {

/// Compressed rows in the user's order, columns ascending.
struct UserRows {
  Array<Offset> offsets;
  Array<Index> column;

  Index rows() const { return static_cast<Index>(offsets.size()) - 1; }
  Offset entries() const { return offsets[offsets.size() - 1]; }
  Offset begin(Index row) const { return offsets[static_cast<std::size_t>(row)]; }
  std::span<const Index> row(Index row) const {
    const Offset first = begin(row);
    return {column.data() + first, static_cast<std::size_t>(begin(row + 1) - first)};
  }
  PatternView view() const { return view(rows()); }
  PatternView view(Index columns) const { return {rows(), columns, offsets.data(), column.data()}; }
};

/// A matrix's rows, and the slots of their entries.
struct StoredRows : UserRows {
  Array<Offset> slot;  // slot of each entry
};
StoredRows stored_rows(const SlicedPattern& pattern, const Stream& host);

/// Adds up lengths to offsets: the length of row i is at i + 1.
void sum_up(Array<Offset>& offsets);

/// Transpose of a pattern of `columns` columns; `place` gets the place of each entry in it.
UserRows transposed(const UserRows& rows, Index columns, const Stream& host, Array<Offset>& place);

/// Like `adjoint_pattern` of heddle/detail/matrix_product_rows.hpp, by the host's threads.
void adjoint_pattern(const PatternView& a, const Stream& host, Array<Offset>& offsets,
                     Array<Index>& column, Array<Offset>& place);

/// For each term of a row of C = A B, from first[row] on, its place in that row: in the order of
/// the entries of A's row and of the rows of B that belong to them.
struct TermPlaces {
  Array<Offset> first;
  UnsetArray<std::uint8_t> place;
};

/// Like `product_pattern` of heddle/detail/matrix_product_rows.hpp, and lists the terms if `terms`
/// is not null. Returns the length of C's longest row: above 256 entries the places mean nothing.
Index product_pattern(const PatternView& a, const PatternView& b, const Stream& host,
                      Array<Offset>& offsets, Array<Index>& column, TermPlaces* terms);

/// The values of A and B, and those of C = A B.
struct ProductNumbers {
  const double* left;
  const double* right;
  bool is_sorted = true;  // else a row's columns come in the order in which its terms meet them
  UnsetArray<double> result = {};
};

/// Like `product_pattern`, and adds the terms of each entry, in the order of A's row, in the same
/// walk.
Index multiply_numbers(const PatternView& a, const PatternView& b, const Stream& host,
                       Array<Offset>& offsets, Array<Index>& column, ProductNumbers& numbers);

}  // namespace heddle::detail
