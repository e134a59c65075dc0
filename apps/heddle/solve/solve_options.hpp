// The options of `heddle solve`.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "heddle/runtime/settings.hpp"
#include "options/matrix_options.hpp"
#include "options/multigrid_options.hpp"
#include "profile_option.hpp"
#include "ranks/rank_options.hpp"
#include "solve_history.hpp"
#include "storage_option.hpp"

namespace heddle::cli {

/// Uses whose settings the command takes.
inline constexpr std::array solve_uses = {SettingUse::solver, SettingUse::least_squares,
                                          SettingUse::multigrid};

struct SolveOptions {
  MatrixOptions matrix;
  std::string rhs;
  std::string guess;
  std::optional<std::string> output;
  std::string method = "auto";
  std::optional<std::string> preconditioner;
  MultigridOption multigrid;
  double shift = 0;
  std::optional<int> right_hand_sides;  // default: the number in the file of --rhs, or one
  int repetitions = 1;
  Settings settings;  // for methods, least squares and multigrid
  SolveSettings of_method() const { return with_settings(SolveSettings(), settings); }
  LeastSquaresOptions of_least_squares() const {
    return with_settings(LeastSquaresOptions(), settings);
  }
  bool has_narrow_fields() const { return of_method().has_narrow_fields; }
  std::string plan;
  ProfileOption profile;
  StorageOption storage;
  RankOptions ranks;
  HistoryOptions history;
  std::uint64_t seed = 1;
  bool json = false;
  bool monitor = false;
};

}  // namespace heddle::cli
