#include "row_groups.hpp"

#include <algorithm>
#include <cmath>

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
  const Index n = rows.rows();
  const auto same = [&](Index row, Index other) {
    const auto a = rows.row(row), b = rows.row(other);
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  };
  GroupStarts starts{0};
  for (Index row = 0; row < n;) {
    const Index first = row++;
    while (row < n && row - first < most && same(first, row)) ++row;
    if (row - starts.back() > most) starts.push_back(first);
  }
  if (n > 0) starts.push_back(n);
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

UserRows group_rows(const GroupStarts& groups) {
  UserRows pattern;
  pattern.offsets = Array<Offset>(static_cast<std::size_t>(groups.back()) + 1);
  pattern.column = Array<Index>(static_cast<std::size_t>(entries_of(groups)));
  std::size_t row = 0, to = 0;
  for (std::size_t g = 1; g < groups.size(); ++g) {
    for (Index i = groups[g - 1]; i < groups[g]; ++i) {
      for (Index j = groups[g - 1]; j < groups[g]; ++j) pattern.column[to++] = j;
      pattern.offsets[++row] = static_cast<Offset>(to);
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
template BlockSymmetry symmetry_of(const long double*, Index, int, long double);
template void symmetrize(double*, Index, int, BlockSymmetry);
template void symmetrize(long double*, Index, int, BlockSymmetry);

}  // namespace heddle::detail
