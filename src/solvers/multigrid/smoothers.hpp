// The smoothers of a multigrid's levels.
#pragma once

#include <memory>
#include <span>

#include "heddle/multigrid.hpp"
#include "level_operators.hpp"

namespace heddle::detail {

/// Makes the smoothers of levels, and updates them to new values.
template <class S>
class Smoothers {
 public:
  /// All references must outlive it.
  Smoothers(const MultigridOptions& options, const LevelOperators<S>& operators, const Device& host,
            SetupScratch& scratch)
      : options_(options), operators_(operators), host_(host), scratch_(scratch) {}

  /// Updates D^-1, Jacobi and the smoother to the level's current matrix, whose energies came from
  /// these scales. Estimates the largest eigenvalue always if `estimates`, else if it may have
  /// grown.
  void smooth(Level<S>& level, std::span<const double> scales, bool estimates);
  /// Updates the polynomial to the level's largest eigenvalue.
  void smooth_by_polynomial(Level<S>& level);
  /// Makes a polynomial that a `NumberCycle` would have run.
  void make_polynomial(Level<S>& level);
  /// Degree of the polynomial.
  int degree() const { return options_.smoother == Smoother::jacobi ? 0 : options_.degree; }
  /// Times that the polynomial is applied.
  int sweeps() const { return options_.smoother == Smoother::jacobi ? options_.degree : 1; }
  /// True if the smoother is chosen to be a polynomial.
  bool are_polynomials() const {
    return options_.smoother == Smoother::chebyshev || options_.smoother == Smoother::jacobi;
  }
  /// Before the first new values arrive, stores what they are compared with.
  void remember_reach(const LevelList<S>& levels);
  /// The levels have that already.
  void keep_reach() { remembers_reach_ = true; }

 private:
  void estimate_largest(Level<S>& level, std::span<const double> scales, bool estimates);
  void place_numbers(LevelSmoother<S>& own);
  void smooth_by_norms(Level<S>& level);
  bool smooth_by_colours(Level<S>& level);
  void add_colours(Level<S>& level);

  const MultigridOptions& options_;
  const LevelOperators<S>& operators_;
  const Device& host_;
  SetupScratch& scratch_;
  bool remembers_reach_ = false;
};

}  // namespace heddle::detail
