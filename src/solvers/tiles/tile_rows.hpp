// The numeric part of a hierarchy on kept patterns, row by row, by the lanes of a team: threads of
// a GPU, or one lane after another in CPU tests. Phases communicate through memory only, and
// `Team::each` ends a phase.
#pragma once

#include "tile_product_rows.hpp"

namespace heddle::device {

/// P = T - omega D^-1 (A T), and its adjoint.
struct SmoothedRows {
  TilePattern p, t;
  const double* image = nullptr;  // A T, on the pattern of P
  const double* tentative = nullptr;
  const double* inverses = nullptr;  // tiles of D^-1
  double omega = 0;
  double* smoothed = nullptr;  // P
  double* adjoint = nullptr;
  const Offset* place = nullptr;  // places of P's tiles in it
  int height = 1, width = 1;
};

/// H and W are the tiles' sizes, or 0.
template <Ring R, int H, int W, class Team>
HEDDLE_INLINE void smooth_row(const Team& team, const SmoothedRows& s, Index row) {
  constexpr Offset r = ring_size(R);
  const int height = H > 0 ? H : s.height, width = W > 0 ? W : s.width, numbers = height * width;
  const Offset first = s.p.offsets[row], end = s.p.offsets[row + 1];
  const Offset of_t = s.t.offsets[row];
  const Index own = of_t < s.t.offsets[row + 1] ? s.t.column[of_t] : -1;
  const double* const inverse = s.inverses + Offset(row) * height * height * r;
  team.each([&](int lane) {
    const int count = static_cast<int>(end - first) * numbers;
    for (int t = lane; t < count; t += team.lanes) {
      const int k = t / numbers, at = t - k * numbers, i = at / width, w = at - i * width;
      const Offset e = first + k;
      const double* const image = s.image + (e * numbers + w) * r;
      Coefficient<R, double> product{};
      HEDDLE_UNROLL for (int m = 0; m < height; ++m) {
        multiply_add_at<R>(product.component, inverse + (i * height + m) * r,
                           image + m * r * width);
      }
      const bool is_own = s.p.column[e] == own;
      double* const to = s.smoothed + (e * numbers + at) * r;
      double* const adjoint = s.adjoint + (s.place[e] * numbers + Offset(w) * height + i) * r;
      HEDDLE_UNROLL for (int part = 0; part < r; ++part) {
        const double value = (is_own ? s.tentative[(of_t * numbers + at) * r + part] : 0) -
                             s.omega * product.component[part];
        to[part] = value;
        adjoint[part] = part == 0 ? value : -value;
      }
    }
  });
}

/// Square tiles on the diagonal of a matrix.
struct DiagonalRows {
  TilePattern a;
  const double* values = nullptr;    // the matrix's
  const Offset* diagonal = nullptr;  // entry on the diagonal of each row, -1 for none
  const double* below = nullptr;     // numbers that energies were made of; null on the finest level
  double* inverses = nullptr;
  double* energies = nullptr;  // the largest number on each tile's diagonal, and that of `below`
  int size = 1;
};

/// Inverts `tile`, which has to be positive definite, in place without pivoting. False if it is
/// not, up to rounding. V is its size, or 0.
template <Ring R, int V>
HEDDLE_INLINE bool invert_in_place(double* tile, int size) {
  constexpr Offset r = ring_size(R);
  const int v = V > 0 ? V : size;
  bool is_positive = true;
  const auto at = [&](int i, int j) { return tile + (i * v + j) * r; };
  HEDDLE_UNROLL for (int k = 0; k < v; ++k) {
    const double pivot = at(k, k)[0];
    is_positive = is_positive && pivot > 0 && is_finite(pivot);
    const double scale = 1 / pivot;
    stored(Coefficient<R, double>::from_real(1), at(k, k));
    HEDDLE_UNROLL for (int t = 0; t < v * r; ++t) at(k, 0)[t] *= scale;
    HEDDLE_UNROLL for (int i = 0; i < v; ++i) {
      if (i == k) continue;
      const auto factor = -loaded<R>(at(i, k));
      stored(Coefficient<R, double>{}, at(i, k));
      HEDDLE_UNROLL for (int j = 0; j < v; ++j) {
        multiply_add_at<R>(at(i, j), factor.component, at(k, j));
      }
    }
  }
  return is_positive;
}

/// True if the tiles of `row` hold nothing but zeros in their row i.
template <Ring R>
HEDDLE_INLINE bool is_zero_row(const DiagonalRows& d, Index row, int i) {
  const Offset numbers = Offset(d.size) * ring_size(R);
  for (Offset e = d.a.offsets[row]; e < d.a.offsets[row + 1]; ++e) {
    const double* const number = d.values + (e * d.size + i) * numbers;
    for (Offset k = 0; k < numbers; ++k) {
      if (number[k] != 0) return false;
    }
  }
  return true;
}

/// Puts 1 on the tile's diagonal for each row of zeros. False if another row has a zero there: then
/// the matrix is indefinite.
template <Ring R, int V>
HEDDLE_INLINE bool put_units(const DiagonalRows& d, Index row, double* tile) {
  constexpr Offset r = ring_size(R);
  const int v = V > 0 ? V : d.size;
  bool is_good = true;
  HEDDLE_UNROLL for (int i = 0; i < v; ++i) {
    double* const number = tile + (i * v + i) * r;
    if (number[0] != 0) continue;
    is_good = is_good && is_zero_row<R>(d, row, i);
    number[0] = 1;
  }
  return is_good;
}

/// Rows of zeros count as those of the identity. False for a tile that may be singular or not
/// definite: an inverse so large that it may come from rounding is in doubt.
template <Ring R, int V>
HEDDLE_INLINE bool invert_row(const DiagonalRows& d, Index row) {
  constexpr Offset r = ring_size(R);
  const int v = V > 0 ? V : d.size;
  const Offset place = d.diagonal[row] * v * v * r;
  const auto from = [&](int k) { return place < 0 ? 0 : d.values[place + k]; };
  double* const to = d.inverses + Offset(row) * v * v * r;
  double largest = d.below != nullptr ? d.below[row] : 0;
  for (int i = 0; i < v; ++i) {
    const double size = absolute(from((i * v + i) * r));
    largest = size > largest ? size : largest;
  }
  d.energies[row] = largest;
  bool is_good = true;
  if constexpr (V > 0) {
    double tile[r * V * V];
    HEDDLE_UNROLL for (int k = 0; k < r * V * V; ++k) tile[k] = from(k);
    is_good = put_units<R, V>(d, row, tile);
    is_good = invert_in_place<R, V>(tile, V) && is_good;
    HEDDLE_UNROLL for (int k = 0; k < r * V * V; ++k) to[k] = tile[k];
  } else {
    for (int k = 0; k < r * v * v; ++k) to[k] = from(k);
    is_good = put_units<R, 0>(d, row, to);
    is_good = invert_in_place<R, 0>(to, v) && is_good;
  }
  const double most = 1 / (1e3 * v * epsilon_of_double);
  for (int i = 0; i < v; ++i) {
    const double growth = to[(i * v + i) * r] * from((i * v + i) * r);
    is_good = is_good && growth < most;  // false if it is not a number
  }
  return is_good;
}

/// The sum of 1 and the norms of the other tiles in a row of D^-1 A (`detail::may_exceed`).
struct ReachRows {
  TilePattern a;
  const double* values = nullptr;
  const double* inverses = nullptr;
  const double* reach = nullptr;  // when the eigenvalue was last estimated
  double bound = 0;
  int size = 1;
};

/// The row's sum.
template <Ring R, int V, class Team>
HEDDLE_INLINE double reach_of_row(const Team& team, const ReachRows& q, Index row) {
  constexpr Offset r = ring_size(R);
  const int v = V > 0 ? V : q.size;
  const double* const inverse = q.inverses + Offset(row) * v * v * r;
  return 1 + team.sum([&](int lane) {
    double part = 0;
    for (Offset e = q.a.offsets[row] + lane; e < q.a.offsets[row + 1]; e += team.lanes) {
      if (q.a.column[e] == row) continue;
      const double* const tile = q.values + e * v * v * r;
      if (r * v == 1) {
        part += absolute(*inverse * *tile);
        continue;
      }
      double squares = 0;
      for (int i = 0; i < v; ++i) {
        for (int j = 0; j < v; ++j) {
          Coefficient<R, double> number{};
          HEDDLE_UNROLL for (int k = 0; k < v; ++k) {
            multiply_add_at<R>(number.component, inverse + (i * v + k) * r, tile + (k * v + j) * r);
          }
          squares += squared_norm(number);
        }
      }
      part += __builtin_sqrt(squares);
    }
    return part;
  });
}

/// True if the row lets an eigenvalue exceed the bound.
template <Ring R, int V, class Team>
HEDDLE_INLINE bool exceeds(const Team& team, const ReachRows& q, Index row) {
  constexpr double growth = 1.05;
  const double sum = reach_of_row<R, V>(team, q, row);
  const double known = growth * q.reach[row];
  return !(sum <= (q.bound > known ? q.bound : known));
}

/// The magnitudes that energies of the coarse rows were made of, and their diagonals made
/// invertible (`detail::energy_scales`, `detail::mend_diagonal`).
struct MendedRows {
  TilePattern restriction;
  const double* adjoint = nullptr;   // the restriction's values
  const double* energies = nullptr;  // energies of the fine rows
  double* scales = nullptr;
  double* values = nullptr;  // values of the coarse matrix
  const Offset* diagonal = nullptr;
  double* scratch = nullptr;  // a tile and its pivots for each coarse row
  double rounding = 0, least = 0;
  int size = 1, of_tile = 1;  // numbers of the coarse tiles; scalars of the restriction's
};

/// Factors A = L D L*, with numbers and pivots in `scratch`. False if an energy is negative.
template <Ring R>
HEDDLE_INLINE bool mend_tile(double* tile, int k, double scale, double rounding, double least,
                             double* scratch) {
  constexpr Offset r = ring_size(R);
  double *const lower = scratch, *const pivot = scratch + Offset(k) * k * r;
  for (int j = 0; j < k; ++j) {
    const auto reduced = [&](int i) {
      auto left = loaded<R>(tile + (Offset(i) * k + j) * r);
      for (int m = 0; m < j; ++m) {
        auto factor = conj(loaded<R>(lower + (Offset(j) * k + m) * r));
        heddle::scale(factor, -pivot[m]);
        multiply_add_at<R>(left.component, lower + (Offset(i) * k + m) * r, factor.component);
      }
      return left;
    };
    double own = reduced(j).real();
    if (own < least * scale) return false;
    if (!(own > rounding * scale)) {
      tile[(j * k + j) * r] += scale;
      own += scale;
    }
    pivot[j] = own;
    for (int i = j + 1; i < k; ++i) {
      auto below = reduced(i);
      heddle::scale(below, 1 / own);
      stored(below, lower + (Offset(i) * k + j) * r);
    }
  }
  return true;
}

/// False if an energy is negative.
template <Ring R, class Team>
HEDDLE_INLINE bool mend_row(const Team& team, const MendedRows& m, Index row) {
  constexpr int r = ring_size(R);
  const double scale = team.sum([&](int lane) {
    double part = 0;
    for (Offset e = m.restriction.offsets[row] + lane; e < m.restriction.offsets[row + 1];
         e += team.lanes) {
      double squared = 0;
      for (int t = 0; t < m.of_tile; ++t) {
        const double number = m.adjoint[e * m.of_tile + t];
        squared += number * number;
      }
      part += squared * m.energies[m.restriction.column[e]];
    }
    return part;
  });
  bool is_good = true;
  team.each([&](int lane) {
    if (lane != 0) return;
    m.scales[row] = scale;
    const Offset k = m.size;
    is_good = m.diagonal[row] >= 0 &&
              mend_tile<R>(m.values + m.diagonal[row] * k * k * r, m.size, scale, m.rounding,
                           m.least, m.scratch + row * (k * k * r + k));
  });
  return is_good;
}

}  // namespace heddle::device
