#include "coarse_inverse.hpp"

#include <algorithm>
#include <vector>

#include "heddle/tools/team.hpp"
#include "local_systems.hpp"
#include "ring_eigenpairs.hpp"
#include "row_groups.hpp"

namespace heddle::detail {

namespace {

/// Relative to what a matrix is made of.
constexpr double vanishing = 1e-10;

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
std::vector<double> generalized_inverse(const std::vector<double>& dense, int n) {
  constexpr Offset r = ring_size(R);
  RingMatrix<R, double> gram(n, n);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      for (int p = 0; p < r; ++p) {
        gram(i, j).component[p] = dense[static_cast<std::size_t>((i * n + j) * r + p)];
      }
    }
  }
  if (!gram.is_finite()) {
    throw Error(ErrorKind::not_finite, "multigrid: the matrix of the coarsest level is not finite");
  }
  const auto basis = orthonormal_columns(gram, vanishing);
  if (basis.is_negative) {
    throw Error(ErrorKind::unsupported,
                "multigrid needs a positive definite matrix, and the coarsest level has a negative "
                "eigenvalue; take jacobi, or none");
  }
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

/// Empty where a pivot vanishes.
std::vector<double> plain_inverse(std::vector<double> dense, int n, int ring) {
  std::vector<double> result(dense.size());
  std::vector<double> scratch(LocalSystem<double>::scratch_scalars(static_cast<std::size_t>(n),
                                                                   static_cast<std::size_t>(ring)));
  std::vector<Index> order(static_cast<std::size_t>(n));
  LocalSystem<double> system;
  system.size = system.wanted = n;
  system.smallest_pivot = vanishing;
  system.matrix = dense.data();
  system.result = result.data();
  system.scratch = scratch.data();
  system.order = order.data();
  if (!local_solver<double>(ring)(system, false)) return {};
  symmetrize(result.data(), n, ring, BlockSymmetry::hermitian);
  return result;
}

template <Ring R>
void mend_tile(double* tile, int k, double scale) {
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
    if (!(own > vanishing * scale)) {
      tile[(j * k + j) * r] += scale;
      own += scale;
    }
    for (int i = j + 1; i < k; ++i) {
      lower(i, j) = reduced(i);
      heddle::scale(lower(i, j), 1 / own);
    }
  }
}

}  // namespace

TileMatrix coarse_inverse(const TileMatrix& a) {
  const Offset v = a.shape.height, r = a.shape.ring;
  const int n = a.rows() * a.shape.height;
  const std::vector<double> dense = dense_of(a);
  std::vector<double> inverse = plain_inverse(dense, n, a.shape.ring);
  bool is_positive = !inverse.empty();
  for (Offset i = 0; is_positive && i < n; ++i) {
    is_positive = inverse[static_cast<std::size_t>((i * n + i) * r)] > 0;
  }
  if (!is_positive) {
    inverse = r == ring_size(Ring::real)      ? generalized_inverse<Ring::real>(dense, n)
              : r == ring_size(Ring::complex) ? generalized_inverse<Ring::complex>(dense, n)
                                              : generalized_inverse<Ring::quaternion>(dense, n);
  }
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

void mend_diagonal(TileMatrix& a, std::span<const double> scale, const Stream& host) {
  const int k = a.shape.height;
  parallel_for(team_size(host, a.rows() * 8LL * a.shape.scalars()), a.rows(), [&](Index row) {
    const std::span<const Index> columns = a.pattern.row(row);
    const auto found = std::lower_bound(columns.begin(), columns.end(), row) - columns.begin();
    double* const tile = a.tile(a.pattern.begin(row) + found);
    const double size = scale[static_cast<std::size_t>(row)];
    if (a.shape.ring == ring_size(Ring::real)) return mend_tile<Ring::real>(tile, k, size);
    if (a.shape.ring == ring_size(Ring::complex)) return mend_tile<Ring::complex>(tile, k, size);
    mend_tile<Ring::quaternion>(tile, k, size);
  });
}

}  // namespace heddle::detail
