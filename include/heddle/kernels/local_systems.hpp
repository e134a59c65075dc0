// The small dense systems of approximate inverses, solved by the lanes of a team: groups of threads
// on a GPU, or one lane after another in CPU tests. Phases communicate through memory only;
// `Team::each` ends a phase. src/solvers/tiles/local_systems.hpp has the same arithmetic for one
// CPU thread.
#pragma once

#include "heddle/kernels/dense_blocks.hpp"
#include "heddle/kernels/inverse_arguments.hpp"
#include "heddle/methods/coefficient.hpp"

#if defined(__CUDA_ARCH__)
#define HEDDLE_UNROLL _Pragma("unroll")
#else
#define HEDDLE_UNROLL
#endif

namespace heddle::device {

inline constexpr double epsilon_of_double = 2.220446049250313e-16;

/// The places of the parts of a system of `entries` tiles of V x V numbers of ring R.
template <InversePart part, int V, Ring R>
struct LocalMemory {
  static constexpr int r = ring_size(R), tile = V * V * r;
  static constexpr bool is_factor = part == InversePart::factor_row;
  static constexpr bool is_block = part == InversePart::block;

  int entries;     // tiles of a row
  double* matrix;  // a factor: tiles of the lower triangle; else n rows of `pitch` numbers
  double* result;  // a row of tiles; of blocks, room for all rows
  double* of_column;
  double* of_row;
  double* inverse;  // inverses of the pivots
  long long* slot;  // during the gathering: slot of each tile, -1 for zero; in `result`'s place
  Index* position;  // position in the basis of each of the row's columns, in the user's order
  int* entry;       // the entry of the stored row at that position
  Index* sorted;    // the positions in increasing order, and whose they are
  int* local;
  Index* order;
  int* failed;  // one per `RowFailure`, then the number of the diagonal entry
  int* fact;    // one per `BlockFact`; only of blocks

  HEDDLE_INLINE LocalMemory(double* words, int count) : entries(count) {
    const Offset n = Offset(count) * V, pairs = tiles();
    matrix = words;
    result = matrix + (is_factor ? pairs * tile : n * pitch() * r);
    slot = reinterpret_cast<long long*>(result);
    const Offset row = n * (is_block ? n : V) * r;
    of_column = result + (row > pairs ? row : pairs);
    of_row = of_column + (is_factor ? 0 : n);
    inverse = of_row + (is_factor ? 0 : n);
    position = reinterpret_cast<Index*>(inverse + (is_factor ? 0 : n * r));
    entry = position + count;
    sorted = entry + count;
    local = sorted + count;
    order = local + count;
    failed = order + (is_factor ? 0 : n);
    fact = failed + row_failures + 1;
  }

  HEDDLE_INLINE int numbers() const { return entries * V; }
  /// Odd, so that lanes that read a column hit different banks.
  HEDDLE_INLINE Offset pitch() const { return numbers() | 1; }
  HEDDLE_INLINE Offset tiles() const {
    return is_factor ? Offset(entries) * (entries + 1) / 2 : Offset(entries) * entries;
  }
  /// Packed by rows, so that a column of the triangle hits different banks, too.
  HEDDLE_INLINE static Offset triangle(int i, int j) { return Offset(i) * (i + 1) / 2 + j; }
  HEDDLE_INLINE double* tile_at(int i, int j) const { return matrix + triangle(i, j) * tile; }
  HEDDLE_INLINE double* number_at(int i, int j) const { return matrix + (i * pitch() + j) * r; }
};

HEDDLE_INLINE bool is_finite(double value) { return value - value == 0; }
HEDDLE_INLINE double inverse_root(double value) {
#if defined(__CUDA_ARCH__)
  return rsqrt(value);
#else
  return 1 / __builtin_sqrt(value);
#endif
}
HEDDLE_INLINE double root(double value) {
#if defined(__CUDA_ARCH__)
  return sqrt(value);
#else
  return __builtin_sqrt(value);
#endif
}
HEDDLE_INLINE double absolute(double value) { return value < 0 ? -value : value; }

/// Numbers of a tile in registers.
template <int V, Ring R>
struct Tile {
  static constexpr int r = ring_size(R);
  double scalar[V * V * r];

