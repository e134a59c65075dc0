// Groups of consecutive rows, for block Jacobi: where they begin, and what holds for their dense
// blocks when they are inverted.
#pragma once

#include <vector>

#include "solvers/tiles/user_rows.hpp"

namespace heddle::detail {

/// The first row of each group, followed by the number of rows.
using GroupStarts = std::vector<Index>;

/// Groups of `size` rows each; the last one has the rest.
GroupStarts uniform_groups(Index rows, Index size);

/// Calls `take(first, end)` for each group of `natural_groups`. `repeats(row)`: true if a row has
/// the columns of the one before it.
template <class Repeats, class Take>
void for_each_natural_group(long long rows, Index most, const Repeats& repeats, const Take& take) {
  long long begin = 0;
  for (long long row = 0; row < rows;) {
    const long long first = row++;
    while (row < rows && row - first < most && repeats(row)) ++row;
    if (row - begin <= most) continue;
    take(begin, first);
    begin = first;
  }
  if (rows > 0) take(begin, rows);
}
/// Consecutive rows with the same columns stay together, and neighbours join, up to `most` rows:
/// supervariable agglomeration (Anzt, Dongarra, Flegar and Quintana-Orti 2019, Parallel Computing
/// 81), which begins a new group where the next supervariable does not fit. Longer ones are cut.
GroupStarts natural_groups(const UserRows& rows, Index most);

/// Entries of the block diagonal.
Offset entries_of(const GroupStarts& groups);
/// The pattern of the block diagonal: each own row has all columns of its group.
UserRows group_rows(const GroupStarts& groups, const RowsOfRank& of_rank);

/// The symmetry of a dense block of numbers over a ring, but for `tolerance`.
enum class BlockSymmetry { none, hermitian, plain };

/// `block` is n x n numbers of `ring` scalars, row by row. Elements are compared with the root of
/// their diagonals' product, so that rows and columns may differ in scale.
template <class D>
BlockSymmetry symmetry_of(const D* block, Index n, int ring, D tolerance);

/// Replaces the block with the mean of itself and its adjoint, or transpose.
template <class D>
void symmetrize(D* block, Index n, int ring, BlockSymmetry symmetry);

/// Puts 1 on the diagonal of each row of zeros. False if a number is not finite.
template <class D>
bool put_units_in_zero_rows(D* block, Index n, int ring);
/// The size of the largest number in each column.
template <class D>
void find_largest_of_columns(const D* block, Index n, int ring, D* largest);
/// Makes `block` the inverse of this real diagonal.
template <class D>
void put_inverse_of_diagonal(const D* diagonal, Index n, int ring, D* block);

extern template BlockSymmetry symmetry_of(const double*, Index, int, double);
extern template BlockSymmetry symmetry_of(const long double*, Index, int, long double);
extern template bool put_units_in_zero_rows(double*, Index, int);
extern template bool put_units_in_zero_rows(long double*, Index, int);
extern template void find_largest_of_columns(const double*, Index, int, double*);
extern template void find_largest_of_columns(const long double*, Index, int, long double*);
extern template void put_inverse_of_diagonal(const double*, Index, int, double*);
extern template void put_inverse_of_diagonal(const long double*, Index, int, long double*);
extern template void symmetrize(double*, Index, int, BlockSymmetry);
extern template void symmetrize(long double*, Index, int, BlockSymmetry);

}  // namespace heddle::detail
