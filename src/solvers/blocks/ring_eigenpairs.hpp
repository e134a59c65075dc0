// Eigenpairs of small Hermitian matrices over a ring by Jacobi's rotations (Golub and Van Loan
// 2013, section 8.5). Over quaternions each eigenvalue appears once: nothing is expanded to complex
// numbers, where it would appear twice.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "ring_matrix.hpp"

namespace heddle::detail {

/// A V = V diag(values), V* V = 1; values ascend.
template <Ring R, class T>
struct RingEigenpairs {
  std::vector<T> values;
  RingMatrix<R, T> vectors;
};

/// Columns p and q of `a` become those of a diag(1, conj(u)) [c s; -s c].
template <Ring R, class T>
void rotate_columns(RingMatrix<R, T>& a, int p, int q, const Coefficient<R, T>& conj_u, T c, T s) {
  for (int i = 0; i < a.rows(); ++i) {
    const Coefficient<R, T> left = a(i, p), right = a(i, q) * conj_u;
    for (int k = 0; k < ring_size(R); ++k) {
      a(i, p).component[k] = c * left.component[k] - s * right.component[k];
      a(i, q).component[k] = s * left.component[k] + c * right.component[k];
    }
  }
}

/// Makes a(p, q) zero. A unit of the ring first makes it real, then a real rotation suffices.
template <Ring R, class T>
void rotate(RingMatrix<R, T>& a, RingMatrix<R, T>& vectors, int p, int q, T size) {
  Coefficient<R, T> conj_u = conj(a(p, q));
  scale(conj_u, 1 / size);
  const T on_p = a(p, p).real(), on_q = a(q, q).real();
  const T theta = (on_q - on_p) / (2 * size);
  const T t = (theta < 0 ? T(-1) : T(1)) / (std::abs(theta) + std::hypot(theta, T(1)));
  const T c = 1 / std::hypot(t, T(1)), s = t * c;
  rotate_columns(a, p, q, conj_u, c, s);
  rotate_columns(vectors, p, q, conj_u, c, s);
  for (int i = 0; i < a.rows(); ++i) {
    a(p, i) = conj(a(i, p));
    a(q, i) = conj(a(i, q));
  }
  using Number = Coefficient<R, T>;
  a(p, p) = Number::from_real(on_p - t * size);
  a(q, q) = Number::from_real(on_q + t * size);
  a(p, q) = a(q, p) = Number{};
}

/// Eigenpairs of a finite Hermitian matrix.
template <Ring R, class T>
RingEigenpairs<R, T> eigenpairs_of(RingMatrix<R, T> a) {
  constexpr int max_sweeps = 60;  // about 8 suffice
  const int n = a.rows();
  auto vectors = identity_matrix<R, T>(n);
  T largest = 0;
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < n; ++i) largest = std::max(largest, std::sqrt(squared_norm(a(i, j))));
  }
  const T negligible = std::numeric_limits<T>::epsilon() * largest / 16;
  bool goes_on = largest > 0;
  for (int sweep = 0; goes_on && sweep < max_sweeps; ++sweep) {
    goes_on = false;
    for (int p = 0; p < n; ++p) {
      for (int q = p + 1; q < n; ++q) {
        const T size = std::sqrt(squared_norm(a(p, q)));
        if (!(size > negligible)) continue;
        rotate(a, vectors, p, q, size);
        goes_on = true;
      }
    }
  }
  std::vector<int> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int i, int j) { return a(i, i).real() < a(j, j).real(); });
  RingEigenpairs<R, T> pairs{{}, RingMatrix<R, T>(n, n)};
  for (int j = 0; j < n; ++j) {
    const int from = order[static_cast<std::size_t>(j)];
    pairs.values.push_back(a(from, from).real());
    for (int i = 0; i < n; ++i) pairs.vectors(i, j) = vectors(i, from);
  }
  return pairs;
}

/// Z with Z* G Z = 1; it has as many columns as G has independent ones.
template <Ring R, class T>
struct OrthonormalColumns {
  RingMatrix<R, T> to;    // Z
  RingMatrix<R, T> back;  // B with B Z = 1; Z B = 1 except for the directions that were dropped
  T least = 1;            // least eigenvalue of G, once its diagonal is scaled to 1
  bool is_negative = false;
};

/// U* U = G, positive definite, with U upper triangular.
template <Ring R, class T>
struct CholeskyFactor {
  RingMatrix<R, T> upper, inverse;
};
template <Ring R, class T>
CholeskyFactor<R, T> cholesky(const RingMatrix<R, T>& gram) {
  using Number = Coefficient<R, T>;
  const int n = gram.rows();
  RingMatrix<R, T> upper(n, n), inverse(n, n);
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i <= j; ++i) {
      Number sum{};
      for (int k = 0; k < i; ++k) add_inner_product(upper(k, i), upper(k, j), sum.component);
      for (int c = 0; c < Number::size; ++c)
        sum.component[c] = gram(i, j).component[c] - sum.component[c];
      if (i < j) scale(sum, 1 / upper(i, i).real());
      upper(i, j) = i < j ? sum : Number::from_real(std::sqrt(sum.real()));
    }
    inverse(j, j) = Number::from_real(1 / upper(j, j).real());
    for (int i = j - 1; i >= 0; --i) {
      Number sum{};
      for (int k = i + 1; k <= j; ++k) add_multiple(sum, upper(i, k), inverse(k, j));
      scale(sum, -1 / upper(i, i).real());
      inverse(i, j) = sum;
    }
  }
  return {std::move(upper), std::move(inverse)};
}

