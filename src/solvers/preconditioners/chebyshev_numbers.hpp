// The numbers of Chebyshev's recurrence.
#pragma once

#include <cmath>
#include <cstddef>
#include <span>

#include "heddle/methods/coefficient.hpp"
#include "heddle/report.hpp"

namespace heddle::detail {

/// The polynomial of degree 1 is z = residual b_1 + (1 + a_1) z after the first step, so z is its
/// own direction.
inline bool is_direction_solution(int degree) { return degree <= 1; }

/// Writes a_0, b_0, a_1, ... of the recurrence of Saad's algorithm 12.1, from the guess 0; false if
/// the eigenvalues are too small for the scalar.
template <class S>
bool set_chebyshev_numbers(const SpectralInterval& interval, int degree,
                           std::span<Coefficient<Ring::real, S>> numbers) {
  const double centre = (interval.upper + interval.lower) / 2;
  const double radius = (interval.upper - interval.lower) / 2;
  const double sigma = centre / radius;
  bool is_finite = true;
  const auto set = [&](int k, double a, double b) {
    const auto at = numbers.subspan(2 * static_cast<std::size_t>(k));
    at[0] = {{static_cast<S>(a)}};
    at[1] = {{static_cast<S>(b)}};
    is_finite = is_finite && std::isfinite(at[1].real());
  };
  double rho = 1 / sigma;
  set(0, 0, 1 / centre);
  for (int k = 1; k <= degree; ++k) {
    const double next = 1 / (2 * sigma - rho);
    const double kept = is_direction_solution(degree) ? 1 : 0;
    set(k, kept + next * rho, 2 * next / radius);
    rho = next;
  }
  return is_finite;
}

}  // namespace heddle::detail
