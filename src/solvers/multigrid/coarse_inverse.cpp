#include "coarse_inverse.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <utility>
#include <vector>

#include "heddle/detail/wide_loop.hpp"
#include "heddle/tools/team.hpp"
#include "solvers/tiles/level_spectrum.hpp"
#include "solvers/tiles/local_systems.hpp"

namespace heddle::detail {

namespace {

/// Numbers of all tiles in one dense matrix, row by row.
void copy_to_dense(const TileMatrix& a, std::vector<double>& dense) {
  const Offset v = a.shape.height, r = a.shape.ring;
  const Offset n = static_cast<Offset>(a.rows()) * v;
  dense.assign(static_cast<std::size_t>(n * n * r), 0);
  for (Index row = 0; row < a.rows(); ++row) {
    for (Offset e = a.pattern.begin(row); e < a.pattern.begin(row + 1); ++e) {
      const Offset column = a.pattern.column[static_cast<std::size_t>(e)];
      for (int i = 0; i < v; ++i) {
        std::copy_n(a.tile(e) + i * v * r, v * r,
                    dense.begin() + ((Offset(row) * v + i) * n + column * v) * r);
      }
    }
  }
}

/// to += the sum of factor(m) from(m) over m in [first, end), in this order, of `count` numbers
/// each. Several m at once: each number of `to` is read and written once for them.
template <Ring R, class FactorOf, class RowOf>
HEDDLE_INLINE void add_multiples_of_rows(double* __restrict to, Offset first, Offset end,
                                         Offset count, const FactorOf& factor, const RowOf& from) {
  constexpr Offset at_once = 4;
  if constexpr (R == Ring::real) {
    for (; first + at_once <= end; first += at_once) {
      const double a = factor(first).component[0], b = factor(first + 1).component[0],
                   c = factor(first + 2).component[0], d = factor(first + 3).component[0];
      const double *const x = from(first), *const y = from(first + 1), *const z = from(first + 2),
                          *const w = from(first + 3);
      for (Offset j = 0; j < count; ++j) {
        double sum = to[j];
        sum += a * x[j];
        sum += b * y[j];
        sum += c * z[j];
        sum += d * w[j];
        to[j] = sum;
      }
    }
  }
  for (; first < end; ++first) {
    add_multiple_of_row<R>(to, factor(first), from(first), static_cast<Index>(count));
  }
}

/// Exchanges rows and columns k < p of a Hermitian matrix from row k on, and these columns in the
/// rows of U above it. Only upper triangles are stored.
template <Ring R>
HEDDLE_INLINE void exchange(double* dense, Offset n, Offset k, Offset p) {
  constexpr Offset r = ring_size(R);
  const auto at = [&](Offset i, Offset j) { return dense + (i * n + j) * r; };
  for (Offset i = 0; i < k; ++i) std::swap_ranges(at(i, k), at(i, k) + r, at(i, p));
  std::swap_ranges(at(k, k), at(k, k) + r, at(p, p));
  for (Offset j = k + 1; j < p; ++j) {
    const auto right = number_at<R>(at(k, j), 0);
    put_number(conj(number_at<R>(at(j, p), 0)), at(k, j), 0);
    put_number(conj(right), at(j, p), 0);
  }
  put_number(conj(number_at<R>(at(k, p), 0)), at(k, p), 0);
  std::swap_ranges(at(k, p) + r, at(k, 0) + n * r, at(p, p) + r);
}

/// Checks the rest that elimination has left of A from row k on, once little is left of every row:
/// |s_ij|^2 <= s_ii s_jj in a semidefinite matrix.
template <Ring R>
HEDDLE_INLINE void check_rest(const double* dense, Offset n, Offset k, const double* own) {
  constexpr Offset r = ring_size(R);
  const double max_ratio = 2 * std::sqrt(-min_energy);
  double sum = 0;
  for (Offset i = k; i < n; ++i) {
    for (Offset t = (i * n + i) * r; t < (i + 1) * n * r; ++t) sum += std::abs(dense[t]);
  }
  if (!std::isfinite(sum)) refuse_not_finite();
  for (Offset i = k; i < n; ++i) {
    const double* const row = dense + i * n * r;
    if (row[i * r] < min_energy * own[i]) refuse_indefinite();
    for (Offset j = i + 1; j < n; ++j) {
      const double most = max_ratio * std::sqrt(own[i]) * std::sqrt(own[j]);
      for (Offset t = j * r; t < (j + 1) * r; ++t) {
        if (std::abs(row[t]) > most) refuse_indefinite();
      }
    }
  }
}

/// Subtracts the rows [first, end) of U from the numbers right of the diagonal in each row from
/// `end` on. One thread handles a row.
template <Ring R>
void subtract_rows(double* dense, Offset n, Offset first, Offset end, int team) {
  constexpr Offset r = ring_size(R), rows_at_once = 8;
  parallel_for(team, n - end, rows_at_once, [&](Offset offset) {
    const Offset i = end + offset;
    run_widely_fused([&] {
      add_multiples_of_rows<R>(
          dense + (i * n + i + 1) * r, first, end, n - i - 1,
          [&](Offset q) { return -conj(number_at<R>(dense + q * n * r, i)); },
          [&](Offset q) { return dense + (q * n + i + 1) * r; });
    });
  });
}

/// Finishes row k of U, by subtracting the rows [first, k), and updates the diagonal below it.
template <Ring R>
HEDDLE_INLINE void finish_row(double* dense, Offset n, Offset first, Offset k) {
  constexpr Offset r = ring_size(R);
  double* const row = dense + k * n * r;
  add_multiples_of_rows<R>(
      row + (k + 1) * r, first, k, n - k - 1,
      [&](Offset q) { return -conj(number_at<R>(dense + q * n * r, k)); },
      [&](Offset q) { return dense + (q * n + k + 1) * r; });
  const double scale = 1 / std::sqrt(row[k * r]);
  for (Offset t = (k + 1) * r; t < n * r; ++t) row[t] *= scale;
  put_number(Coefficient<R, double>::from_real(scale), row, k);
  for (Offset i = k + 1; i < n; ++i) {
    const auto number = number_at<R>(row, i);
    add_multiple_of_row<R>(dense + (i * n + i) * r, -conj(number), number.component, 1);
  }
}

/// A = U* U by rows, with 1 / u_kk in place of u_kk, for A's rows in the order written to `order`.
/// The next row is the one with the largest fraction of its diagonal left, the first of several: a
/// small pivot would amplify A's own rounding (Higham 2002, Accuracy and Stability of Numerical
/// Algorithms, 10.3). Once no diagonal has more than `rounding` left, the rest is rounding: these
/// rows get their diagonal of A in its place. `own` may hold larger values than A's diagonal, else
/// 0, and gets the larger of both. Several rows of U are subtracted together from those below,
/// except for the diagonal (Lucas 2004, LAPACK Working Note 161).
template <Ring R>
void factorize(double* dense, Offset n, double rounding, double* own, Index* order, int team) {
  constexpr Offset r = ring_size(R), rows_together = 32;
  const auto row_of = [&](Offset i) { return dense + i * n * r; };
  double largest = 0;
  for (Offset k = 0; k < n; ++k) {
    order[k] = static_cast<Index>(k);
    const double diagonal = row_of(k)[k * r];
    own[k] = std::max(own[k], diagonal);
    if (!std::isfinite(diagonal) || !std::isfinite(own[k])) refuse_not_finite();
    if (diagonal < min_energy * own[k] || own[k] < 0) refuse_indefinite();
    largest = std::max(largest, own[k]);
  }
  bool is_checked = false;
  Offset first = 0;  // first row of U not yet subtracted from those below
  for (Offset k = 0; k < n; ++k) {
    if (k - first == rows_together) subtract_rows<R>(dense, n, std::exchange(first, k), k, team);
    Offset next = k;
    double max_left = 0;
    for (Offset i = k; i < n; ++i) {
      const double left = own[i] > 0 ? row_of(i)[i * r] / own[i] : 0;
      if (left > max_left) next = i, max_left = left;
    }
    if (max_left <= -min_energy && !std::exchange(is_checked, true)) {
      subtract_rows<R>(dense, n, std::exchange(first, k), k, team);
      check_rest<R>(dense, n, k, own);
    }
    double* const row = row_of(k);
    if (max_left <= rounding) {
      std::fill(row + k * r, row + n * r, double(0));
      // A row of zeros may have any energy.
      const double energy = own[k] > 0 ? own[k] : largest > 0 ? largest : 1;
      row[k * r] = 1 / std::sqrt(energy);
      continue;
    }
    if (next != k) {
      exchange<R>(dense, n, k, next);
      std::swap(own[k], own[next]);
      std::swap(order[k], order[next]);
    }
    run_widely_fused([&] { finish_row<R>(dense, n, first, k); });
  }
}

/// Columns [first, end) of U^-1, from the last row up, for U with 1 / u_kk in place of u_kk.
template <Ring R>
HEDDLE_INLINE void invert_columns(const double* upper, Offset n, Offset first, Offset end,
                                  double* inverse) {
  constexpr Offset r = ring_size(R);
  for (Offset q = end - 1; q >= 0; --q) {
    const double* const of_u = upper + q * n * r;
    double* const row = inverse + q * n * r;
    const Offset begin = std::max(first, q + 1);
    std::fill(row + first * r, row + end * r, double(0));
    const auto factor = [&](Offset t) { return -number_at<R>(of_u, t); };
    add_multiples_of_rows<R>(row + first * r, q + 1, begin, end - first, factor,
                             [&](Offset t) { return inverse + (t * n + first) * r; });
    for (Offset t = begin; t < end; ++t) {
      add_multiple_of_row<R>(row + t * r, factor(t), inverse + (t * n + t) * r,
                             static_cast<Index>(end - t));
    }
    for (Offset t = begin * r; t < end * r; ++t) row[t] *= of_u[q * r];
    if (q >= first) std::copy_n(of_u + q * r, r, row + q * r);
  }
}

/// Row i of U^-1 U^-* up to the diagonal, from U^-*.
template <Ring R>
HEDDLE_INLINE void multiply_row(const double* adjoint, Offset n, Offset i, double* row) {
  constexpr Offset r = ring_size(R);
  std::fill(row, row + (i + 1) * r, double(0));
  add_multiples_of_rows<R>(
      row, i, n, i + 1, [&](Offset c) { return conj(number_at<R>(adjoint + c * n * r, i)); },
      [&](Offset c) { return adjoint + c * n * r; });
}

/// Writes Z = U^-1 U^-*, which is definite, to `scratch.inverse`. If A is singular, Z inverts A on
/// A's range: it is the inverse of A + D, with D on as many rows as A has null vectors, so that
/// A Z A = A. Columns and rows are shared in parts that do not depend on the threads.
template <Ring R>
void invert_over(const TileMatrix& a, std::span<const double> scale, double rounding,
                 SetupScratch& scratch, const Stream& host) {
  constexpr Offset r = ring_size(R), columns_at_once = 32;
  const Offset n = static_cast<Offset>(a.rows()) * a.shape.height;
  const int team = team_size(host, n * n * n / 16 * r * r);
  copy_to_dense(a, scratch.dense);
  scratch.inverse.resize(scratch.dense.size());
  scratch.work.resize(static_cast<std::size_t>(n));
  scratch.order.reserve(1, static_cast<std::size_t>(n));
  scratch.numbers.reserve(team, static_cast<std::size_t>(n * r));
  double *const dense = scratch.dense.data(), *const inverse = scratch.inverse.data();
  Index* const order = scratch.order.of_thread(0);
  for (Offset k = 0; k < n; ++k) {
    scratch.work[static_cast<std::size_t>(k)] =
        scale.empty() ? 0 : scale[static_cast<std::size_t>(k / a.shape.height)];
  }
  factorize<R>(dense, n, rounding, scratch.work.data(), order, team);
  const Offset blocks = (n + columns_at_once - 1) / columns_at_once;
  parallel_for(team, blocks, 1, [&](Offset block) {
    // The last blocks take longest.
    const Offset first = (blocks - 1 - block) * columns_at_once;
    const Offset end = std::min(n, first + columns_at_once);
    run_widely_fused([&] { invert_columns<R>(dense, n, first, end, inverse); });
  });
  parallel_for(team, n, [&](Offset c) {
    for (Offset j = 0; j <= c; ++j) {
      put_number(conj(number_at<R>(inverse + j * n * r, c)), dense + c * n * r, j);
    }
  });
  numbered_shares(team, n, columns_at_once, [&](int thread, auto&& for_each) {
    double* const row = scratch.numbers.of_thread(thread);
    for_each([&](Offset i) {
      run_widely_fused([&] { multiply_row<R>(dense, n, i, row); });
      for (Offset j = 0; j <= i; ++j) {
        const auto number = number_at<R>(row, j);
        put_number(conj(number), inverse + order[j] * n * r, order[i]);
        put_number(number, inverse + order[i] * n * r, order[j]);
      }
    });
  });
}

/// A = L D L*, with L and the pivots in `scratch`. False if an energy is negative.
template <Ring R>
bool mend_tile(double* tile, int k, double scale, double rounding, double* scratch) {
  constexpr Offset r = ring_size(R);
  double* const lower = scratch;
  double* const pivot = scratch + Offset{k} * k * r;
  for (int j = 0; j < k; ++j) {
    const auto reduced = [&](int i) {
      auto left = number_at<R>(tile, Offset{i} * k + j);
      for (int m = 0; m < j; ++m) {
        auto factor = conj(number_at<R>(lower, Offset{j} * k + m));
        heddle::scale(factor, -pivot[m]);
        multiply_add_at<R>(left.component, lower + (Offset{i} * k + m) * r, factor.component);
      }
      return left;
    };
    double& own = pivot[j];
    own = reduced(j).real();
    if (own < min_energy * scale) return false;
    if (!(own > rounding * scale)) {
      tile[(j * k + j) * r] += scale;
      own += scale;
    }
    for (int i = j + 1; i < k; ++i) {
      auto below = reduced(i);
      heddle::scale(below, 1 / own);
      put_number(below, lower, Offset{i} * k + j);
    }
  }
  return true;
}

}  // namespace

TileMatrix full_matrix(Index size, const TileShape& shape) {
  TileMatrix result;
  result.shape = shape;
  result.columns = size;
  const auto rows = static_cast<std::size_t>(size);
  result.pattern.offsets = Array<Offset>(rows + 1);
  result.pattern.column = Array<Index>(rows * rows);
  for (std::size_t row = 0; row < rows; ++row) {
    result.pattern.offsets[row + 1] = static_cast<Offset>((row + 1) * rows);
    for (std::size_t column = 0; column < rows; ++column) {
      result.pattern.column[row * rows + column] = static_cast<Index>(column);
    }
  }
  result.make_values();
  return result;
}

void invert(const TileMatrix& a, std::span<const double> scale, double rounding, TileMatrix& result,
            SetupScratch& scratch, const Stream& host) {
  const Offset v = a.shape.height, r = a.shape.ring;
  const Offset n = a.rows() * v;
  if (r == ring_size(Ring::real)) {
    invert_over<Ring::real>(a, scale, rounding, scratch, host);
  } else if (r == ring_size(Ring::complex)) {
    invert_over<Ring::complex>(a, scale, rounding, scratch, host);
  } else {
    invert_over<Ring::quaternion>(a, scale, rounding, scratch, host);
  }
  if (result.values.empty()) result = full_matrix(a.rows(), a.shape);
  parallel_for(team_size(host, n * n * r), result.pattern.entries(), [&](Offset e) {
    const Offset row = e / a.rows(), column = e % a.rows();
    for (int i = 0; i < v; ++i) {
      std::copy_n(scratch.inverse.begin() + ((row * v + i) * n + column * v) * r, v * r,
                  result.tile(e) + i * v * r);
    }
  });
}

TileMatrix coarse_inverse(const TileMatrix& a, double rounding) {
  TileMatrix result;
  SetupScratch scratch;
  invert(a, {}, rounding, result, scratch, Device::cpu(1).stream());
  return result;
}

void mend_diagonal(TileMatrix& a, std::span<const double> scale, double rounding,
                   SetupScratch& scratch, const Stream& host) {
  const int k = a.shape.height;
  const auto mend = a.shape.ring == ring_size(Ring::real)      ? mend_tile<Ring::real>
                    : a.shape.ring == ring_size(Ring::complex) ? mend_tile<Ring::complex>
                                                               : mend_tile<Ring::quaternion>;
  std::atomic<bool> is_semidefinite = true;
  const int team = team_size(host, a.rows() * 8LL * a.shape.scalars());
  scratch.numbers.reserve(team, static_cast<std::size_t>(a.shape.scalars() + k));
  numbered_shares(team, a.rows(), 0, [&](int thread, auto&& for_each) {
    double* const numbers = scratch.numbers.of_thread(thread);
    for_each([&](Index row) {
      const std::span<const Index> columns = a.pattern.row(row);
      const auto found = std::lower_bound(columns.begin(), columns.end(), row) - columns.begin();
      double* const tile = a.tile(a.pattern.begin(row) + found);
      if (!mend(tile, k, scale[static_cast<std::size_t>(row)], rounding, numbers)) {
        is_semidefinite = false;
      }
    });
  });
  if (!is_semidefinite) refuse_indefinite();
}

}  // namespace heddle::detail
