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
          "of multigrid: v, or w, which corrects twice on all levels but the finest, or k, which "
          "does so by two steps of conjugate gradient, for fgmres"),
      row(use, "smoother",
          To<O, &O::smoother>::name<find_smoother>("chebyshev, jacobi, l1-jacobi or gauss-seidel"),
          "NAME", "chebyshev",
          "of multigrid: chebyshev, jacobi, l1-jacobi or gauss-seidel, which goes by colours; the "
          "degree of multigrid is that of the polynomial, or the sweeps"),
      row(use, "interpolation",
          To<O, &O::interpolation>::name<find_interpolation>("smoothed or plain"), "smoothed|plain",
          "smoothed",
          "of multigrid: plain has levels that are sparser and cheaper to set up and take more "
          "iterations, fewest with the cycle k"),
      row(use, "level_precision",
          To<O, &O::level_precision>::name<find_level_precision>("full or single"), "full|single",
          "full",
          "of multigrid: single has cycles that read and write floats under a matrix of doubles, "
          "half of the bytes"),
      row(use, "strength",
          To<O, &O::strength>::number<from_0_below_1>("a number of at least 0 and below 1"),
          "NUMBER", "0.08",
          "of multigrid: rows are aggregated where |a_ij| is larger than this share of "
          "sqrt(|a_ii a_jj|), and by less where that aggregates too few"),
      row(use, "candidates", To<O, &O::is_adaptive>::name<adaptive>("adaptive"), "adaptive", "",
          "of multigrid: adaptive finds fields that the matrix nearly maps to 0 from random ones",
          "", nullptr, true),
      row(use, "estimates_again", To<O, &O::estimates_again>::yes_or_no(), "true|false", "false",
          "of multigrid: new values of the matrix have the largest eigenvalues of all levels "
          "estimated anew; false: where they seem to grow",
          "", nullptr, true),
  };
  return rows;
}

}  // namespace heddle::detail
