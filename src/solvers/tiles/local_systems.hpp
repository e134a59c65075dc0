// Small dense systems over a ring, whose numbers act from the left: `ring_size(R)` scalars per
// number, one row after another.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "heddle/detail/product_cpu.hpp"
#include "heddle/methods/coefficient.hpp"

namespace heddle::detail {

/// Data that the solution of a system reads and writes; all of it is the caller's.
template <class D>
struct LocalSystem {
  Index size = 0;    // numbers in a row
  Index wanted = 0;  // right-hand sides: unit vectors `first_wanted`, ...
  Index first_wanted = 0;
  D smallest_pivot = 0;    // relative to what the matrix holds there
  D* matrix = nullptr;     // size x size; overwritten
  D* result = nullptr;     // wanted x size
  D* scratch = nullptr;    // size numbers and size scalars: at least two per number
  Index* order = nullptr;  // size

  static std::size_t scratch_scalars(std::size_t size, std::size_t ring) {
    return size * (ring + 1);
  }
};

/// to += factor * from, number by number.
template <Ring R, class D>
HEDDLE_INLINE void add_multiple_of_row(D* __restrict to, const Coefficient<R, D>& factor,
                                       const D* __restrict from, Index count) {
  constexpr Offset r = ring_size(R);
  for (Index j = 0; j < count; ++j) {
    multiply_add_at<R>(to + j * r, factor.component, from + j * r);
  }
}

template <Ring R, class D>
HEDDLE_INLINE Coefficient<R, D> number_at(const D* row, Offset j) {
  Coefficient<R, D> number;
  for (int p = 0; p < number.size; ++p) number.component[p] = row[j * number.size + p];
  return number;
}
template <Ring R, class D>
HEDDLE_INLINE void put_number(const Coefficient<R, D>& number, D* row, Offset j) {
  for (int p = 0; p < number.size; ++p) row[j * number.size + p] = number.component[p];
}

template <Ring R, class D>
HEDDLE_INLINE bool all_finite(const D* numbers, Index count) {
  D sum = 0;
  for (Offset j = 0; j < Offset(count) * ring_size(R); ++j) sum += std::abs(numbers[j]);
  return std::isfinite(sum);
}

/// Columns of U^-1, A = U* U with U upper triangular: row c of the result is column first_wanted +
/// c. Reads the upper triangle of A. False if a pivot is not positive.
template <Ring R, class D>
HEDDLE_INLINE bool solve_cholesky(const LocalSystem<D>& system) {
  constexpr Offset r = ring_size(R);
  const Index n = system.size;
  const auto row_of = [&](Index i) { return system.matrix + Offset(i) * n * r; };
  D* const diagonal = system.scratch;
  for (Index k = 0; k < n; ++k) diagonal[k] = row_of(k)[k * r];
  for (Index k = 0; k < n; ++k) {
    D* const row = row_of(k);
    const D pivot = row[k * r];
    if (!(pivot > system.smallest_pivot * diagonal[k] && std::isfinite(pivot))) return false;
    const D scale = 1 / std::sqrt(pivot);
    for (Offset t = (k + 1) * r; t < n * r; ++t) row[t] *= scale;
    put_number(Coefficient<R, D>::from_real(scale), row, k);  // the inverse: only that is used
    for (Index i = k + 1; i < n; ++i) {
      add_multiple_of_row<R>(row_of(i) + i * r, -conj(number_at<R>(row, i)), row + i * r, n - i);
    }
  }
  for (Index c = 0; c < system.wanted; ++c) {
    D* const x = system.result + Offset(c) * n * r;
    const Index last = system.first_wanted + c;
    std::fill(x, x + n * r, D(0));
    x[last * r] = row_of(last)[last * r];
    for (Index q = last - 1; q >= 0; --q) {
      const D* const row = row_of(q);
      Coefficient<R, D> sum{};
      for (Index t = q + 1; t <= last; ++t) {
        multiply_add_at<R>(sum.component, row + t * r, x + t * r);
      }
      scale(sum, -row[q * r]);
      put_number(sum, x, q);
    }
    if (!all_finite<R>(x, n)) return false;
  }
  return true;
}

/// Rows of A^-1, by elimination with row pivoting: row c of the result is row first_wanted + c.
/// False if no pivot is left.
template <Ring R, class D>
HEDDLE_INLINE bool solve_elimination(const LocalSystem<D>& system) {
  constexpr Offset r = ring_size(R);
  const Index n = system.size;
  const auto row_of = [&](Index i) { return system.matrix + Offset(i) * n * r; };
  const auto magnitude = [&](Index i, Index j) {
    D sum = 0;
    for (int p = 0; p < r; ++p) sum += std::abs(row_of(i)[j * r + p]);
    return sum;
  };
  // The rounding left of a zero pivot is small compared with its column, or with all that its row
  // was made of: rows and columns may differ in scale.
  D *const of_column = system.scratch, *const of_row = of_column + n;
  for (Index j = 0; j < n; ++j) {
    system.order[j] = j;
    of_column[j] = of_row[j] = 0;
  }
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) {
      const D size = magnitude(i, j);
      of_column[j] = std::max(of_column[j], size);
      of_row[i] = std::max(of_row[i], size);
    }
  }
  for (Index k = 0; k < n; ++k) {
    Index pivot = k;
    for (Index i = k + 1; i < n; ++i) {
      if (magnitude(i, k) > magnitude(pivot, k)) pivot = i;
    }
    if (pivot != k) {
      std::swap_ranges(row_of(k), row_of(k) + n * r, row_of(pivot));
      std::swap(system.order[k], system.order[pivot]);
      std::swap(of_row[k], of_row[pivot]);
    }
    const D size = magnitude(k, k), scale = std::min(of_column[k], of_row[k]);
    if (!(size > system.smallest_pivot * scale && std::isfinite(size))) return false;
    D* const row = row_of(k);
    const Coefficient<R, D> inverted = inverse(number_at<R>(row, k));
    put_number(inverted, row, k);  // the inverse: only that is used
    for (Index i = k + 1; i < n; ++i) {
      D* const below = row_of(i);
      const Coefficient<R, D> factor = number_at<R>(below, k) * inverted;
      put_number(factor, below, k);
      of_row[i] = std::max(of_row[i], magnitude(i, k) * of_row[k]);
      add_multiple_of_row<R>(below + (k + 1) * r, -factor, row + (k + 1) * r, n - k - 1);
    }
  }
  // m A = e with A = P^T L U: w U = e, u L = w, m = u P.
  D* const w = system.scratch;
  for (Index c = 0; c < system.wanted; ++c) {
    std::fill(w, w + n * r, D(0));
    w[(system.first_wanted + c) * r] = 1;
    for (Index k = system.first_wanted + c; k < n; ++k) {
      const Coefficient<R, D> number = number_at<R>(w, k) * number_at<R>(row_of(k), k);
      put_number(number, w, k);
      add_multiple_of_row<R>(w + (k + 1) * r, -number, row_of(k) + (k + 1) * r, n - k - 1);
    }
    D* const m = system.result + Offset(c) * n * r;
    for (Index k = n - 1; k >= 0; --k) {
      const Coefficient<R, D> number = number_at<R>(w, k);
      add_multiple_of_row<R>(w, -number, row_of(k), k);
      put_number(number, m, system.order[k]);
    }
    if (!all_finite<R>(m, n)) return false;
  }
  return true;
}

template <Ring R, class D>
HEDDLE_INLINE bool solve_local(const LocalSystem<D>& system, bool is_positive) {
  return is_positive ? solve_cholesky<R>(system) : solve_elimination<R>(system);
}
template <Ring R, class D>
__attribute__((flatten)) bool solve_local_baseline(const LocalSystem<D>& system, bool is_positive) {
  return solve_local<R>(system, is_positive);
}
template <Ring R, class D>
__attribute__((target("avx2,fma"), flatten)) bool solve_local_avx2(const LocalSystem<D>& system,
                                                                   bool is_positive) {
  return solve_local<R>(system, is_positive);
}

template <class D>
using LocalSolver = bool (*)(const LocalSystem<D>& system, bool is_positive);

/// The solver over a ring of `ring` scalars.
template <class D>
LocalSolver<D> local_solver(int ring) {
  const auto of = []<Ring R>() {
    return has_avx2() ? solve_local_avx2<R, D> : solve_local_baseline<R, D>;
  };
  return ring == 1   ? of.template operator()<Ring::real>()
         : ring == 2 ? of.template operator()<Ring::complex>()
                     : of.template operator()<Ring::quaternion>();
}

}  // namespace heddle::detail
