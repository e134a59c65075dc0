// The ends of a spectrum, by a few steps of Lanczos' method (Saad, Numerical Methods for Large
// Eigenvalue Problems, 6.6). Ritz values lie inside the spectrum and reach its ends first.
#pragma once

#include <functional>
#include <span>

#include "heddle/linear_operator.hpp"
#include "heddle/preconditioner.hpp"

namespace heddle::detail {

inline constexpr int max_lanczos_steps = 32;

/// Fields of the operator that the steps overwrite.
template <class S>
struct LanczosFields {
  FieldView<S> current, before, image;
  FieldView<S> preconditioned;  // without data where there is no preconditioner
  /// Removes the null-space components of the vectors v; empty if there is no null space.
  std::function<void(const FieldView<S>&)> project = {};
  /// Writes the first v; if empty, the first v has random components.
  std::function<void(const FieldView<S>&)> start = {};
};

template <class S>
struct RitzValues {
  sum_t<S> smallest = 0;  // NaN, like `largest`, if a product was not finite
  sum_t<S> largest = 0;
  /// The last coupling of the tridiagonal matrix: an eigenvalue lies within this distance of each
  /// Ritz value. 0 if the vectors span an invariant subspace.
  sum_t<S> last_beta = 0;
  int steps = 0;
  bool is_positive = true;  // false: <v, M^-1 v> <= 0 for some v, and the values mean nothing
};

/// Ritz values of a symmetric tridiagonal matrix of at most `max_lanczos_steps` rows, given its
/// diagonal and the coupling of each row with the next; the last coupling is `last_beta`.
RitzValues<double> ritz_values(std::span<const double> diagonal, std::span<const double> couplings);

/// Ritz values of M^-1 A in the inner product of M, or of A itself without a preconditioner (null),
/// after at most `steps` steps (1 to `max_lanczos_steps`). A random start is the same in each
/// call. A and M are Hermitian.
template <class S>
RitzValues<S> extreme_ritz_values(const LinearOperator<S>& matrix,
                                  const Preconditioner<S>* preconditioner, int steps,
                                  const LanczosFields<S>& fields, Reduction<S>& reduction,
                                  const Stream& stream);

}  // namespace heddle::detail
