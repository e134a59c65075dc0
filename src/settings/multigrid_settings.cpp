// Settings of the preconditioner multigrid.
#include <array>

#include "setting_kinds.hpp"
#include "setting_rows.hpp"

namespace heddle::detail {

std::span<const SettingRow> multigrid_settings() {
  constexpr auto use = SettingUse::multigrid;
  using O = MultigridChoice;
  static constexpr auto adaptive = [](std::string_view text) {
    return is_same_name(text, "adaptive") ? std::optional(true) : std::nullopt;
  };
  static constexpr std::array rows = {
      row(use, "cycle", To<O, &O::cycle>::name<find_cycle>("v, w or k"), "v|w|k", "v",
          "multigrid cycle: v; w, which corrects twice on all levels except the finest; or k, "
          "which does so by two steps of conjugate gradient, for fgmres"),
      row(use, "smoother",
          To<O, &O::smoother>::name<find_smoother>("chebyshev, jacobi, l1-jacobi or gauss-seidel"),
          "NAME", "chebyshev",
          "multigrid smoother: chebyshev, jacobi, l1-jacobi or gauss-seidel (by colours); the "
          "degree of multigrid is that of the polynomial, or the number of sweeps"),
      row(use, "interpolation",
          To<O, &O::interpolation>::name<find_interpolation>("smoothed or plain"), "smoothed|plain",
          "smoothed",
          "multigrid interpolation: plain makes levels that are sparser and cheaper to set up but "
          "need more iterations, fewest with cycle k"),
      row(use, "level_precision",
          To<O, &O::level_precision>::name<find_level_precision>("full or single"), "full|single",
          "full",
          "precision of multigrid levels: single makes cycles read and write floats for a matrix "
          "of doubles, half the bytes"),
      row(use, "strength",
          To<O, &O::strength>::number<[](double s) { return s >= 0 && s < 1; }>(
              "a number of at least 0 and below 1"),
          "NUMBER", "0.08",
          "multigrid aggregates rows where |a_ij| exceeds this share of sqrt(|a_ii a_jj|), or a "
          "smaller share where that aggregates too few"),
      row(use, "candidates", To<O, &O::is_adaptive>::name<adaptive>("adaptive"), "adaptive", "",
          "multigrid candidates: adaptive starts from random fields and finds those that the "
          "matrix nearly maps to 0",
          "", nullptr, true),
      row(use, "estimates_again", To<O, &O::estimates_again>::yes_or_no(), "true|false", "false",
          "true: new values of the matrix make multigrid estimate the largest eigenvalues of all "
          "levels again; false: only where they seem to grow",
          "", nullptr, true),
  };
  return rows;
}

}  // namespace heddle::detail