/// |G - 1|: no eigenvalue of G is further from 1 than this.
template <Ring R, class T>
T distance_from_identity(const RingMatrix<R, T>& gram) {
  T squared = 0;
  for (int j = 0; j < gram.columns(); ++j) {
    for (int i = 0; i < gram.rows(); ++i) {
      Coefficient<R, T> number = gram(i, j);
      if (i == j) number.component[0] -= 1;
      squared += squared_norm(number);
    }
  }
  return std::sqrt(squared);
}

/// The part of z* G z that rounding leaves unknown, where number (i, j) of G is known to within
/// noise[i] noise[j]; 0 without noise.
template <Ring R, class T>
T rounding_along(const RingMatrix<R, T>& z, int column, std::span<const T> noise) {
  T sum = 0;
  for (std::size_t i = 0; i < noise.size(); ++i) {
    sum += noise[i] * std::sqrt(squared_norm(z(static_cast<int>(i), column)));
  }
  return sum * sum;
}

/// Z, B and the least eigenvalue of a scaled Gram matrix from its eigenpairs. `noise` and `drop`
/// are relative to the scaled matrix.
template <Ring R, class T>
OrthonormalColumns<R, T> columns_by_eigenpairs(RingMatrix<R, T> scaled, std::span<const T> scales,
                                               T drop, std::span<const T> noise) {
  const int n = scaled.rows();
  OrthonormalColumns<R, T> result;
  const RingEigenpairs<R, T> pairs = eigenpairs_of(std::move(scaled));
  std::vector<int> kept;
  for (int j = 0; j < n; ++j) {
    const T value = pairs.values[static_cast<std::size_t>(j)];
    const T unknown = rounding_along(pairs.vectors, j, noise);
    // The least eigenvalue of a definite form is at worst a rounding error below 0.
    const T rounding = std::sqrt(std::numeric_limits<T>::epsilon());
    if (value < -std::max(rounding, unknown)) result.is_negative = true;
    if (value > std::max(drop, unknown)) kept.push_back(j);
  }
  if (n > 0) result.least = pairs.values.front();
  const auto rank = static_cast<int>(kept.size());
  result.to = RingMatrix<R, T>(n, rank);
  result.back = RingMatrix<R, T>(rank, n);
  for (int j = 0; j < rank; ++j) {
    const int from = kept[static_cast<std::size_t>(j)];
    const T root = std::sqrt(pairs.values[static_cast<std::size_t>(from)]);
    for (int i = 0; i < n; ++i) {
      const T size = scales[static_cast<std::size_t>(i)];
      result.to(i, j) = pairs.vectors(i, from);
      result.back(j, i) = conj(result.to(i, j));
      scale(result.back(j, i), size > 0 ? root / size : T(0));
      scale(result.to(i, j), size / root);
    }
  }
  return result;
}

/// Orthonormal columns of a finite Gram matrix (SVQB: Stathopoulos and Wu 2002). Eigenvalues up to
/// `drop` of the scaled G are directions that depend on the others. `noise`, as `rounding_along`
/// takes it, is that of rounded images: a direction of which rounding leaves nothing known is
/// dropped, and does not count as negative. Near 1 the Cholesky factor serves, which is cheaper;
/// then `least` is a lower bound.
template <Ring R, class T>
OrthonormalColumns<R, T> orthonormal_columns(const RingMatrix<R, T>& gram, T drop,
                                             std::vector<T> noise = {}) {
  const int n = gram.rows();
  bool is_negative = false;
  std::vector<T> scales(static_cast<std::size_t>(n));
  T unknown = 0;  // rounding noise of the scaled matrix
  for (int i = 0; i < n; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const T squared = gram(i, i).real();
    const T rounding = noise.empty() ? T(0) : noise[at] * noise[at];
    if (squared < -rounding) is_negative = true;
    scales[at] = squared > rounding ? 1 / std::sqrt(squared) : T(0);
    if (noise.empty()) continue;
    noise[at] *= scales[at];
    unknown += noise[at] * noise[at];
  }
  RingMatrix<R, T> scaled = gram;
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < n; ++i) {
      scale(scaled(i, j),
            scales[static_cast<std::size_t>(i)] * scales[static_cast<std::size_t>(j)]);
    }
  }
  make_hermitian(scaled);
  OrthonormalColumns<R, T> result;
  const T distance = distance_from_identity(scaled);
  if (distance + unknown < T(0.5) && n > 0) {
    result.least = 1 - distance;
    CholeskyFactor<R, T> factor = cholesky(scaled);
    result.to = std::move(factor.inverse);
    result.back = std::move(factor.upper);
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i <= j; ++i) {
        scale(result.to(i, j), scales[static_cast<std::size_t>(i)]);
        scale(result.back(i, j), 1 / scales[static_cast<std::size_t>(j)]);
      }
    }
  } else {
    result = columns_by_eigenpairs<R, T>(std::move(scaled), scales, drop, noise);
  }
  result.is_negative = result.is_negative || is_negative;
  return result;
}

}  // namespace heddle::detail
