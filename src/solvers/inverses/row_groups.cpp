#include "row_groups.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/long_double.hpp"
#include "heddle/kernels/dense_blocks.hpp"

namespace heddle::detail {

namespace {

template <class D>
bool has(BlockSymmetry symmetry, const D* block, Index n, int ring, D tolerance) {
  const bool is_hermitian = symmetry == BlockSymmetry::hermitian;
  const auto at = [&](Index i, Index j) { return block + (Offset(i) * n + j) * ring; };
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j <= i; ++j) {
      const D scale = std::sqrt(device::sum_of_sizes(at(i, i), ring)) *
                      std::sqrt(device::sum_of_sizes(at(j, j), ring));
      if (!device::are_mirrored(at(i, j), at(j, i), ring, is_hermitian, scale, tolerance)) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace

GroupStarts uniform_groups(Index rows, Index size) {
  GroupStarts starts;
  for (Offset row = 0; row < rows; row += size) starts.push_back(static_cast<Index>(row));
  starts.push_back(rows);
  return starts;
}

GroupStarts natural_groups(const UserRows& rows, Index most) {
  GroupStarts starts{0};
  const auto repeats = [&](long long row) {
    const auto own = rows.row(static_cast<Index>(row)),
               before = rows.row(static_cast<Index>(row) - 1);
    return std::equal(own.begin(), own.end(), before.begin(), before.end());
  };
  for_each_natural_group(rows.rows(), most, repeats, [&](long long, long long end) {
    starts.push_back(static_cast<Index>(end));
  });
  return starts;
}

Offset entries_of(const GroupStarts& groups) {
  Offset entries = 0;
  for (std::size_t g = 1; g < groups.size(); ++g) {
    const Offset rows = groups[g] - groups[g - 1];
    entries += rows * rows;
  }
  return entries;
}

UserRows group_rows(const GroupStarts& groups, const RowsOfRank& of_rank) {
  UserRows pattern;
  pattern.offsets = Array<Offset>(static_cast<std::size_t>(groups.back()) + 1);
  std::size_t row = 0, to = 0;
  for (std::size_t g = 1; g < groups.size(); ++g) {
    const auto size = static_cast<std::size_t>(groups[g] - groups[g - 1]);
    for (Index i = groups[g - 1]; i < groups[g]; ++i) {
      to += of_rank.owns(i) ? size : 0;
      pattern.offsets[++row] = static_cast<Offset>(to);
    }
  }
  pattern.column = Array<Index>(to);
  for (std::size_t g = 1; g < groups.size(); ++g) {
    for (Index i = groups[g - 1]; i < groups[g]; ++i) {
      if (of_rank.owns(i)) {
        Index* const of_row = pattern.column.data() + pattern.begin(i);
        std::iota(of_row, of_row + (groups[g] - groups[g - 1]), groups[g - 1]);
      }
    }
  }
  return pattern;
}

template <class D>
BlockSymmetry symmetry_of(const D* block, Index n, int ring, D tolerance) {
  if (has(BlockSymmetry::hermitian, block, n, ring, tolerance)) return BlockSymmetry::hermitian;
  // The inverse of a symmetric matrix of quaternions is not symmetric.
  if (ring == 2 && has(BlockSymmetry::plain, block, n, ring, tolerance)) {
    return BlockSymmetry::plain;
  }
  return BlockSymmetry::none;
}

template <class D>
void symmetrize(D* block, Index n, int ring, BlockSymmetry symmetry) {
  if (symmetry == BlockSymmetry::none) return;
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j <= i; ++j) {
      device::mirror(block + (Offset(i) * n + j) * ring, block + (Offset(j) * n + i) * ring, ring,
                     symmetry == BlockSymmetry::hermitian);
    }
  }
}

template <class D>
bool put_units_in_zero_rows(D* block, Index n, int ring) {
  for (Index i = 0; i < n; ++i) {
    D* const row = block + Offset(i) * n * ring;
    const D size = device::sum_of_sizes(row, n * ring);
    if (!std::isfinite(size)) return false;
    if (size == 0) row[Offset(i) * ring] = 1;
  }
  return true;
}

template <class D>
void find_largest_of_columns(const D* block, Index n, int ring, D* largest) {
  std::fill_n(largest, n, D(0));
  for (Offset at = 0; at < Offset(n) * n; ++at) {
    D& of_column = largest[at % n];
    of_column = std::max(of_column, device::sum_of_sizes(block + at * ring, ring));
  }
}

template <class D>
void put_inverse_of_diagonal(const D* diagonal, Index n, int ring, D* block) {
  std::fill_n(block, Offset(n) * n * ring, D(0));
  for (Index i = 0; i < n; ++i)
    block[(Offset(i) * n + i) * ring] = device::inverse_size(diagonal[i]);
}

template BlockSymmetry symmetry_of(const double*, Index, int, double);
HEDDLE_IN_LONG_DOUBLE(template BlockSymmetry symmetry_of(const long double*, Index, int,
                                                         long double);)
template bool put_units_in_zero_rows(double*, Index, int);
HEDDLE_IN_LONG_DOUBLE(template bool put_units_in_zero_rows(long double*, Index, int);)
template void find_largest_of_columns(const double*, Index, int, double*);
HEDDLE_IN_LONG_DOUBLE(template void find_largest_of_columns(const long double*, Index, int,
                                                            long double*);)
template void put_inverse_of_diagonal(const double*, Index, int, double*);
HEDDLE_IN_LONG_DOUBLE(template void put_inverse_of_diagonal(const long double*, Index, int,
                                                            long double*);)
template void symmetrize(double*, Index, int, BlockSymmetry);
HEDDLE_IN_LONG_DOUBLE(template void symmetrize(long double*, Index, int, BlockSymmetry);)

}  // namespace heddle::detail
