// What the main function of every program does: exit statuses, signals, one line for an error.
#pragma once

#include <CLI/CLI.hpp>

namespace heddle::cli {

/// What stands in front of every message; `run_program` sets it.
inline const char* program_name = "heddle";

enum ExitStatus { bad_input = 2, no_resources = 3, interrupted = 130 };

/// Parses the command line, during which callbacks do the work and leave their `status`; turns what
/// they throw into one line on standard error. A program that is called without the command that
/// it needs shows its help, and ends with `bad_input`. SIGINT, SIGTERM and SIGHUP end the program
/// with `interrupted` and without half-written files, unless the parent ignores them. A pipe that
/// nobody reads and a limit on the size of files are errors, and so is a standard output that
/// cannot be written.
int run_program(const char* name, CLI::App& app, int argc, char** argv, int& status);

}  // namespace heddle::cli
