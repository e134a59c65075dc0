// --preconditioner of the simulations.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace heddle::cli {

class PreconditionerOption {
 public:
  /// `of` says what solves it is of, and what holds without it.
  void add_to(CLI::App& app, const std::string& of) {
    app.add_option("--preconditioner", name_, "jacobi or multigrid, " + of)
        ->check(CLI::IsMember({"jacobi", "multigrid"}))
        ->type_name("NAME");
  }
  /// Whether it was given.
  explicit operator bool() const { return !name_.empty(); }
  bool is_multigrid(bool usually) const { return name_.empty() ? usually : name_ == "multigrid"; }

 private:
  std::string name_;
};

}  // namespace heddle::cli
