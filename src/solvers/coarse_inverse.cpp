#include "coarse_inverse.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <vector>

#include "heddle/tools/team.hpp"
#include "level_spectrum.hpp"
#include "local_systems.hpp"
#include "ring_eigenpairs.hpp"

namespace heddle::detail {

namespace {

/// Numbers of all tiles in one dense matrix, row by row.
std::vector<double> dense_of(const TileMatrix& a) {
  const Offset v = a.shape.height, r = a.shape.ring;
  const Offset n = static_cast<Offset>(a.rows()) * v;
  std::vector<double> dense(static_cast<std::size_t>(n * n * r));
  for (Index row = 0; row < a.rows(); ++row) {
    for (Offset e = a.pattern.begin(row); e < a.pattern.begin(row + 1); ++e) {
      const Offset column = a.pattern.column[static_cast<std::size_t>(e)];
      for (int i = 0; i < v; ++i) {
        std::copy_n(a.tile(e) + i * v * r, v * r,
                    dense.begin() + ((Offset(row) * v + i) * n + column * v) * r);
      }
    }
  }
  return dense;
}

template <Ring R>
std::vector<double> generalized_inverse(const std::vector<double>& dense, int n, double rounding) {
  constexpr Offset r = ring_size(R);
  RingMatrix<R, double> gram(n, n);
  for (int i = 0; i < n; ++i) {
    double around = 0;
    for (int j = 0; j < n; ++j) {
      for (int p = 0; p < r; ++p) {
        const double part = dense[static_cast<std::size_t>((i * n + j) * r + p)];
        gram(i, j).component[p] = part;
        if (i != j) around = std::max(around, std::abs(part));
      }
    }
    const double own = gram(i, i).real();
    if (own < 0 || (own == 0 && around > 0)) refuse_indefinite();
  }
  if (!gram.is_finite()) refuse_not_finite();
  const auto basis = orthonormal_columns(gram, rounding);
  if (basis.least < least_energy) refuse_indefinite();
  std::vector<double> inverse(dense.size());
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      double* const at = inverse.data() + static_cast<std::size_t>((i * n + j) * r);
      for (int k = 0; k < basis.to.columns(); ++k) {
        multiply_add_at<R>(at, basis.to(i, k).component, conj(basis.to(j, k)).component);
      }
    }
  }
  return inverse;
}

/// U^-1 U^-* with A = U* U. Empty where a pivot vanishes or is negative.
template <Ring R>
std::vector<double> cholesky_inverse(std::vector<double> dense, int n, double rounding) {
  constexpr Offset r = ring_size(R);
  std::vector<double> columns(dense.size()), inverse(dense.size());  // columns of U^-1
  std::vector<double> scratch(LocalSystem<double>::scratch_scalars(static_cast<std::size_t>(n),
                                                                   static_cast<std::size_t>(r)));
  LocalSystem<double> system;
  system.size = system.wanted = n;
  system.smallest_pivot = rounding;
  system.matrix = dense.data();
  system.result = columns.data();
  system.scratch = scratch.data();
  if (!local_solver<double>(r)(system, true)) return {};
  std::vector<double>& adjoint = dense;
  for (Offset c = 0; c < n; ++c) {
    const double* const column = columns.data() + c * n * r;
    for (Offset j = 0; j <= c; ++j) put_number(conj(number_at<R>(column, j)), adjoint.data(), j);
    for (Offset i = 0; i <= c; ++i) {
      add_multiple_of_row<R>(inverse.data() + i * n * r, number_at<R>(column, i), adjoint.data(),
                             static_cast<Index>(i + 1));
    }
  }
  for (Offset i = 0; i < n; ++i) {
    for (Offset j = 0; j < i; ++j) {
      const auto below = number_at<R>(inverse.data() + i * n * r, j);
      put_number(conj(below), inverse.data() + j * n * r, i);
    }
  }
  return inverse;
}

template <Ring R>
std::vector<double> inverse_over(const std::vector<double>& dense, int n, double rounding) {
  std::vector<double> inverse = cholesky_inverse<R>(dense, n, rounding);
  return !inverse.empty() || n == 0 ? inverse : generalized_inverse<R>(dense, n, rounding);
}

