// The options of `heddle solve`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "heddle/report.hpp"
#include "matrix_options.hpp"
#include "multigrid_options.hpp"
#include "profile_option.hpp"
#include "rank_options.hpp"
#include "solve_history.hpp"
#include "step_options.hpp"
#include "storage_option.hpp"

namespace heddle::cli {

struct SolveOptions {
  MatrixOptions matrix;
  std::string rhs;
  std::string guess;
  std::optional<std::string> output;
  std::string method = "auto";
  std::optional<std::string> preconditioner;
  MultigridOption multigrid;
  double shift = 0;
  std::optional<double> damping;  // of least squares
  std::optional<double> tolerance;
  std::optional<int> right_hand_sides;  // else as many as --rhs has side by side, or one
  int repetitions = 1;
  long long max_iterations = SolverOptions{}.max_iterations;
  std::optional<int> restart;
  std::string basis_precision = "full";
  std::string field_precision = "full";
  bool has_narrow_fields() const { return field_precision == "single"; }
  StepOptions steps;
  std::optional<double> time_limit;
  std::string keep = "last";
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
