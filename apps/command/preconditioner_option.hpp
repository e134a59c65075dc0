// --preconditioner and --level-precision of the simulations.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <utility>
#include <vector>

#include "heddle/error.hpp"
#include "heddle/runtime/preconditioner_choice.hpp"

namespace heddle::cli {

class PreconditionerOption {
 public:
  /// `of` names the solves that it applies to and what holds without the option; `usual_precision`
  /// is what holds without a precision.
  void add_to(CLI::App& app, const std::string& of, const std::string& usual_precision) {
    app.add_option("--preconditioner", name_, "jacobi or multigrid, " + of)
        ->transform(one_of({"jacobi", "multigrid"}))
        ->type_name("jacobi|multigrid");
    app.add_option("--level-precision", level_precision_,
                   "precision of multigrid levels: full, or single, whose cycles read and write "
                   "floats; default: " +
                       usual_precision)
        ->transform(one_of({"full", "single"}))
        ->type_name("full|single");
  }
  /// True if the option was given.
  explicit operator bool() const { return !name_.empty(); }
  /// Throws `Error` (usage) for a precision without multigrid.
  bool is_multigrid(bool usually) const {
    const bool is_it = name_.empty() ? usually : name_ == "multigrid";
    if (!is_it && !level_precision_.empty()) {
      throw Error(ErrorKind::usage, "--level-precision is for multigrid, and this uses jacobi");
    }
    return is_it;
  }
  StoredScalar level_precision(StoredScalar usual) const {
    return find_level_precision(level_precision_).value_or(usual);
  }

 private:
  /// Accepts any letter case; the placeholder lists the names.
  static CLI::Validator one_of(std::vector<std::string> names) {
    return CLI::Validator(CLI::IsMember(std::move(names), CLI::ignore_case)).description("");
  }

  std::string name_, level_precision_;
};

}  // namespace heddle::cli