/// False where an energy is negative.
template <Ring R>
bool mend_tile(double* tile, int k, double scale, double rounding) {
  using Number = Coefficient<R, double>;
  constexpr Offset r = ring_size(R);
  const auto number = [&](int i, int j) {
    Number result;
    for (int p = 0; p < r; ++p) result.component[p] = tile[(i * k + j) * r + p];
    return result;
  };
  // A = L D L*.
  RingMatrix<R, double> lower(k, k);
  std::vector<double> pivot(static_cast<std::size_t>(k));
  for (int j = 0; j < k; ++j) {
    const auto reduced = [&](int i) {
      Number left = number(i, j);
      for (int m = 0; m < j; ++m) {
        Number factor = conj(lower(j, m));
        heddle::scale(factor, -pivot[static_cast<std::size_t>(m)]);
        multiply_add_at<R>(left.component, lower(i, m).component, factor.component);
      }
      return left;
    };
    double& own = pivot[static_cast<std::size_t>(j)];
    own = reduced(j).real();
    if (own < least_energy * scale) return false;
    if (!(own > rounding * scale)) {
      tile[(j * k + j) * r] += scale;
      own += scale;
    }
    for (int i = j + 1; i < k; ++i) {
      lower(i, j) = reduced(i);
      heddle::scale(lower(i, j), 1 / own);
    }
  }
  return true;
}

}  // namespace

TileMatrix coarse_inverse(const TileMatrix& a, double rounding) {
  const Offset v = a.shape.height, r = a.shape.ring;
  const int n = a.rows() * a.shape.height;
  const std::vector<double> dense = dense_of(a);
  const std::vector<double> inverse =
      r == ring_size(Ring::real)      ? inverse_over<Ring::real>(dense, n, rounding)
      : r == ring_size(Ring::complex) ? inverse_over<Ring::complex>(dense, n, rounding)
                                      : inverse_over<Ring::quaternion>(dense, n, rounding);
  TileMatrix result;
  result.shape = a.shape;
  result.columns = a.rows();
  const auto rows = static_cast<std::size_t>(a.rows());
  result.pattern.offsets = Array<Offset>(rows + 1);
  result.pattern.column = Array<Index>(rows * rows);
  for (std::size_t row = 0; row < rows; ++row) {
    result.pattern.offsets[row + 1] = static_cast<Offset>((row + 1) * rows);
    for (std::size_t column = 0; column < rows; ++column) {
      result.pattern.column[row * rows + column] = static_cast<Index>(column);
    }
  }
  result.make_values();
  for (Offset e = 0; e < result.pattern.entries(); ++e) {
    const Offset row = e / a.rows(), column = e % a.rows();
    for (int i = 0; i < v; ++i) {
      std::copy_n(inverse.begin() + ((row * v + i) * n + column * v) * r, v * r,
                  result.tile(e) + i * v * r);
    }
  }
  return result;
}

void mend_diagonal(TileMatrix& a, std::span<const double> scale, double rounding,
                   const Stream& host) {
  const int k = a.shape.height;
  const auto mend = a.shape.ring == ring_size(Ring::real)      ? mend_tile<Ring::real>
                    : a.shape.ring == ring_size(Ring::complex) ? mend_tile<Ring::complex>
                                                               : mend_tile<Ring::quaternion>;
  std::atomic<bool> is_semidefinite = true;
  parallel_for(team_size(host, a.rows() * 8LL * a.shape.scalars()), a.rows(), [&](Index row) {
    const std::span<const Index> columns = a.pattern.row(row);
    const auto found = std::lower_bound(columns.begin(), columns.end(), row) - columns.begin();
    double* const tile = a.tile(a.pattern.begin(row) + found);
    if (!mend(tile, k, scale[static_cast<std::size_t>(row)], rounding)) is_semidefinite = false;
  });
  if (!is_semidefinite) refuse_indefinite();
}

}  // namespace heddle::detail
