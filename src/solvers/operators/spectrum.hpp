// A test of whether M^-1 A is positive definite, and bounds of its eigenvalues, as far as a few
// steps of Lanczos' method show.
#pragma once

#include <optional>

#include "extreme_eigenvalues.hpp"
#include "heddle/report.hpp"

namespace heddle::detail {

/// Safety factor: an estimate of the largest eigenvalue lies below that eigenvalue.
inline constexpr double safety_of_estimate = 1.1;

enum class SpectrumKind { positive, indefinite, of_indefinite_preconditioner, not_finite };

template <class S>
struct Spectrum {
  SpectrumKind kind = SpectrumKind::positive;
  sum_t<S> smallest = 0, largest = 0;  // Ritz values
};

/// Estimates the spectrum of M^-1 A, or of A without a preconditioner (null). A, M are Hermitian.
template <class S>
Spectrum<S> estimate_spectrum(const LinearOperator<S>& matrix,
                              const Preconditioner<S>* preconditioner, int steps,
                              const LanczosFields<S>& fields, Reduction<S>& reduction,
                              const Stream& stream);

/// The interval around the Ritz values of a positive spectrum. The smallest of them may lie far
/// above the smallest eigenvalue; the lower bound is at least 1e-6 of the upper one.
template <class S>
SpectralInterval interval_of(const Spectrum<S>& spectrum);

/// A number that changes with the values of the matrix; none if the matrix does not report one.
template <class S>
std::optional<long long> generation_of(const LinearOperator<S>& matrix);

}  // namespace heddle::detail
