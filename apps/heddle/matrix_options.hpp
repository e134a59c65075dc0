// Options that every command on a matrix shares, and what they make.
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
  std::string entry;  // none: the file's numbers
  std::string entry_definition;
  std::string precision = "double";
  DeviceOption processor;
  bool quiet = false;

  void add_to(CLI::App& command);
  /// All but the path, where a command takes several.
  void add_settings_to(CLI::App& command);

  /// The matrix and the definition, as far as they are named.
  void add_inputs(RunFiles& files) const;
  bool names_entry() const { return !entry.empty() || !entry_definition.empty(); }
  /// Reads the definition where there is one; real where none is named.
  AnyEntry chosen_entry() const;
  Precision scalar() const { return parse_precision(precision); }
  Device on() const { return processor.on(quiet); }
  AnyMatrix read(Progress* progress) const { return read(path, progress); }
  AnyMatrix read(const std::string& from, Progress* progress) const;
  /// Null where nothing is to be drawn.
  std::unique_ptr<TerminalProgress> progress() const;
};

/// --plan of a command that takes one.
void add_plan_option(CLI::App& command, std::string& plan);

/// Throws `Error` (unsupported), which names the entry, for built-in ones without an adjoint.
void check_adjoint(const AnyMatrix& matrix);

/// Every component uniform in [-1, 1), a function of the seed alone.
void fill_random(AnyField& field, std::uint64_t seed);

}  // namespace heddle::cli
