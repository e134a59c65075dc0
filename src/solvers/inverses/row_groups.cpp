#include "row_groups.hpp"
#include "base/long_double.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace heddle::detail {

namespace {

/// Scalar p of an element's mirror image has this sign.
template <class D>
D mirrored_sign(int p, bool is_hermitian) {
  return is_hermitian && p > 0 ? D(-1) : D(1);
}

template <class D>
bool has(BlockSymmetry symmetry, const D* block, Index n, int ring, D tolerance) {
  const bool is_hermitian = symmetry == BlockSymmetry::hermitian;
  const auto at = [&](Index i, Index j) { return block + (Offset(i) * n + j) * ring; };
  const auto size = [&](const D* number) {
    D sum = 0;
    for (int p = 0; p < ring; ++p) sum += std::abs(number[p]);
    return sum;
  };
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j <= i; ++j) {
      const D *const a = at(i, j), *const b = at(j, i);
      D defect = 0;
      for (int p = 0; p < ring; ++p) {
        defect += std::abs(a[p] - mirrored_sign<D>(p, is_hermitian) * b[p]);
      }
      const D scale = size(a) + size(b) + std::sqrt(size(at(i, i))) * std::sqrt(size(at(j, j)));
      if (!(defect <= tolerance * scale)) return false;
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
BlockSymmetry symmetry_of(const D* block, Index n, int ring, D rounding) {
  const D tolerance = std::sqrt(rounding);
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
      D* const a = block + (Offset(i) * n + j) * ring;
      D* const b = block + (Offset(j) * n + i) * ring;
      for (int p = 0; p < ring; ++p) {
        const D sign = mirrored_sign<D>(p, symmetry == BlockSymmetry::hermitian);
        // Halves first: neither may overflow.
        const D mean = a[p] / 2 + sign * b[p] / 2;
        a[p] = mean;
        b[p] = sign * mean;
      }
    }
  }
}

template BlockSymmetry symmetry_of(const double*, Index, int, double);
HEDDLE_IN_LONG_DOUBLE(template BlockSymmetry symmetry_of(const long double*, Index, int,
                                                         long double);)
template void symmetrize(double*, Index, int, BlockSymmetry);
HEDDLE_IN_LONG_DOUBLE(template void symmetrize(long double*, Index, int, BlockSymmetry);)

}  // namespace heddle::detail
