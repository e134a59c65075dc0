// Aliev and Panfilov's cells (1996) at an integration point, by backward Euler: the recovery
// variable is found by Newton's method and condensed, so that the tissue sees the potential alone
// (Wong, Kuhl, Darve 2015, section 2 and table I).
#pragma once

#include <cmath>

#include "membranes/aliev_panfilov.hpp"

namespace heddle::heart {

/// The right-hand sides of a cell's equations and their derivatives, over tau.
struct CellRates : AlievPanfilov {
  /// The right-hand side of v, at fixed r.
  HEDDLE_INLINE double source(double v, double r) const {
    return c * v * (v - alpha) * (1 - v) - r * v;
  }
  HEDDLE_INLINE double source_by_potential(double v, double r) const {
    return c * (2 * v - 3 * v * v - alpha + 2 * alpha * v) - r;
  }
  /// The right-hand side of r is the product of these two.
  HEDDLE_INLINE double rate(double v, double r) const { return gamma + mu1 * r / (mu2 + v); }
  HEDDLE_INLINE double drive(double v, double r) const { return -r - c * v * (v - b - 1); }
  /// In units of tau. In a longer step a cell at rest gains more than the step takes back, and the
  /// tangent of the tissue need not be positive. The source is steepest at v = (1 + alpha) / 3.
  double largest_step() const {
    const double steepest = c * ((1 + alpha) * (1 + alpha) / 3 - alpha);
    return steepest > 0 ? 1 / steepest : HUGE_VAL;
  }
  HEDDLE_INLINE double recovery_by_recovery(double v, double r) const {
    return mu1 / (mu2 + v) * drive(v, r) - rate(v, r);
  }
  HEDDLE_INLINE double recovery_by_potential(double v, double r) const {
    return -mu1 * r / ((mu2 + v) * (mu2 + v)) * drive(v, r) - rate(v, r) * c * (2 * v - b - 1);
  }
};

/// A point's contribution to the tissue: the source and its consistent derivative by the potential,
/// in units of tau, and the recovery variable at the end of the step.
struct CondensedCell {
  double recovery;
  double source;
  double tangent;
};

/// `step` is in units of tau. Newton's method for R_r = r - r_before - step f_r ends where it moves
/// r by rounding alone; `most` iterations suffice for every step that resolves an action potential.
HEDDLE_INLINE CondensedCell condense(const CellRates& cell, double v, double r_before,
                                     double step) {
  constexpr int most = 50;
  constexpr double rounding = 4e-16;
  double r = r_before;
  double moved = 1;  // change in the last iteration, relative to 1 + |r|
  for (int i = 0; i < most && moved > rounding; ++i) {
    const double residual = r - r_before - step * cell.rate(v, r) * cell.drive(v, r);
    const double change = residual / (1 - step * cell.recovery_by_recovery(v, r));
    r -= change;
    moved = (change < 0 ? -change : change) / ((r < 0 ? -r : r) + 1);
  }
  constexpr double enough = 1e-12;  // rounding may move r back and forth
  if (!(moved <= enough)) r = NAN;  // so the tissue sees a residual that is not finite
  // dr/dv from R_r = 0.
  const double slope =
      step * cell.recovery_by_potential(v, r) / (1 - step * cell.recovery_by_recovery(v, r));
  return {r, cell.source(v, r), cell.source_by_potential(v, r) - v * slope};
}

}  // namespace heddle::heart
