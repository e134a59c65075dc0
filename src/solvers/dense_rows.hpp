// The inverse of a hierarchy's coarsest level by the lanes of a team (tile_rows.hpp).
#pragma once

#include "tile_rows.hpp"

namespace heddle::device {

/// A = V* D^-1 V with V upper triangular and D its diagonal, so that A^-1 = W W* with W = V^-1
/// D^1/2. Rows are taken as they come: where all pivots stay large beside their rows, no order of
/// theirs is better (Higham 2002, Accuracy and Stability of Numerical Algorithms, 10.1).
struct DenseInverse {
  TilePattern a;
  const double* values = nullptr;
  const double* scales = nullptr;  // what the rows of tiles were made of; null: their diagonals
  double* dense = nullptr;         // n x n numbers: A, then V
  double* turned = nullptr;        // row c of it: column c of V
  double* inverted = nullptr;      // row j of it: column j of W
  double* pivots = nullptr;        // 1 / v_kk; the first is -1 where there are none
  double* result = nullptr;        // tiles of the inverse, all of them
  double least = 0;                // of a pivot, beside what its row was made of
  int size = 1, n = 1;
};

/// A row of tiles in the dense matrix.
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
}

/// Scalars that `factorize` works in.
HEDDLE_HD constexpr Offset room_of_factor(int n, int ring, int lanes) {
  return 2 * Offset(n) + Offset(n > lanes ? n : lanes) * ring;
}

/// V in place of A, in `matrix`. False where little is left of a row, which the host then looks at,
/// or where a number is none.
template <Ring R, class Team>
HEDDLE_INLINE bool factorize(const Team& team, const DenseInverse& d, double* matrix,
                             double* room) {
  constexpr int r = ring_size(R);
  const int n = d.n;
  double *const own = room, *const inverse = own + n, *const partial = inverse + n;
  team.each([&](int lane) {
    for (int c = lane; c < n; c += team.lanes) {
      const double diagonal = matrix[(Offset(c) * n + c) * r];
      const double scale = d.scales != nullptr ? d.scales[c / d.size] : 0;
      own[c] = scale > diagonal ? scale : diagonal;
    }
  });
  for (int k = 0; k < n; ++k) {
    // Parts of the lanes take parts of the sums of row k. A lane adds up those of a number.
    constexpr int most_parts = 8;
    const int width = n - k, rest = team.lanes / width;
    const int parts = rest < 1 ? 1 : rest > most_parts ? most_parts : rest;
    double* const row = matrix + Offset(k) * n * r;
    team.each([&](int lane) {
      const int part = lane / width;
      if (part >= parts) return;
      for (int c = k + lane - part * width; c < n; c += team.lanes) {
        auto sum = part == 0 ? loaded<R>(row + c * r) : Coefficient<R, double>{};
        for (int t = part; t < k; t += parts) {
          auto factor = conj(loaded<R>(matrix + (Offset(t) * n + k) * r));
          heddle::scale(factor, -inverse[t]);
          multiply_add_at<R>(sum.component, factor.component, matrix + (Offset(t) * n + c) * r);
        }
        stored(sum, partial + (part * width + c - k) * r);
      }
    });
    team.each([&](int lane) {
      for (int c = k + lane; c < n; c += team.lanes) {
        auto sum = loaded<R>(partial + (c - k) * r);
        for (int part = 1; part < parts; ++part) {
          HEDDLE_UNROLL for (int q = 0; q < r; ++q) {
            sum.component[q] += partial[(part * width + c - k) * r + q];
          }
        }
        stored(sum, row + c * r);
        stored(sum, d.turned + (Offset(c) * n + k) * r);
        if (c != k) continue;
        inverse[k] = sum.real() > d.least * own[k] ? 1 / sum.real() : -1;
        d.pivots[k] = inverse[k];
      }
    });
    if (!(inverse[k] > 0 && is_finite(own[k]))) return false;
  }
  return true;
}

/// Column j of W, by a team that has room for n numbers. `turned`: of V.
template <Ring R, class Team>
HEDDLE_INLINE void invert_column(const Team& team, const DenseInverse& d, const double* turned,
                                 int j, double* rest) {
  constexpr int r = ring_size(R);
  double* const to = d.inverted + Offset(j) * d.n * r;
  const double first = 1 / __builtin_sqrt(d.pivots[j]);
  team.each([&](int lane) {
    for (int t = lane; t < d.n * r; t += team.lanes) rest[t] = t == j * r ? first : 0;
  });
  for (int t = j; t >= 0; --t) {
    const double* const column = turned + Offset(t) * d.n * r;
    const double pivot = d.pivots[t];
    team.each([&](int lane) {
      auto own = loaded<R>(rest + t * r);
      heddle::scale(own, pivot);
      if (lane == 0) stored(own, to + t * r);
      for (int q = lane; q < t; q += team.lanes) {
        const auto factor = -loaded<R>(column + q * r);
        multiply_add_at<R>(rest + q * r, factor.component, own.component);
      }
    });
  }
}

/// Numbers (i, j) and (j, i) of W W*, j <= i.
template <Ring R>
HEDDLE_INLINE void put_inverse(const DenseInverse& d, int i, int j) {
  constexpr int r = ring_size(R);
  Coefficient<R, double> sum{};
  for (int c = i; c < d.n; ++c) {
    const double* const column = d.inverted + Offset(c) * d.n * r;
    const auto right = conj(loaded<R>(column + j * r));
    multiply_add_at<R>(sum.component, column + i * r, right.component);
  }
  const auto at = [&](int from, int to) {
    const Offset tile = Offset(from / d.size) * (d.n / d.size) + to / d.size;
    return d.result + ((tile * d.size + from % d.size) * d.size + to % d.size) * r;
  };
  stored(conj(sum), at(j, i));
  stored(sum, at(i, j));
}

}  // namespace heddle::device
