// --preconditioner and --level-precision of the simulations.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "heddle/error.hpp"
#include "heddle/runtime/preconditioner_choice.hpp"

namespace heddle::cli {

class PreconditionerOption {
 public:
  /// `of` says what solves it is of, and what holds without it; `usual_precision` what holds
  /// without a precision.
  void add_to(CLI::App& app, const std::string& of, const std::string& usual_precision) {
    app.add_option("--preconditioner", name_, "jacobi or multigrid, " + of)
        ->transform(CLI::IsMember({"jacobi", "multigrid"}, CLI::ignore_case))
        ->type_name("NAME");
    app.add_option("--level-precision", level_precision_,
                   "of multigrid: full, or single, whose cycles read and write floats; without "
                   "it " +
                       usual_precision)
        ->transform(CLI::IsMember({"full", "single"}, CLI::ignore_case))
        ->type_name("NAME");
  }
  /// Whether it was given.
  explicit operator bool() const { return !name_.empty(); }
  /// Throws `Error` (usage) for a precision without multigrid.
  bool is_multigrid(bool usually) const {
    const bool is_it = name_.empty() ? usually : name_ == "multigrid";
    if (!is_it && !level_precision_.empty()) {
      throw Error(ErrorKind::usage, "--level-precision is of multigrid, and this takes jacobi");
    }
    return is_it;
  }
  StoredScalar level_precision(StoredScalar usual) const {
    return find_level_precision(level_precision_).value_or(usual);
  }

 private:
  std::string name_, level_precision_;
};

}  // namespace heddle::cli
