#include "coarse_inverse.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <vector>

#include "heddle/tools/team.hpp"
#include "level_spectrum.hpp"
#include "local_systems.hpp"

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

/// A = U* U by rows, with 1 / u_kk in place of u_kk. A row whose pivot vanishes is dropped: it is
/// 0, and so is its reciprocal. `diagonal` gets that of A.
template <Ring R>
void factorize(double* dense, Offset n, double rounding, double* diagonal) {
  constexpr Offset r = ring_size(R);
  const auto row_of = [&](Offset i) { return dense + i * n * r; };
  for (Offset k = 0; k < n; ++k) diagonal[k] = row_of(k)[k * r];
  for (Offset k = 0; k < n; ++k) {
    double* const row = row_of(k);
    const double pivot = row[k * r], own = diagonal[k];
    if (!std::isfinite(pivot)) refuse_not_finite();
    if (own < 0 || pivot < least_energy * own) refuse_indefinite();
    if (!(pivot > rounding * own)) {
      for (Offset j = k + 1; j < n; ++j) {
        // |s_kj|^2 <= s_kk s_jj where S is semidefinite.
        const double squared = squared_norm(number_at<R>(row, j));
        if (!(squared <= 4 * rounding * own * diagonal[j])) refuse_indefinite();
      }
      std::fill(row + k * r, row + n * r, double(0));
      continue;
    }
    const double scale = 1 / std::sqrt(pivot);
    for (Offset t = (k + 1) * r; t < n * r; ++t) row[t] *= scale;
    put_number(Coefficient<R, double>::from_real(scale), row, k);
    for (Offset i = k + 1; i < n; ++i) {
      add_multiple_of_row<R>(row_of(i) + i * r, -conj(number_at<R>(row, i)), row + i * r,
                             static_cast<Index>(n - i));
    }
  }
}

/// U^-1 U^-* of the rows that are not dropped, 0 elsewhere: Z A Z = Z, and A Z A = A.
template <Ring R>
void invert_over(const TileMatrix& a, double rounding, SetupScratch& scratch) {
  constexpr Offset r = ring_size(R);
  const Offset n = static_cast<Offset>(a.rows()) * a.shape.height;
  copy_to_dense(a, scratch.dense);
  scratch.inverse.resize(scratch.dense.size());
  scratch.work.resize(static_cast<std::size_t>(n * (2 * r + 1)));
  double* const dense = scratch.dense.data();
  double* const inverse = scratch.inverse.data();
  double *const column = scratch.work.data(), *const adjoint = column + n * r;
  factorize<R>(dense, n, rounding, adjoint + n * r);
  std::fill(scratch.inverse.begin(), scratch.inverse.end(), double(0));
  for (Offset c = 0; c < n; ++c) {
    // Column c of U^-1, and its part of the sum, in the lower triangle.
    const double reciprocal = dense[(c * n + c) * r];
    if (reciprocal == 0) continue;
    std::fill(column, column + n * r, double(0));
    column[c * r] = reciprocal;
    for (Offset q = c - 1; q >= 0; --q) {
      const double* const row = dense + q * n * r;
      Coefficient<R, double> sum{};
      for (Offset t = q + 1; t <= c; ++t) {
        multiply_add_at<R>(sum.component, row + t * r, column + t * r);
      }
      scale(sum, -row[q * r]);
      put_number(sum, column, q);
    }
    for (Offset j = 0; j <= c; ++j) put_number(conj(number_at<R>(column, j)), adjoint, j);
    for (Offset i = 0; i <= c; ++i) {
      add_multiple_of_row<R>(inverse + i * n * r, number_at<R>(column, i), adjoint,
                             static_cast<Index>(i + 1));
    }
  }
  for (Offset i = 0; i < n; ++i) {
    for (Offset j = 0; j < i; ++j) {
      put_number(conj(number_at<R>(inverse + i * n * r, j)), inverse + j * n * r, i);
    }
  }
}

/// A = L D L*, with numbers and pivots in `scratch`. False where an energy is negative.
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
    if (own < least_energy * scale) return false;
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

/// Of all tiles, row by row, without values.
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

}  // namespace

void invert(const TileMatrix& a, double rounding, TileMatrix& result, SetupScratch& scratch) {
  const Offset v = a.shape.height, r = a.shape.ring;
  const Offset n = a.rows() * v;
  if (r == ring_size(Ring::real)) {
    invert_over<Ring::real>(a, rounding, scratch);
  } else if (r == ring_size(Ring::complex)) {
    invert_over<Ring::complex>(a, rounding, scratch);
  } else {
    invert_over<Ring::quaternion>(a, rounding, scratch);
  }
  if (result.values.empty()) result = full_matrix(a.rows(), a.shape);
  for (Offset e = 0; e < result.pattern.entries(); ++e) {
    const Offset row = e / a.rows(), column = e % a.rows();
    for (int i = 0; i < v; ++i) {
      std::copy_n(scratch.inverse.begin() + ((row * v + i) * n + column * v) * r, v * r,
                  result.tile(e) + i * v * r);
    }
  }
}

TileMatrix coarse_inverse(const TileMatrix& a, double rounding) {
  TileMatrix result;
  SetupScratch scratch;
  invert(a, rounding, result, scratch);
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
