#include "extreme_eigenvalues.hpp"
#include "base/long_double.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace heddle::detail {

namespace tridiagonal {
namespace {

/// A symmetric tridiagonal matrix of `size` rows; beta[i] couples i and i + 1. Repeated solves
/// allocate nothing.
template <class T>
struct Matrix {
  int size = 0;
  std::array<T, max_lanczos_steps> alpha{}, beta{};
};

/// Eigenvalues below `x`, by Sturm's sequence (Golub and Van Loan, Matrix Computations, 8.4.1).
template <class T>
int count_below(const Matrix<T>& matrix, T x) {
  int count = 0;
  T pivot = 1;
  for (std::size_t i = 0; i < static_cast<std::size_t>(matrix.size); ++i) {
    const T coupling = i > 0 ? matrix.beta[i - 1] * matrix.beta[i - 1] / pivot : T(0);
    pivot = matrix.alpha[i] - x - coupling;
    if (pivot == 0) pivot = std::numeric_limits<T>::min();
    count += pivot < 0 ? 1 : 0;
  }
  return count;
}

/// The eigenvalue with `index` smaller ones, by bisection between Gershgorin's bounds.
template <class T>
T eigenvalue(const Matrix<T>& matrix, int index) {
  T low = matrix.alpha.front(), high = low;
  for (std::size_t i = 0; i < static_cast<std::size_t>(matrix.size); ++i) {
    const T before = i > 0 ? matrix.beta[i - 1] : T(0);
    const T after = matrix.beta[i];
    low = std::min(low, matrix.alpha[i] - before - after);
    high = std::max(high, matrix.alpha[i] + before + after);
  }
  constexpr int halvings = std::numeric_limits<T>::digits + 8;
  for (int k = 0; k < halvings; ++k) {
    const T middle = low + (high - low) / 2;
    (count_below(matrix, middle) > index ? high : low) = middle;
  }
  return low + (high - low) / 2;
}

}  // namespace
}  // namespace tridiagonal

namespace {

/// `size`: the largest magnitude among the matrix's numbers.
template <class S>
RitzValues<S> ritz_values_of(tridiagonal::Matrix<sum_t<S>> matrix, sum_t<S> size,
                             sum_t<S> last_beta) {
  RitzValues<S> values;
  values.steps = matrix.size;
  values.last_beta = last_beta;
  if (size == 0) return values;
  // Scaled so that no square leaves the range.
  for (auto* numbers : {&matrix.alpha, &matrix.beta}) {
    for (sum_t<S>& number : *numbers) number /= size;
  }
  values.smallest = size * tridiagonal::eigenvalue(matrix, 0);
  values.largest = size * tridiagonal::eigenvalue(matrix, values.steps - 1);
  return values;
}

}  // namespace

RitzValues<double> ritz_values(std::span<const double> diagonal,
                               std::span<const double> couplings) {
  tridiagonal::Matrix<double> matrix;
  matrix.size = static_cast<int>(diagonal.size());
  double size = 0;
  for (std::size_t k = 0; k < diagonal.size(); ++k) {
    matrix.alpha[k] = diagonal[k];
    size = std::max(size, std::abs(diagonal[k]));
    if (k + 1 == diagonal.size()) break;
    matrix.beta[k] = couplings[k];
    size = std::max(size, couplings[k]);
  }
  return ritz_values_of<double>(matrix, size, couplings.back());
}

template <class S>
RitzValues<S> extreme_ritz_values(const LinearOperator<S>& matrix,
                                  const Preconditioner<S>* preconditioner, int steps,
                                  const LanczosFields<S>& fields, Reduction<S>& reduction,
                                  const Stream& stream) {
  using sum = sum_t<S>;
  // v is an image of A; z = M^-1 v, with <v, z> = 1, is what A multiplies next.
  FieldView<S> v = fields.current, before = fields.before, image = fields.image;
  const auto precondition = [&] {
    if (preconditioner == nullptr) return v;
    preconditioner->apply(v, fields.preconditioned, stream);
    return fields.preconditioned;
  };
  const auto refuse = [](sum squared) {
    RitzValues<S> none;
    none.is_positive = !(squared <= 0);
    none.smallest = none.largest = std::numeric_limits<sum>::quiet_NaN();
    return none;
  };
  fill<S>(S(0), before, stream);
  if (fields.start) {
    fields.start(v);
  } else {
    fill<S>(S(1), v, stream);
    randomize<S>(v, 1, stream);
  }
  if (fields.project) fields.project(v);
  FieldView<S> z = precondition();
  sum squared = real_dot<S>(v, z, reduction, stream);
  tridiagonal::Matrix<sum> projected;
  sum beta = 0, size = 0;
  while (true) {
    if (!(squared > 0) || !std::isfinite(squared)) return refuse(squared);
    const sum norm = std::sqrt(squared);
    scale<S>(static_cast<S>(1 / norm), v, stream);
    if (preconditioner != nullptr) scale<S>(static_cast<S>(1 / norm), z, stream);
    const sum alpha = matrix.apply_dot(z, image, reduction, stream);
    if (!std::isfinite(alpha)) return refuse(std::numeric_limits<sum>::quiet_NaN());
    axpby<S>(static_cast<S>(-alpha), v, S(1), image, stream);
    axpby<S>(static_cast<S>(-beta), before, S(1), image, stream);
    // Rounding grows along a null space, whose eigenvalue lies at the end of the spectrum.
    if (fields.project) fields.project(image);
    const auto step = static_cast<std::size_t>(projected.size++);
    projected.alpha[step] = alpha;
    size = std::max({size, std::abs(alpha), beta});
    std::swap(before, v);
    std::swap(v, image);
    z = precondition();
    squared = real_dot<S>(v, z, reduction, stream);
    beta = std::sqrt(std::max(squared, sum(0)));
    // In that case only rounding is left of v.
    const bool is_over = squared == 0 || beta <= 16 * std::numeric_limits<S>::epsilon() * size;
    if (std::isfinite(squared) && squared >= 0 && is_over)
      return ritz_values_of<S>(projected, size, 0);
    if (projected.size >= std::min(steps, max_lanczos_steps)) break;
    projected.beta[step] = beta;
  }
  if (!std::isfinite(squared) || squared < 0) return refuse(squared);
  return ritz_values_of<S>(projected, size, beta);
}

template RitzValues<float> extreme_ritz_values(const LinearOperator<float>&,
                                               const Preconditioner<float>*, int,
                                               const LanczosFields<float>&, Reduction<float>&,
                                               const Stream&);
template RitzValues<double> extreme_ritz_values(const LinearOperator<double>&,
                                                const Preconditioner<double>*, int,
                                                const LanczosFields<double>&, Reduction<double>&,
                                                const Stream&);
HEDDLE_IN_LONG_DOUBLE(template RitzValues<long double> extreme_ritz_values(
                          const LinearOperator<long double>&, const Preconditioner<long double>*,
                          int, const LanczosFields<long double>&, Reduction<long double>&,
                          const Stream&);)

}  // namespace heddle::detail
