// Options that every command on a matrix shares, and what they make.
#pragma once

#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>
#include <string>

#include "heddle/any_solver.hpp"
#include "heddle/progress.hpp"
#include "plan_text.hpp"

namespace heddle::cli {

struct MatrixOptions {
  std::string path;
  std::string entry = "real";
  std::string entry_definition;
  std::string precision = "double";
  std::string device = "cpu";
  int threads = 0;
  bool quiet = false;

  void add_to(CLI::App& command);
  /// All but the path, where a command takes several.
  void add_settings_to(CLI::App& command);

  /// Reads the definition where there is one.
  AnyEntry chosen_entry() const;
  Precision scalar() const { return parse_precision(precision); }
  Device on() const;
  AnyMatrix read(Progress* progress) const { return read(path, progress); }
  AnyMatrix read(const std::string& from, Progress* progress) const;
  /// Null where nothing is to be drawn.
  std::unique_ptr<TerminalProgress> progress() const;
};

/// Seconds since it was made.
class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Every component uniform in [-1, 1), a function of the seed alone.
void fill_random(AnyField& field, std::uint64_t seed);

// For people: 1234567 -> "1 234 567", bytes in binary units, seconds in a fitting unit.
std::string readable_count(long long count);
std::string readable_bytes(double bytes);
std::string readable_seconds(double seconds);
/// Of work that is left, about: "90 s", "3 min".
std::string readable_minutes(double seconds);

}  // namespace heddle::cli
