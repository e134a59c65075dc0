#include "multigrid_options.hpp"

#include <memory>
#include <utility>
#include <vector>

#include "heddle/error.hpp"
#include "heddle/runtime/any_solver.hpp"

namespace heddle::cli {

void MultigridOption::add_to(CLI::App& command) {
  command
      .add_option("--cycle", cycle_,
                  "of multigrid: v, or w, which corrects twice on all levels but the finest, or k, "
                  "which does so by two steps of conjugate gradient, for fgmres [v]")
      ->transform(CLI::IsMember({"v", "w", "k"}, CLI::ignore_case))
      ->type_name("CYCLE");
  command
      .add_option("--smoother", smoother_,
                  "of multigrid: chebyshev, jacobi, l1-jacobi or gauss-seidel, which goes by "
                  "colours; the degree of multigrid is that of the polynomial, or the sweeps "
                  "[chebyshev]")
      ->transform(
          CLI::IsMember({"chebyshev", "jacobi", "l1-jacobi", "gauss-seidel"}, CLI::ignore_case))
      ->type_name("SMOOTHER");
  command
      .add_option(
          "--interpolation", interpolation_,
          "of multigrid: smoothed, or plain, whose levels are sparser and cheaper to set up "
          "and take more iterations, fewest with --cycle k [smoothed]")
      ->transform(CLI::IsMember({"smoothed", "plain"}, CLI::ignore_case))
      ->type_name("KIND");
  command
      .add_option(
          "--level-precision", level_precision_,
          "of multigrid: full, or single, whose cycles read and write floats under a matrix "
          "of doubles, half of the bytes [full]")
      ->transform(CLI::IsMember({"full", "single"}, CLI::ignore_case))
      ->type_name("PRECISION");
  command
      .add_option("--strength", strength_,
                  "of multigrid: rows are aggregated where |a_ij| is larger than so much of "
                  "sqrt(|a_ii a_jj|), from 0 to below 1, and by less where that aggregates too few "
                  "[0.08]")
      ->type_name("NUMBER");
  add_candidates_to(command);
}

void MultigridOption::add_candidates_to(CLI::App& command) {
  command
      .add_option(
          "--coordinates", coordinates_,
          "of multigrid: an array file of a point for each row of block2 or block3 entries; "
          "coarse levels then have the motions of a rigid body, without it the constants")
      ->type_name("FILE");
  command
      .add_option(
          "--candidates", candidates_,
          "of multigrid: adaptive, which finds fields that the matrix nearly maps to 0 from "
          "random ones, or array files of such fields, one each; without it the constants, "
          "or what --coordinates gives")
      ->expected(1, 6)
      ->type_name("FILE");
}

namespace {

bool is_adaptive(const std::vector<std::string>& candidates) {
  return candidates.size() == 1 && candidates.front() == "adaptive";
}

}  // namespace

void MultigridOption::add_inputs(RunFiles& files) const {
  if (!coordinates_.empty()) files.reads("--coordinates", coordinates_);
  if (!is_adaptive(candidates_)) files.reads("--candidates", candidates_);
}

void MultigridOption::check_candidates() const {
  if (coordinates_.empty() || candidates_.empty()) return;
  throw Error(ErrorKind::usage,
              "--coordinates are where candidates come from, and --candidates names others: give "
              "one of them");
}

void MultigridOption::check(const ComposedChoice& preconditioner) const {
  check_candidates();
  if (preconditioner.has(PreconditionerKind::multigrid)) return;
  if (!names_settings() && !names_candidates()) return;
  throw Error(ErrorKind::usage, std::string(cycle_                  ? "--cycle"
                                            : smoother_             ? "--smoother"
                                            : interpolation_        ? "--interpolation"
                                            : level_precision_      ? "--level-precision"
                                            : strength_             ? "--strength"
                                            : !coordinates_.empty() ? "--coordinates"
                                                                    : "--candidates") +
                                    " is for --preconditioner multigrid");
}

void MultigridOption::apply_to(MultigridChoice& choice) const {
  if (cycle_) choice.cycle = *find_cycle(*cycle_);
  if (smoother_) choice.smoother = *find_smoother(*smoother_);
  if (interpolation_) choice.interpolation = *find_interpolation(*interpolation_);
  if (level_precision_) choice.level_precision = *find_level_precision(*level_precision_);
  if (strength_) choice.strength = *strength_;
}

MultigridChoice MultigridOption::read(const MultigridChoice& named, const AnyMatrix& matrix,
                                      const Device& device, Progress* progress) const {
  MultigridChoice choice = named;
  apply_to(choice);
  choice.is_adaptive = is_adaptive(candidates_);
  if (!coordinates_.empty()) read_points(matrix, device, progress, choice);
  if (!candidates_.empty() && !choice.is_adaptive) {
    read_candidates(matrix, device, progress, choice);
  }
  return choice;
}

void MultigridOption::read_points(const AnyMatrix& matrix, const Device& device, Progress* progress,
                                  MultigridChoice& choice) const {
  const AnyEntry& entry = matrix.entry();
  const bool is_block2 = !entry.definition() && entry.kind() == EntryKind::block2;
  const bool is_block3 = !entry.definition() && entry.kind() == EntryKind::block3;
  if (!is_block2 && !is_block3) {
    throw Error(ErrorKind::usage, "--coordinates are of rows of block2 or block3 entries, not of " +
                                      std::string(entry.name()));
  }
  const AnyField read =
      AnyField::read(coordinates_, entry, Precision::double_precision, device, progress);
  if (read.rows() != matrix.rows()) {
    throw Error(ErrorKind::size_mismatch,
                "--coordinates " + coordinates_ + " has " + std::to_string(read.rows()) +
                    " points, the matrix has " + std::to_string(matrix.rows()) + " rows");
  }
  const int dimension = is_block2 ? 2 : 3;
  std::vector<std::array<double, 3>> points(static_cast<std::size_t>(read.rows()));
  for (std::size_t i = 0; i < points.size(); ++i) {
    for (int c = 0; c < dimension; ++c) {
      points[i][static_cast<std::size_t>(c)] = read.get(static_cast<Offset>(i) * dimension + c);
    }
  }
  choice.points = std::make_shared<const std::vector<std::array<double, 3>>>(std::move(points));
}

void MultigridOption::read_candidates(const AnyMatrix& matrix, const Device& device,
                                      Progress* progress, MultigridChoice& choice) const {
  std::vector<std::vector<double>> fields;
  for (const std::string& path : candidates_) {
    const AnyField read =
        AnyField::read(path, matrix.entry(), Precision::double_precision, device, progress);
    if (read.rows() != matrix.rows()) {
      throw Error(ErrorKind::size_mismatch,
                  "--candidates " + path + " has " + std::to_string(read.rows()) +
                      " rows, the matrix has " + std::to_string(matrix.rows()));
    }
    auto& field = fields.emplace_back(static_cast<std::size_t>(read.rows()) *
                                      static_cast<std::size_t>(read.components()));
    for (std::size_t i = 0; i < field.size(); ++i) field[i] = read.get(static_cast<Offset>(i));
  }
  choice.candidates = std::make_shared<const std::vector<std::vector<double>>>(std::move(fields));
}

}  // namespace heddle::cli
