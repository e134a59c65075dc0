#include "solve_least_squares.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/names.hpp"
#include "heddle/runtime/any_least_squares.hpp"
#include "heddle/tools/text.hpp"
#include "json_report.hpp"
#include "readable.hpp"
#include "right_hand_side.hpp"
#include "singular_advice.hpp"
#include "solve_history.hpp"
#include "solve_settings.hpp"
#include "solve_watch.hpp"
#include "stopwatch.hpp"
#include "tuning/planning/hidden_tiles.hpp"
#include "tuning/planning/method_choice.hpp"

namespace heddle::cli {

namespace {

struct Solved {
  std::string reason;
  PlanChoice choice;
  MemoryUse memory;
  std::string tree;  // as in `SolveOutcome`
  HierarchicalMemory tree_memory;
  long long solver_memory = 0;
  std::string right_hand_side;
  LeastSquaresReport report;
  std::optional<double> error;  // against x*, where that is the only solution
  std::optional<RankSummary> ranks;
  double read_seconds = 0, build_seconds = 0, write_seconds = 0;
};

/// `reason`: why lsmr solves.
void refuse_other_options(const SolveOptions& options, const std::string& reason) {
  const auto refuse = [&](const std::string& option, const char* why) {
    throw Error(ErrorKind::usage,
                "lsmr solves (" + reason + "), and " + option + " is not for it: " + why);
  };
  if (const std::string named = preconditioner_of(options); named != automatic && named != "none") {
    refuse("--preconditioner " + *options.preconditioner, "it takes none");
  }
  if (options.shift != 0) refuse("--shift", "see --damping");
  for (const Settings::Given& given : options.settings.given()) {
    const SettingRow& row = *given.setting;
    if (has_setting(SettingUse::least_squares, row.name) || row.use == SettingUse::multigrid)
      continue;
    if (is_same_name(given.value, row.by_default)) continue;
    refuse(given.spelling + " " + given.value, row.name == "keep" ? "its residual never grows"
                                               : row.name == "field_precision"
                                                   ? "it keeps its own fields"
                                                   : "it has no such setting");
  }
  if (options.right_hand_sides.value_or(1) != 1) {
    refuse("--right-hand-sides", "it solves one at a time");
  }
}

nlohmann::ordered_json to_json(const SolveOptions& options, const LeastSquaresProblem& problem,
                               const Solved& solved) {
  const LeastSquaresReport& report = solved.report;
  const AnyMatrix& matrix = problem.matrix;
  nlohmann::ordered_json json;
  json["status"] = name(report.status);
  if (!report.detail.empty()) json["detail"] = report.detail;
  json["iterations"] = report.iterations;
  json["residual"] = number_or_null(report.residual);
  json["gradient"] = number_or_null(report.gradient);
  json["residual_norm"] = number_or_null(report.residual_norm);
  json["gradient_norm"] = number_or_null(report.gradient_norm);
  json["solution_norm"] = number_or_null(report.solution_norm);
  json["matrix_norm"] = number_or_null(report.matrix_norm);
  json["condition"] = number_or_null(report.condition);
  json["error"] = solved.error ? number_or_null(*solved.error) : nlohmann::ordered_json();
  json["damping"] = options.of_least_squares().damping;
  json["solver"] = lsmr_method.info.name;
  json["solver_reason"] = solved.reason;
  json["preconditioner"] = "none";
  json["plan"] = solved.tree.empty() ? solved.choice.text() : solved.tree;
  json["plan_reason"] = solved.choice.reason;
  json["entry"] = matrix.entry().name();
  json["precision"] = name(matrix.precision());
  json["rows"] = problem.rows();
  json["columns"] = matrix.columns();
  json["entries"] = problem.entries();
  json["restarts"] = report.restarts;
  json["memory"] = (solved.tree.empty() ? solved.memory.total() : solved.tree_memory.total()) +
                   (solved.ranks ? solved.ranks->memory : 0);
  json["solver_memory"] = solved.solver_memory;
  if (!problem.rank_choice.empty()) json["rank_choice"] = problem.rank_choice;
  if (solved.ranks) json["ranks"] = to_json(*solved.ranks);
  json["times"] = {{"read", solved.read_seconds},
                   {"build", solved.build_seconds},
                   {"permute", report.permute_seconds},
                   {"iterate", report.iterate_seconds},
                   {"write", solved.write_seconds}};
  json["bytes_per_iteration"] = report.bytes_per_iteration;
  json["settings"] = json_of(options.settings, solve_uses);
  add_provenance(json, options.matrix.path, problem.device);
  return json;
}

/// What the tolerance is on.
std::string gradient_in_words(bool is_damped) {
  return std::string("|A* r") + (is_damped ? " - D^2 x" : "") + "| / (|A| |r|)";
}

void print(const SolveOptions& options, const LeastSquaresProblem& problem, const Solved& solved) {
  const LeastSquaresReport& report = solved.report;
  const AnyMatrix& matrix = problem.matrix;
  const double damping = options.of_least_squares().damping;
  std::printf("matrix     %s: %s x %s %s entries (%s), %s stored\n",
              io::printable(options.matrix.path).c_str(), readable_count(problem.rows()).c_str(),
              readable_count(matrix.columns()).c_str(), std::string(matrix.entry().name()).c_str(),
              std::string(name(matrix.precision())).c_str(),
              readable_count(problem.entries()).c_str());
  std::printf("device     %s\n", problem.device.description().c_str());
  std::printf("plan       %s\n",
              (solved.tree.empty() ? solved.choice.text() : solved.tree).c_str());
  std::printf("reason     %s\n", io::printable(solved.choice.reason).c_str());
  if (!problem.rank_choice.empty()) std::printf("ranks      %s\n", problem.rank_choice.c_str());
  if (solved.ranks) {
    print(*solved.ranks);
  } else {
    std::printf(
        "memory     %s, solver with the adjoint %s\n",
        (solved.tree.empty() ? to_string(solved.memory) : to_string(solved.tree_memory)).c_str(),
        readable_bytes(solved.solver_memory).c_str());
  }
  std::printf("system     min |A x - b|%s, b = %s\n", damping != 0 ? "^2 + D^2 |x|^2" : "",
              io::printable(solved.right_hand_side).c_str());
  if (damping != 0) std::printf("damping    D = %s\n", nlohmann::json(damping).dump().c_str());
  std::printf("solver     lsmr: %s\n", solved.reason.c_str());
  std::printf("status     %s after %lld iterations%s%s%s\n",
              std::string(name(report.status)).c_str(), report.iterations,
              report.detail.empty() ? "" : " (", std::string(report.detail).c_str(),
              report.detail.empty() ? "" : ")");
  std::printf("residual   |r| / |b| = %.3e for r = b - A x, computed from x\n", report.residual);
  std::printf("gradient   %s = %.3e, computed from x; |A| is about %.2e%s\n",
              gradient_in_words(damping != 0).c_str(), report.gradient, report.matrix_norm,
              report.restarts > 0
                  ? (", after " + std::to_string(report.restarts) + " restarts").c_str()
                  : "");
  if (solved.error) std::printf("error      |x - x*| / |x*| = %.3e\n", *solved.error);
  std::printf("time       read %s, build %s, permute %s, iterate %s\n",
              readable_seconds(solved.read_seconds).c_str(),
              readable_seconds(solved.build_seconds).c_str(),
              readable_seconds(report.permute_seconds).c_str(),
              readable_iterations(report.iterate_seconds, report.iterations).c_str());
  if (options.output) {
    std::printf("written    %s\n", report.status == Status::not_finite
                                       ? "nothing: the solve was not finite"
                                       : io::printable(*options.output).c_str());
  }
}

LeastSquaresOptions least_squares_settings(const SolveOptions& options, SolveWatch& watch) {
  LeastSquaresOptions settings = options.of_least_squares();
  settings.record_history = options.history.wanted();
  watch.listen(settings);
  return settings;
}

report::ConvergenceNames table_names(bool is_damped) {
  return {"gradient", "|r| / |b|", gradient_in_words(is_damped)};
}

void write_history(const SolveOptions& options, const LeastSquaresProblem& problem,
                   const Solved& solved, const LeastSquaresHistory& history, double tolerance) {
  const LeastSquaresReport& report = solved.report;
  const AnyMatrix& matrix = problem.matrix;
  const std::string gradient = gradient_in_words(options.of_least_squares().damping != 0);
  const std::string size =
      readable_count(problem.rows()) + " x " + readable_count(matrix.columns()) + " ";
  options.history.write({{{"relative_gradient", "gradient " + gradient + " of the recurrence",
                           &history.gradients, gradient, report.gradient},
                          {"relative_residual", "residual |r| / |b| of the recurrence",
                           &history.residuals, "|b - A x| / |b|", report.residual}},
                         "relative gradient and residual",
                         tolerance,
                         report.status,
                         report.iterations},
                        std::filesystem::path(options.matrix.path).filename().string() + ": lsmr",
                        size + std::string(matrix.entry().name()) + " entries (" +
                            std::string(name(matrix.precision())) +
                            "), b = " + solved.right_hand_side);
}

}  // namespace

void check_least_squares(const SolveOptions& options) {
  if (options.method == lsmr_method.info.name) refuse_other_options(options, "by --solver");
  if (!options.settings.has("damping")) return;
  if (options.method != "auto" && options.method != lsmr_method.info.name) {
    throw Error(ErrorKind::usage,
                "--damping is of least squares: give --solver lsmr, not " + options.method);
  }
}

std::optional<std::string> reason_for_least_squares(const SolveOptions& options,
                                                    const AnyMatrix& matrix) {
  if (options.method == lsmr_method.info.name) return "by --solver";
  const bool is_rectangular = matrix.rows() != matrix.columns();
  if (options.method != "auto" || (!is_rectangular && !options.settings.has("damping")))
    return std::nullopt;
  const bool has_adjoint = std::visit([](const auto& entry) { return entry->adjoint != nullptr; },
                                      detail::entry_table_of(matrix));
  if (!has_adjoint && !options.settings.has("damping")) return std::nullopt;
  std::string reason = is_rectangular ? told_rectangular(matrix) : "by --damping";
  if (const auto entry = entry_of_first_columns(matrix)) {
    reason += ", which --entry " + std::string(name(*entry)) + " reads";
  }
  refuse_other_options(options, reason);
  return reason;
}

namespace {

/// The operator and its solver, as they are stored.
struct BuiltLeastSquares {
  std::optional<StoredTree> tree;
  std::optional<AnyLinearOperator> A;
  std::optional<AnyLeastSquares> solver;
};

/// Tells `solved` of the storage.
BuiltLeastSquares build(const SolveOptions& options, const LeastSquaresProblem& problem,
                        const LeastSquaresOptions& settings, Solved& solved) {
  const AnyMatrix& matrix = problem.matrix;
  const Device& device = problem.device;
  BuiltLeastSquares built;
  if (problem.on_rank != nullptr) {
    built.A.emplace(problem.on_rank->rows.matrix());
    built.solver.emplace(*built.A, settings);
  } else if (options.storage.is_hierarchical()) {
    const NodeChoice choice =
        options.storage.choose(matrix, device, options.profile, TreeUse::both);
    built.tree.emplace(store_as_tree(matrix, choice, device));
    solved.tree = text_of(choice);
    solved.choice.reason = choice.reason;
    built.A.emplace(built.tree->matrix);
    built.solver.emplace(*built.A, settings);
  } else {
    options.profile.build(
        solved.choice,
        [&](const Plan& plan) {
          built.solver.reset();
          const AnyOperator sliced(matrix, plan, device);
          solved.memory = sliced.memory();
          built.A.emplace(sliced);
          built.solver.emplace(sliced, settings);
        },
        [&] {
          return choice_without_copy(options.plan, matrix, device, Objective::product(),
                                     Profiles());
        });
  }
  solved.solver_memory = built.solver->memory();
  return built;
}

RightHandSide right_hand_side_of(const SolveOptions& options, const LeastSquaresProblem& problem,
                                 const AnyLinearOperator& A) {
  if (problem.on_rank != nullptr) {
    return problem.on_rank->rows.right_hand_side(options.rhs, 1, options.seed, 0);
  }
  return right_hand_side(options.rhs, 1, options.seed, A, 0, problem.device, problem.progress);
}

AnyField guess_of(const SolveOptions& options, const LeastSquaresProblem& problem,
                  const AnyLinearOperator& A) {
  if (options.guess.empty()) return A.column_field();
  const std::vector<AnyField> read =
      problem.on_rank != nullptr
          ? problem.on_rank->rows.read_fields("--guess", options.guess, 1).fields
          : read_fields("--guess", options.guess, columns_of(A), 1, problem.device,
                        problem.progress)
                .fields;
  return read.front();
}

/// `x`: of all rows.
void write_and_tell(const SolveOptions& options, const LeastSquaresProblem& problem,
                    const AnyField& x, double tolerance, BuiltLeastSquares& built, Solved& solved) {
  Stopwatch writing;
  if (options.output && solved.report.status != Status::not_finite) {
    x.write(*options.output, problem.matrix.entry(), problem.progress);
  }
  write_history(options, problem, solved, built.solver->history(), tolerance);
  solved.write_seconds = writing.seconds();
  if (built.tree) solved.tree_memory = built.tree->memory();
  if (problem.progress != nullptr) problem.progress->erase();
  if (options.json) {
    std::cout << text_of(to_json(options, problem, solved));
  } else if (!options.matrix.quiet) {
    print(options, problem, solved);
  }
}

}  // namespace

int solve_least_squares(const SolveOptions& options, const LeastSquaresProblem& problem) {
  const AnyMatrix& matrix = problem.matrix;
  const MatrixOfRank* const on_rank = problem.on_rank != nullptr ? &problem.on_rank->rows : nullptr;
  check_adjoint(matrix);
  Solved solved;
  solved.reason = problem.reason;
  Stopwatch choosing;
  if (on_rank != nullptr) {
    solved.choice = problem.on_rank->choice;
  } else if (!options.storage.is_hierarchical()) {
    solved.choice = choice_without_copy(options.plan, matrix, problem.device, Objective::product(),
                                        problem.profiles);
  }
  solved.read_seconds = problem.read_seconds + choosing.seconds();

  Stopwatch building;
  const double given_tolerance = options.of_least_squares().tolerance;
  const double tolerance = given_tolerance != LeastSquaresOptions::by_precision ? given_tolerance
                           : matrix.precision() == Precision::single_precision  ? 1e-5
                                                                                : 1e-8;
  SolveWatch watch(problem.progress);
  const bool is_first = on_rank == nullptr || on_rank->ranks().rank() == 0;
  if (options.monitor && is_first) {
    watch.show_table(tolerance, table_names(options.of_least_squares().damping != 0));
  }
  const LeastSquaresOptions settings = least_squares_settings(options, watch);
  if (problem.progress != nullptr) problem.progress->erase();
  BuiltLeastSquares built = build(options, problem, settings, solved);
  solved.build_seconds = building.seconds();

  const RightHandSide given = right_hand_side_of(options, problem, *built.A);
  solved.right_hand_side = given.text;
  solved.read_seconds += given.read_seconds;
  const AnyField guess = guess_of(options, problem, *built.A);
  AnyField x = guess;
  std::vector<double> seconds;
  for (int repetition = 0; repetition < options.repetitions; ++repetition) {
    x = guess;
    watch.begin(*built.solver);
    solved.report = built.solver->solve(given.b.front(), x);
    watch.end(solved.report);
    seconds.push_back(solved.report.iterate_seconds);
  }
  solved.report.iterate_seconds = median(std::move(seconds));
  if (on_rank != nullptr) {
    solved.ranks = on_rank->summary();
    const auto of_all = [&](long long own) {
      const std::vector<long long> all = gather(on_rank->ranks(), own);
      return std::accumulate(all.begin(), all.end(), 0LL);
    };
    solved.report.bytes_per_iteration = of_all(solved.report.bytes_per_iteration);
    solved.solver_memory = of_all(solved.solver_memory);
    x = on_rank->gathered(x);
  }
  const bool has_one_solution = problem.rows() >= matrix.columns() && settings.damping == 0;
  if (!given.exact.empty() && has_one_solution) {
    solved.error = relative_error(x, given.exact.front());
  }
  const auto finish = [&] { write_and_tell(options, problem, x, tolerance, built, solved); };
  if (on_rank == nullptr) {
    finish();
  } else {
    together(on_rank->ranks(), [&] {
      if (is_first) finish();
    });
  }
  return solved.report.converged() ? 0 : 1;
}

}  // namespace heddle::cli
