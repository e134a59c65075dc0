// References for results: entries of every kind written out as dense tiles, by formulas that share
// nothing with the library's.
#include <array>
#include <cmath>
#include <cstddef>

#include "heddle/tools/random_field.hpp"
#include "heddle/tools/team.hpp"
#include "problem.hpp"

namespace heddle::bench {

namespace {

/// Writes the tile, row by row, that multiplies by the quaternion at `q` from the left; `width` is
/// the distance from one row to the next.
void put_quaternion(const double* q, double* tile, std::ptrdiff_t width) {
  const double w = q[0], x = q[1], y = q[2], z = q[3];
  const double rows[4][4] = {{w, -x, -y, -z}, {x, w, -z, y}, {y, z, w, -x}, {z, -y, x, w}};
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) tile[i * width + j] = rows[i][j];
  }
}

void put_complex(const double* a, double* tile, std::ptrdiff_t width) {
  tile[0] = a[0];
  tile[1] = -a[1];
  tile[width] = a[1];
  tile[width + 1] = a[0];
}

constexpr std::size_t largest = 64;  // numbers of a representation, 8 x 8

/// Writes the `n` x `n` real representation of an entry with components `a`.
void put_entry(EntryKind kind, const double* a, double* tile, std::ptrdiff_t n) {
  switch (kind) {
    case EntryKind::complex:
      return put_complex(a, tile, n);
    case EntryKind::quaternion:
      return put_quaternion(a, tile, n);
    case EntryKind::dual_quaternion:
      put_quaternion(a, tile, n);
      put_quaternion(a + 4, tile + 4 * n, n);
      return put_quaternion(a, tile + 4 * n + 4, n);
    case EntryKind::complex_block3:
      for (std::ptrdiff_t i = 0; i < 3; ++i) {
        for (std::ptrdiff_t j = 0; j < 3; ++j)
          put_complex(a + 2 * (3 * i + j), tile + 2 * i * n + 2 * j, n);
      }
      return;
    default:
      for (std::ptrdiff_t k = 0; k < n * n; ++k) tile[k] = a[k];
  }
}

double norm(const std::vector<double>& x) {
  double square = 0;
  for (const double c : x) square += c * c;
  return std::sqrt(square);
}

}  // namespace

std::vector<double> random_x(const AnyMatrix& matrix) {
  const int components = matrix.visit([]<class E>(const CsrMatrix<E>&) { return tile_columns<E>; });
  std::vector<double> x(static_cast<std::size_t>(matrix.columns()) *
                        static_cast<std::size_t>(components));
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<double>(static_cast<float>(random_component(1, i)));
  }
  return x;
}

std::vector<double> reference_product(const Problem& problem, const std::vector<double>& x) {
  return problem.matrix.visit([&]<class E>(const CsrMatrix<E>& A) {
    constexpr int n = tile_rows<E>;
    static_assert(n == tile_columns<E>);
    if (x.size() != static_cast<std::size_t>(A.columns()) * n) {
      throw Error(ErrorKind::size_mismatch, "an x of " + std::to_string(x.size()) +
                                                " numbers where there should be " +
                                                std::to_string(Offset(A.columns()) * n));
    }
    const EntryKind kind = problem.matrix.kind();
    std::vector<double> y(static_cast<std::size_t>(A.rows()) * n);
    parallel_for(default_threads(), A.rows(), [&](Index row) {
      std::array<double, n> sum{};
      std::array<double, largest> a{}, tile{};  // numbers that an entry does not set stay zero
      const auto r = static_cast<std::size_t>(row);
      for (Offset i = A.offsets()[r]; i < A.offsets()[r + 1]; ++i) {
        const auto at = static_cast<std::size_t>(i);
        for (std::size_t k = 0; k < E::components; ++k) {
          a[k] = static_cast<double>(A.values()[at * E::components + k]);
        }
        put_entry(kind, a.data(), tile.data(), n);
        const double* const from = x.data() + static_cast<std::size_t>(A.column()[at]) * n;
        for (std::size_t p = 0; p < n; ++p) {
          for (std::size_t q = 0; q < n; ++q) sum[p] += tile[p * n + q] * from[q];
        }
      }
      for (std::size_t p = 0; p < n; ++p) y[r * n + p] = sum[p];
    });
    return y;
  });
}

double relative_difference(const std::vector<double>& y, const std::vector<double>& reference) {
  if (y.size() != reference.size()) {
    throw Error(ErrorKind::size_mismatch, "a result of " + std::to_string(y.size()) +
                                              " numbers where there should be " +
                                              std::to_string(reference.size()));
  }
  double square = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    square += (y[i] - reference[i]) * (y[i] - reference[i]);
  }
  const double size = norm(reference);
  return size > 0 ? std::sqrt(square) / size : std::sqrt(square);
}

double true_residual(const Problem& problem, const std::vector<double>& b,
                     const std::vector<double>& x) {
  return relative_difference(reference_product(problem, x), b);
}

}  // namespace heddle::bench
