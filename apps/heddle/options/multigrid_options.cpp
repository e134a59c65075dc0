#include "multigrid_options.hpp"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "heddle/error.hpp"
#include "heddle/runtime/any_solver.hpp"
#include "setting_options.hpp"

namespace heddle::cli {

namespace {

constexpr const char* group = "multigrid";

}  // namespace

void MultigridOption::add_to(CLI::App& command, Settings& settings) {
  add_settings(command, SettingUse::multigrid, settings, group);
  add_candidates_to(command);
}

void MultigridOption::add_candidates_to(CLI::App& command) {
  command
      .add_option("--coordinates", coordinates_,
                  "multigrid: an array file with a point for each row of block2 or block3 entries; "
                  "coarse levels then have the motions of a rigid body instead of the constants")
      ->type_name("FILE")
      ->group(group);
  command
      .add_option("--candidates", candidates_,
                  "multigrid: adaptive, which starts from random fields and finds those that the "
                  "matrix nearly maps to 0, or array files of such fields, one each; default: the "
                  "constants, or those of --coordinates")
      ->expected(1, 6)
      ->type_name("FILE")
      ->group(group);
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
              "--coordinates and --candidates both define the candidates: give one of them");
}

void MultigridOption::check(const ComposedChoice& preconditioner, const Settings& settings) const {
  check_candidates();
  if (preconditioner.has(PreconditionerKind::multigrid)) return;
  if (!names_settings(settings) && !names_candidates()) return;
  std::string option = coordinates_.empty() ? "--candidates" : "--coordinates";
  for (const Settings::Given& given : settings.given()) {
    if (given.setting->use == SettingUse::multigrid) option = given.spelling;
  }
  throw Error(ErrorKind::usage, option + " is for --preconditioner multigrid");
}

bool MultigridOption::names_settings(const Settings& settings) {
  const std::vector<Settings::Given>& all = settings.given();
  return std::any_of(all.begin(), all.end(), [](const Settings::Given& given) {
    return given.setting->use == SettingUse::multigrid;
  });
}

MultigridChoice MultigridOption::read(const MultigridChoice& named, const Settings& settings,
                                      const AnyMatrix& matrix, const Device& device,
                                      Progress* progress) const {
  MultigridChoice choice = with_settings(named, settings);
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
    throw Error(ErrorKind::usage,
                "--coordinates are for rows of block2 or block3 entries, not of " +
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
