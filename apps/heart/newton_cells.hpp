// Aliev and Panfilov's cells (1996) at an integration point, by backward Euler: the recovery
// variable is found by Newton's method and condensed, so that the tissue sees the potential alone
// (Wong, Kuhl, Darve 2015, section 2 and table I).
#pragma once

#include "heddle/entries/annotations.hpp"

namespace heddle::heart {

/// Parameters, and the scales of potential and time: V (mV) = 100 phi - 80, t (ms) = 12.9 tau.
struct AlievPanfilov {
  double c = 8;
  double alpha = 0.01;
  double b = 0.15;
  double gamma = 0.002;
  double mu1 = 0.2;
  double mu2 = 0.3;

  static constexpr double millivolts = 100;
  static constexpr double resting_millivolts = -80;
  static constexpr double milliseconds = 12.9;

  /// f_phi = c phi (phi - alpha) (1 - phi) - r phi, and its derivative at fixed r.
  HEDDLE_INLINE double source(double phi, double r) const {
    return c * phi * (phi - alpha) * (1 - phi) - r * phi;
  }
  HEDDLE_INLINE double source_by_potential(double phi, double r) const {
    return c * (2 * phi - 3 * phi * phi - alpha + 2 * alpha * phi) - r;
  }

  /// f_r = (gamma + mu1 r / (mu2 + phi)) (-r - c phi (phi - b - 1)), and its derivatives.
  HEDDLE_INLINE double rate(double phi, double r) const { return gamma + mu1 * r / (mu2 + phi); }
  HEDDLE_INLINE double drive(double phi, double r) const { return -r - c * phi * (phi - b - 1); }
  HEDDLE_INLINE double recovery_by_recovery(double phi, double r) const {
    return mu1 / (mu2 + phi) * drive(phi, r) - rate(phi, r);
  }
  HEDDLE_INLINE double recovery_by_potential(double phi, double r) const {
    return -mu1 * r / ((mu2 + phi) * (mu2 + phi)) * drive(phi, r) -
           rate(phi, r) * c * (2 * phi - b - 1);
  }
};

/// What a point adds to the tissue: the source and its consistent derivative by the potential, in
/// units of tau, and the recovery variable at the end of the step.
struct CondensedCell {
  double recovery;
  double source;
  double tangent;
};

/// `step` in units of tau. Newton's method for R_r = r - r_before - step f_r ends where it moves r
/// by rounding alone; `most` iterations suffice for every step that resolves an action potential.
HEDDLE_INLINE CondensedCell condense(const AlievPanfilov& cell, double phi, double r_before,
                                     double step) {
  constexpr int most = 50;
  constexpr double rounding = 4e-16;
  double r = r_before;
  for (int i = 0; i < most; ++i) {
    const double residual = r - r_before - step * cell.rate(phi, r) * cell.drive(phi, r);
    const double change = residual / (1 - step * cell.recovery_by_recovery(phi, r));
    r -= change;
    const double size = r < 0 ? -r : r;
    if ((change < 0 ? -change : change) <= rounding * (size + 1)) break;
  }
  // dr/dphi of R_r = 0.
  const double slope =
      step * cell.recovery_by_potential(phi, r) / (1 - step * cell.recovery_by_recovery(phi, r));
  return {r, cell.source(phi, r), cell.source_by_potential(phi, r) - phi * slope};
}

}  // namespace heddle::heart