  HEDDLE_INLINE double* at(int i, int j) { return scalar + (i * V + j) * r; }
  HEDDLE_INLINE const double* at(int i, int j) const { return scalar + (i * V + j) * r; }
  HEDDLE_INLINE static Tile zero() {
    Tile tile;
    HEDDLE_UNROLL for (int k = 0; k < V * V * r; ++k) tile.scalar[k] = 0;
    return tile;
  }
  HEDDLE_INLINE static Tile load(const double* from) {
    Tile tile;
    HEDDLE_UNROLL for (int k = 0; k < V * V * r; ++k) tile.scalar[k] = from[k];
    return tile;
  }
  HEDDLE_INLINE void store(double* to) const {
    HEDDLE_UNROLL for (int k = 0; k < V * V * r; ++k) to[k] = scalar[k];
  }
};

template <Ring R>
HEDDLE_INLINE Coefficient<R, double> loaded(const double* from) {
  Coefficient<R, double> number;
  HEDDLE_UNROLL for (int p = 0; p < ring_size(R); ++p) number.component[p] = from[p];
  return number;
}
template <Ring R>
HEDDLE_INLINE void stored(const Coefficient<R, double>& number, double* to) {
  HEDDLE_UNROLL for (int p = 0; p < ring_size(R); ++p) to[p] = number.component[p];
}

/// sum += a b*.
template <int V, Ring R>
HEDDLE_INLINE void add_product_with_adjoint(Tile<V, R>& sum, const double* a, const double* b) {
  constexpr Offset r = ring_size(R);
  HEDDLE_UNROLL for (int p = 0; p < V; ++p) {
    Coefficient<R, double> left[V], right[V];
    HEDDLE_UNROLL for (int i = 0; i < V; ++i) {
      left[i] = loaded<R>(a + (i * V + p) * r);
      right[i] = conj(loaded<R>(b + (i * V + p) * r));
    }
    HEDDLE_UNROLL for (int i = 0; i < V; ++i) {
      HEDDLE_UNROLL for (int j = 0; j < V; ++j) {
        multiply_add_at<R>(sum.at(i, j), left[i].component, right[j].component);
      }
    }
  }
}

/// Replaces the lower triangle of D with that of L, D = L L*, with the inverses of its diagonal.
/// False if a pivot is not above `smallest` times the matrix's own diagonal there.
template <int V, Ring R>
HEDDLE_INLINE bool factor_tile(Tile<V, R>& D, const double* diagonal, double smallest) {
  constexpr int r = ring_size(R);
  bool is_positive = true;
  HEDDLE_UNROLL for (int k = 0; k < V; ++k) {
    const double pivot = D.at(k, k)[0];
    is_positive = is_positive && pivot > smallest * diagonal[k] && is_finite(pivot);
    const double scale = inverse_root(pivot);
    HEDDLE_UNROLL for (int i = k + 1; i < V; ++i) {
      HEDDLE_UNROLL for (int p = 0; p < r; ++p) D.at(i, k)[p] *= scale;
    }
    HEDDLE_UNROLL for (int i = k + 1; i < V; ++i) {
      const auto left = -loaded<R>(D.at(i, k));
      HEDDLE_UNROLL for (int j = k + 1; j <= i; ++j) {
        const auto right = conj(loaded<R>(D.at(j, k)));
        multiply_add_at<R>(D.at(i, j), left.component, right.component);
      }
    }
    stored(Coefficient<R, double>::from_real(scale), D.at(k, k));
  }
  return is_positive;
}

/// Solves X L* = B in place; L holds the inverses of its diagonal.
template <int V, Ring R>
HEDDLE_INLINE void divide_by_adjoint(Tile<V, R>& B, const double* L) {
  constexpr Offset r = ring_size(R);
  HEDDLE_UNROLL for (int c = 0; c < V; ++c) {
    HEDDLE_UNROLL for (int t = 0; t < c; ++t) {
      const auto factor = conj(loaded<R>(L + (c * V + t) * r));
      HEDDLE_UNROLL for (int i = 0; i < V; ++i) {
        const auto left = -loaded<R>(B.at(i, t));
        multiply_add_at<R>(B.at(i, c), left.component, factor.component);
      }
    }
    const double scale = L[(c * V + c) * r];
    HEDDLE_UNROLL for (int i = 0; i < V; ++i) {
      HEDDLE_UNROLL for (int p = 0; p < r; ++p) B.at(i, c)[p] *= scale;
    }
  }
}

/// Solves one row of Y L = B in place.
template <int V, Ring R>
HEDDLE_INLINE void divide_row(double* row, const double* L) {
  constexpr Offset r = ring_size(R);
  HEDDLE_UNROLL for (int c = V - 1; c >= 0; --c) {
    auto sum = loaded<R>(row + c * r);
    HEDDLE_UNROLL for (int t = V - 1; t > c; --t) {
      const auto left = -loaded<R>(row + t * r);
      multiply_add_at<R>(sum.component, left.component, L + (t * V + c) * r);
    }
    scale(sum, L[(c * V + c) * r]);
    stored(sum, row + c * r);
  }
}

/// The last row of tiles of L^-1, A = L L*: the row of the factor G. Reads the lower triangle.
template <int V, Ring R, class Team>
HEDDLE_INLINE void solve_factor(const Team& team,
                                const LocalMemory<InversePart::factor_row, V, R>& m) {
  constexpr Offset r = ring_size(R), tile = r * V * V;
  const int n = m.entries, most = team.most(n);
  const double smallest = m.numbers() * epsilon_of_double;
  for (int J = 0; J < most; ++J) {
    // Column J of the triangle, minus the contributions of the columns before it.
    team.each([&](int lane) {
      for (int I = J + lane; I < n; I += team.lanes) {
        double* const own = m.tile_at(I, J);
        auto sum = Tile<V, R>::zero();
        const double *left = m.tile_at(I, 0), *right = m.tile_at(J, 0);
        for (int k = 0; k < J; ++k, left += tile, right += tile) {
          add_product_with_adjoint(sum, left, right);
        }
        auto A = Tile<V, R>::load(own);
        double diagonal[V];
        HEDDLE_UNROLL for (int c = 0; c < V; ++c) diagonal[c] = A.at(c, c)[0];
        HEDDLE_UNROLL for (int k = 0; k < tile; ++k) A.scalar[k] -= sum.scalar[k];
        if (I == J && !factor_tile(A, diagonal, smallest)) m.failed[row_is_singular] = 1;
        A.store(own);
      }
    });
    team.each([&](int lane) {
      for (int I = J + 1 + lane; I < n; I += team.lanes) {
        auto A = Tile<V, R>::load(m.tile_at(I, J));
        divide_by_adjoint(A, m.tile_at(J, J));
        A.store(m.tile_at(I, J));
      }
    });
  }
  // W L = (0, ..., 0, I), from its end.
  team.each([&](int lane) {
    for (int k = lane; k < n * tile; k += team.lanes) {
      const int of_last = k - (n - 1) * tile;
      m.result[k] = of_last >= 0 && of_last % ((V + 1) * r) == 0 ? 1 : 0;
    }
  });
  for (int before = 0; before < most; ++before) {
    const int t = n - 1 - before;
    double* const W = m.result + Offset(t) * tile;
    team.each([&](int lane) {
      for (int c = lane; c < V && t >= 0; c += team.lanes) {
        divide_row<V, R>(W + c * r * V, m.tile_at(t, t));
      }
    });
    team.each([&](int lane) {
      for (int at = lane; at < t * V; at += team.lanes) {
        const int q = at / V, c = at % V;
        const double* const L = m.tile_at(t, q);
        double* const to = m.result + Offset(q) * tile + c * r * V;
        HEDDLE_UNROLL for (int j = 0; j < V; ++j) {
          auto sum = loaded<R>(to + j * r);
          HEDDLE_UNROLL for (int p = 0; p < V; ++p) {
            const auto left = -loaded<R>(W + (c * V + p) * r);
            multiply_add_at<R>(sum.component, left.component, L + (p * V + j) * r);
          }
          stored(sum, to + j * r);
        }
      }
    });
  }
}

/// P A = L U in A's place, by elimination with row pivoting; `m.order` is the permutation, and
/// `m.inverse` has the inverses of U's diagonal.
template <InversePart part, int V, Ring R, class Team>
HEDDLE_INLINE void eliminate_rows(const Team& team, const LocalMemory<part, V, R>& m) {
  constexpr int r = ring_size(R);
  const int n = m.numbers(), most = team.most(n);
  const double smallest = n * epsilon_of_double;
  const auto magnitude = [&](int i, int j) {
    const double* const number = m.number_at(i, j);
    double sum = 0;
    HEDDLE_UNROLL for (int p = 0; p < r; ++p) sum += absolute(number[p]);
    return sum;
  };
  team.each([&](int lane) {
    for (int i = lane; i < n; i += team.lanes) {
      double of_row = 0, of_column = 0;
      for (int j = 0; j < n; ++j) {
        const double in_row = magnitude(i, j), in_column = magnitude(j, i);
        of_row = in_row > of_row ? in_row : of_row;
        of_column = in_column > of_column ? in_column : of_column;
      }
      m.of_row[i] = of_row;
      m.of_column[i] = of_column;
      m.order[i] = i;
    }
  });
  for (int k = 0; k < most; ++k) {
    const int pivot = team.largest(k, n, [&](int i) { return magnitude(i, k); });
    team.each([&](int lane) {
      if (k >= n) return;
      if (pivot != k) {
        for (int at = lane; at < n * r; at += team.lanes) {
          double *const upper = m.number_at(k, 0) + at, *const lower = m.number_at(pivot, 0) + at;
          const double kept = *upper;
          *upper = *lower;
          *lower = kept;
        }
      }
      if (lane != 0) return;
      const Index order = m.order[k];
      m.order[k] = m.order[pivot];
      m.order[pivot] = order;
      const double of_row = m.of_row[k];
      m.of_row[k] = m.of_row[pivot];
      m.of_row[pivot] = of_row;
    });
    team.each([&](int lane) {
      if (k >= n) return;
      const auto inverted = inverse(loaded<R>(m.number_at(k, k)));
      if (lane == 0) {
        const double size = magnitude(k, k);
        const double scale = m.of_column[k] < m.of_row[k] ? m.of_column[k] : m.of_row[k];
        if (!(size > smallest * scale && is_finite(size))) m.failed[row_is_singular] = 1;
        stored(inverted, m.inverse + k * r);
      }
      const double of_pivot = m.of_row[k];
      for (int i = k + 1 + lane; i < n; i += team.lanes) {
        const auto factor = loaded<R>(m.number_at(i, k)) * inverted;
        stored(factor, m.number_at(i, k));
        const double grown = magnitude(i, k) * of_pivot;
        if (grown > m.of_row[i]) m.of_row[i] = grown;
        const auto minus = -factor;
        const double* from = m.number_at(k, k + 1);
        double* to = m.number_at(i, k + 1);
        for (int j = k + 1; j < n; ++j, from += r, to += r) {
          multiply_add_at<R>(to, minus.component, from);
        }
      }
    });
  }
}

/// Rows [first, first + count) of A^-1 after `eliminate_rows`: numbers of row c are at
/// m.result + c n r, and belong in the places that `m.order` says.
template <InversePart part, int V, Ring R, class Team>
HEDDLE_INLINE void solve_unit_rows(const Team& team, const LocalMemory<part, V, R>& m, int first,
                                   int count) {
  constexpr Offset r = ring_size(R);
  const int n = m.numbers(), most = team.most(n);
  // m A = e with A = P^T L U: w U = e, u L = w, m = u P. Numbers of w wait for their pivots.
  double* const w = m.result;
  team.each([&](int lane) {
    for (int at = lane; at < r * count * n; at += team.lanes) w[at] = 0;
  });
  team.each([&](int lane) {
    for (int c = lane; c < count && n > 0; c += team.lanes) w[(c * n + first + c) * r] = 1;
  });
  for (int k = 0; k < most; ++k) {
    team.each([&](int lane) {
      const int rest = n - k - 1;
      for (int at = lane; at < count * rest; at += team.lanes) {
        double* const row = w + Offset(at / rest) * n * r;
        const int j = k + 1 + at % rest;
        const auto factor = -(loaded<R>(row + k * r) * loaded<R>(m.inverse + k * r));
        multiply_add_at<R>(row + j * r, factor.component, m.number_at(k, j));
      }
    });
  }
  team.each([&](int lane) {
    for (int at = lane; at < count * n; at += team.lanes) {
      stored(loaded<R>(w + at * r) * loaded<R>(m.inverse + at % n * r), w + at * r);
    }
  });
  for (int before = 0; before < most; ++before) {
    const int k = n - 1 - before;
    team.each([&](int lane) {
      for (int at = lane; at < count * k; at += team.lanes) {
        double* const row = w + Offset(at / k) * n * r;
        const int j = at % k;
        const auto factor = -loaded<R>(row + k * r);
        multiply_add_at<R>(row + j * r, factor.component, m.number_at(k, j));
      }
    });
  }
}

/// Rows [own V, own V + V) of A^-1 as tiles, where `own` is the entry on the diagonal. The result
/// takes the matrix's place.
template <int V, Ring R, class Team>
HEDDLE_INLINE void solve_rows(const Team& team, const LocalMemory<InversePart::row, V, R>& m) {
  constexpr Offset r = ring_size(R);
  const int n = m.numbers();
  eliminate_rows(team, m);
  const int own = n > 0 ? m.failed[row_failures] * V : 0;  // a team without a row has found none
  solve_unit_rows(team, m, own, V);
  team.each([&](int lane) {
    for (int at = lane; at < V * n; at += team.lanes) {
      const int c = at / n, to = m.order[at % n];
      stored(loaded<R>(m.result + at * r), m.matrix + (to / V * V * V + c * V + to % V) * r);
    }
  });
}

/// Finds the facts about a block, whose rows of zeros become those of the identity.
template <int V, Ring R, class Team>
HEDDLE_INLINE void look_at_block(const Team& team, const LocalMemory<InversePart::block, V, R>& m,
                                 double tolerance) {
  constexpr int r = ring_size(R);
  const int n = m.numbers();
  team.each([&](int lane) {
    for (int kind = lane; kind < block_facts; kind += team.lanes) m.fact[kind] = 0;
  });
  team.each([&](int lane) {
    for (int at = lane; at < n * n; at += team.lanes) {
      const int i = at / n, j = at % n;
      if (j > i) continue;
      const double scale =
          root(sum_of_sizes(m.number_at(i, i), r)) * root(sum_of_sizes(m.number_at(j, j), r));
      const double *const a = m.number_at(i, j), *const b = m.number_at(j, i);
      if (!are_mirrored(a, b, r, true, scale, tolerance)) m.fact[is_not_hermitian] = 1;
      if (!are_mirrored(a, b, r, false, scale, tolerance)) m.fact[is_not_symmetric] = 1;
    }
  });
  team.each([&](int lane) {
    for (int i = lane; i < n; i += team.lanes) {
      const double size = sum_of_sizes(m.number_at(i, 0), n * r);
      if (!is_finite(size)) m.fact[is_not_finite] = m.failed[row_is_singular] = 1;
      if (size == 0) m.number_at(i, i)[0] = 1;
    }
  });
}

/// A^-1 in the matrix's place, with the symmetry that A has.
template <int V, Ring R, class Team>
HEDDLE_INLINE void solve_block(const Team& team, const LocalMemory<InversePart::block, V, R>& m,
                               double tolerance) {
  constexpr int r = ring_size(R);
  const int n = m.numbers();
  look_at_block(team, m, tolerance);
  eliminate_rows(team, m);
  solve_unit_rows(team, m, 0, n);
  team.each([&](int lane) {
    for (int at = lane; at < r * n * n; at += team.lanes) {
      if (!is_finite(m.result[at])) m.failed[row_is_singular] = 1;
    }
  });
  team.each([&](int lane) {
    const bool is_unit = n > 0 && m.failed[row_is_singular] != 0 && m.fact[is_not_finite] == 0;
    for (int at = lane; at < n * n; at += team.lanes) {
      auto number = loaded<R>(m.result + Offset(at) * r);
      const int i = at / n, j = is_unit ? at % n : m.order[at % n];
      if (is_unit)
        number = Coefficient<R, double>::from_real(i == j ? inverse_size(m.of_column[j]) : 0);
      stored(number, m.number_at(i, j));
    }
  });
  // Elimination leaves rounding that methods for Hermitian preconditioners would notice. The
  // inverse of a symmetric matrix of quaternions is not symmetric.
  team.each([&](int lane) {
    if (n == 0) return;
    if (lane == 0 && m.fact[is_not_finite] == 0) m.failed[row_is_singular] = 0;
    const bool is_hermitian = m.fact[is_not_hermitian] == 0;
    const bool is_symmetric = R == Ring::complex && m.fact[is_not_symmetric] == 0;
    if (!is_hermitian && !is_symmetric) return;
    for (int at = lane; at < n * n; at += team.lanes) {
      const int i = at / n, j = at % n;
      if (j <= i) mirror(m.number_at(i, j), m.number_at(j, i), r, is_hermitian);
    }
  });
}

}  // namespace heddle::device
