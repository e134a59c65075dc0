// The rows of a sliced matrix as the user numbers them, on the host: what an approximate inverse is
// set up from.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "heddle/detail/sliced_operator.hpp"

namespace heddle::detail {

/// Compressed rows in the user's order, columns growing.
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
  PatternView view() const { return {rows(), rows(), offsets.data(), column.data()}; }
};

/// A square matrix's rows, and where their entries lie.
struct StoredRows : UserRows {
  Array<Offset> slot;  // of each entry
};
StoredRows stored_rows(const SlicedPattern& pattern, const Stream& host);

/// The components of every entry, in the order of the rows, widened to D. A copy of a GPU's memory
/// waits for its stream.
template <class S, class D>
void read_values(const SlicedOperator<S>& matrix, const StoredRows& rows, Array<D>& values,
                 const Stream& host);

/// What the rows of a pattern are to be used for: a dense system each, of `numbers` numbers of
/// `ring` scalars for an entry, and `bytes` of memory for an entry.
struct PatternUse {
  const char* who = "";
  int numbers = 1;
  int ring = 1;
  long long bytes = 0;
};

/// The rows of A^power, A with its diagonal, up to the diagonal if `lower`. Throws `Error` before
/// it allocates them, and as soon as that is known: memory where what they are for does not fit the
/// host's memory, unsupported where the dense systems take too long.
UserRows power_rows(const UserRows& rows, int power, bool lower, const PatternUse& use,
                    const Stream& host);

/// The first row without a diagonal entry; the number of rows if none is.
Index first_row_without_diagonal(const UserRows& rows);

/// The transpose of a square pattern; `place` gets the place of each entry in it.
UserRows transposed(const UserRows& rows, Array<Offset>& place);

extern template void read_values(const SlicedOperator<float>&, const StoredRows&, Array<double>&,
                                 const Stream&);
extern template void read_values(const SlicedOperator<double>&, const StoredRows&, Array<double>&,
                                 const Stream&);
extern template void read_values(const SlicedOperator<long double>&, const StoredRows&,
                                 Array<long double>&, const Stream&);

}  // namespace heddle::detail
