// Commands that are separate programs next to `heddle`, like git's: a build for solving alone needs
// neither. `heddle bench ...` becomes `heddle-bench bench ...`.
#pragma once

#include <CLI/CLI.hpp>
#include <array>

namespace heddle::cli {

struct Companion {
  const char* name;
  const char* description;
};

inline constexpr Companion tune_companion{
    "tune", "Find the best plan for a matrix, or a set of them, on this device"};
inline constexpr Companion bench_companion{
    "bench", "Compare products, solves and set-up with other libraries"};

/// Lists the command under `app`; when chosen, the process becomes the companion, with `argv`.
/// Throws `Error` (usage) if that program is missing.
void add_companion(CLI::App& app, const Companion& companion, char** argv);

/// The whole main function of a companion: `heddle-tune x.mtx` is `heddle tune x.mtx`.
int run_companion(const Companion& companion, void (*add)(CLI::App& app, int& status), int argc,
                  char** argv);

}  // namespace heddle::cli
