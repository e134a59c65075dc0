// The inverse of a hierarchy's coarsest level by the lanes of a team (tile_rows.hpp).
#pragma once

#include "tile_rows.hpp"

namespace heddle::device {

/// A^-1 by Gauss-Jordan elimination, one panel of rows and columns after another. Rows are taken in
/// their given order: if all pivots stay large compared with their rows, no other order is better
/// (Higham 2002, Accuracy and Stability of Numerical Algorithms, 10.1 and 14.4).
struct DenseInverse {
  TilePattern a;
  const double* values = nullptr;
  const double* scales = nullptr;  // magnitude each row of tiles was made of; null: its diagonal
  double* dense = nullptr;         // n x n numbers
  double* other = nullptr;         // same size: an elimination reads one and writes the other
  double* panel = nullptr;         // rows of a panel, after its elimination
  double* own = nullptr;           // magnitude that each row was made of
  double* result = nullptr;        // tiles of the inverse, all of them
  double least = 0;                // least pivot, relative to what its row was made of
  int size = 1, n = 1;
};

/// Rows of a panel: the 256 threads of a block have four numbers each, or one.
template <Ring R>
inline constexpr int rows_of_panel = R == Ring::real ? 32 : 16;
/// Number of scalars that `eliminate_panel` works in.
template <Ring R>
inline constexpr int scalars_of_panel = 2 * rows_of_panel<R> * rows_of_panel<R> * ring_size(R);

/// Fills a row of tiles of the dense matrix.
template <class Team>
HEDDLE_INLINE void fill_dense(const Team& team, const DenseInverse& d, int ring, Index row) {
  const Offset v = d.size, width = Offset(d.n) * ring;
  double* const to = d.dense + row * v * width;
  team.each([&](int lane) {
    for (Offset t = lane; t < v * width; t += team.lanes) to[t] = 0;
  });
  const Offset first = d.a.offsets[row], scalars = v * v * ring;
  team.each([&](int lane) {
    for (Offset t = lane; t < (d.a.offsets[row + 1] - first) * scalars; t += team.lanes) {
      const Offset e = first + t / scalars, at = t % scalars, i = at / (v * ring);
      to[i * width + d.a.column[e] * v * ring + at % (v * ring)] = d.values[first * scalars + t];
    }
  });
  team.each([&](int lane) {
    for (Offset i = lane; i < v; i += team.lanes) {
      const double diagonal = to[i * width + (row * v + i) * ring];
      const double scale = d.scales != nullptr ? d.scales[row] : 0;
      d.own[row * v + i] = scale > diagonal ? scale : diagonal;
    }
  });
}

/// Columns [begin, end) of the panel of rows from `first` on of `matrix`: the inverse P of the
/// diagonal tile in that tile's columns, P times the rows in the others. False if little is left of
/// a row, which the host then looks at, or if a number is not finite.
template <Ring R, class Team>
HEDDLE_INLINE bool eliminate_panel(const Team& team, const DenseInverse& d, const double* matrix,
                                   int first, int begin, int end, double* scratch) {
  constexpr Offset r = ring_size(R);
  const int rest = d.n - first, count = rest < rows_of_panel<R> ? rest : rows_of_panel<R>;
  double *now = scratch, *next = scratch + r * count * count;
  team.each([&](int lane) {
    for (int t = lane; t < count * count; t += team.lanes) {
      const int i = t / count, j = t - i * count;
      stored(loaded<R>(matrix + (Offset(first + i) * d.n + first + j) * r), now + t * r);
    }
  });
  bool is_good = true;
  for (int k = 0; k < count; ++k) {
    const double pivot = now[(k * count + k) * r], own = d.own[first + k];
    is_good = is_good && pivot > d.least * own && is_finite(own) && is_finite(pivot);
    const double inverse = 1 / pivot;
    team.each([&](int lane) {
      for (int t = lane; t < count * count; t += team.lanes) {
        const int i = t / count, j = t - i * count;
        auto sum = i == k || j == k ? Coefficient<R, double>{} : loaded<R>(now + t * r);
        auto factor =
            i == k ? Coefficient<R, double>::from_real(1) : -loaded<R>(now + (i * count + k) * r);
        heddle::scale(factor, inverse);
        const auto right =
            j == k ? Coefficient<R, double>::from_real(1) : loaded<R>(now + (k * count + j) * r);
        multiply_add_at<R>(sum.component, factor.component, right.component);
        stored(sum, next + t * r);
      }
    });
    double* const kept = now;
    now = next, next = kept;
  }
  team.each([&](int lane) {
    const int width = end - begin;
    for (int t = lane; t < count * width; t += team.lanes) {
      const int i = t / width, j = begin + t - i * width;
      Coefficient<R, double> sum{};
      if (j >= first && j < first + count) {
        sum = loaded<R>(now + (i * count + j - first) * r);
      } else {
        for (int m = 0; m < count; ++m) {
          multiply_add_at<R>(sum.component, now + (i * count + m) * r,
                             matrix + (Offset(first + m) * d.n + j) * r);
        }
      }
      stored(sum, d.panel + (Offset(i) * d.n + j) * r);
    }
  });
  return is_good;
}

/// Number (i, j) after the elimination of the panel from `first` on.
template <Ring R>
HEDDLE_INLINE void eliminate(const DenseInverse& d, const double* matrix, double* to, int first,
                             int i, int j) {
  constexpr int r = ring_size(R);
  const int rest = d.n - first, count = rest < rows_of_panel<R> ? rest : rows_of_panel<R>;
  const Offset at = (Offset(i) * d.n + j) * r;
  if (i >= first && i < first + count) {
    return stored(loaded<R>(d.panel + (Offset(i - first) * d.n + j) * r), to + at);
  }
  const bool is_of_panel = j >= first && j < first + count;
  auto sum = is_of_panel ? Coefficient<R, double>{} : loaded<R>(matrix + at);
  for (int m = 0; m < count; ++m) {
    const auto factor = -loaded<R>(matrix + (Offset(i) * d.n + first + m) * r);
    multiply_add_at<R>(sum.component, factor.component, d.panel + (Offset(m) * d.n + j) * r);
  }
  stored(sum, to + at);
}

/// Puts numbers (i, j) and (j, i) of the inverse, j <= i, from the lower one in `matrix`.
template <Ring R>
HEDDLE_INLINE void put_inverse(const DenseInverse& d, const double* matrix, int i, int j) {
  constexpr int r = ring_size(R);
  const auto number = loaded<R>(matrix + (Offset(i) * d.n + j) * r);
  const auto at = [&](int from, int to) {
    const Offset tile = Offset(from / d.size) * (d.n / d.size) + to / d.size;
    return d.result + ((tile * d.size + from % d.size) * d.size + to % d.size) * r;
  };
  stored(conj(number), at(j, i));
  stored(number, at(i, j));
}

}  // namespace heddle::device
