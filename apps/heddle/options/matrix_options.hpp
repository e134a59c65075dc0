// Options that all commands on a matrix share, and the objects made from them.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "device_option.hpp"
#include "heddle/runtime/any_solver.hpp"
#include "heddle/tools/progress.hpp"
#include "plan_text.hpp"
#include "readable.hpp"
#include "run_files.hpp"
#include "stopwatch.hpp"

namespace heddle::cli {

struct MatrixOptions {
  std::string path;
  std::string entry;  // empty: the numbers of the file
  std::string entry_definition;
  std::string precision = "double";
  DeviceOption processor;
  bool quiet = false;

  void add_to(CLI::App& command);
  /// Adds all options except the path, for a command that takes several.
  void add_settings_to(CLI::App& command);

  /// Adds the matrix and the definition, as far as they are named.
  void add_inputs(RunFiles& files) const;
  bool names_entry() const { return !entry.empty() || !entry_definition.empty(); }
  /// Reads the definition if there is one; real if no entry is named.
  AnyEntry chosen_entry() const;
  Precision scalar() const { return parse_precision(precision); }
  Device on() const { return processor.on(quiet); }
  AnyMatrix read(Progress* progress) const { return read(path, progress); }
  AnyMatrix read(const std::string& from, Progress* progress) const;
  /// Null if nothing is to be drawn.
  std::unique_ptr<TerminalProgress> progress() const;
};

/// Adds --plan to a command that takes one.
void add_plan_option(CLI::App& command, std::string& plan);

/// Throws `Error` (unsupported), which names the entry, for built-in entries without an adjoint.
void check_adjoint(const AnyMatrix& matrix);

/// Makes every component uniform in [-1, 1), a function of the seed alone.
void fill_random(AnyField& field, std::uint64_t seed);

}  // namespace heddle::cli
