// Values and powers of the rows of a sliced matrix, on the host, from which an approximate inverse
// is set up.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "heddle/detail/sliced_operator.hpp"
#include "matrix/stored_rows.hpp"

namespace heddle::detail {

/// All stored values in memory that the host can read: those of a GPU are in `copied`, which grows
/// if it has to, by all threads. A copy waits for the matrix's stream.
template <class S>
const std::byte* readable_values(const SlicedOperator<S>& matrix, Array<std::byte>& copied);

/// The components of every entry, in the order of the rows, widened to D. A copy of a GPU's memory
/// waits for its stream.
template <class S, class D>
void read_values(const SlicedOperator<S>& matrix, const StoredRows& rows, Array<D>& values,
                 const Stream& host);

/// The rows of a matrix that are this rank's own, among those of other ranks: all in the order of
/// all ranks' rows. Empty lists: all are its own.
struct RowsOfRank {
  std::vector<bool> is_own;
  std::vector<long long> of_all;  // their numbers among the rows of all ranks
  int sharing_memory = 1;         // number of ranks

  bool owns(Index row) const { return is_own.empty() || is_own[static_cast<std::size_t>(row)]; }
  long long row_of_all(Index row) const {
    return of_all.empty() ? row : of_all[static_cast<std::size_t>(row)];
  }
};

/// The use of the rows of a pattern: a dense system for each, with `numbers` numbers of `ring`
/// scalars per entry, and `bytes` of memory per entry.
struct PatternUse {
  const char* who = "";
  int numbers = 1;
  int ring = 1;
  long long bytes = 0;
};

/// The own rows of A^power, A with its diagonal, up to the diagonal if `lower`; others are empty.
/// Throws `Error` before it allocates them, and as soon as that is known: memory if their use does
/// not fit in the host's memory, unsupported if the dense systems take too long.
UserRows power_rows(const UserRows& rows, int power, bool lower, const PatternUse& use,
                    const RowsOfRank& of_rank, const Stream& host);

/// The first own row without a diagonal entry; the number of rows if there is none.
Index first_row_without_diagonal(const UserRows& rows, const RowsOfRank& of_rank);

extern template const std::byte* readable_values(const SlicedOperator<float>&, Array<std::byte>&);
extern template const std::byte* readable_values(const SlicedOperator<double>&, Array<std::byte>&);
extern template const std::byte* readable_values(const SlicedOperator<long double>&,
                                                 Array<std::byte>&);
extern template void read_values(const SlicedOperator<float>&, const StoredRows&, Array<double>&,
                                 const Stream&);
extern template void read_values(const SlicedOperator<double>&, const StoredRows&, Array<double>&,
                                 const Stream&);
extern template void read_values(const SlicedOperator<long double>&, const StoredRows&,
                                 Array<long double>&, const Stream&);

}  // namespace heddle::detail
