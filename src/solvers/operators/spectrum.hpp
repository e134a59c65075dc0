// Whether M^-1 A is positive definite, and between which bounds its eigenvalues lie, as far as a
// few steps of Lanczos' method tell.
#pragma once

#include <optional>

#include "extreme_eigenvalues.hpp"
#include "heddle/report.hpp"

namespace heddle::detail {

/// An estimate of the largest eigenvalue lies below it.
inline constexpr double safety_of_estimate = 1.1;

enum class SpectrumKind { positive, indefinite, of_indefinite_preconditioner, not_finite };

template <class S>
struct Spectrum {
  SpectrumKind kind = SpectrumKind::positive;
  sum_t<S> smallest = 0, largest = 0;  // Ritz values
};

/// Of M^-1 A, of A itself without a preconditioner (null). Both are Hermitian.
template <class S>
Spectrum<S> estimate_spectrum(const LinearOperator<S>& matrix,
                              const Preconditioner<S>* preconditioner, int steps,
                              const LanczosFields<S>& fields, Reduction<S>& reduction,
                              const Stream& stream);

/// Around the Ritz values of a positive one. The smallest of them may lie far above the smallest
/// eigenvalue; 1e-6 of the upper bound is the least lower one.
template <class S>
SpectralInterval interval_of(const Spectrum<S>& spectrum);

/// A number that changes with the values of the matrix; none where it does not tell.
template <class S>
std::optional<long long> generation_of(const LinearOperator<S>& matrix);

}  // namespace heddle::detail
