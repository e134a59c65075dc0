// The parts of main that all programs share: exit statuses, signals, one line for an error.
#pragma once

#include <CLI/CLI.hpp>

namespace heddle::cli {

/// The text in front of every message; `run_program` sets it.
inline const char* program_name = "heddle";

enum ExitStatus { bad_input = 2, no_resources = 3, interrupted = 130 };

/// Parses the command line, during which callbacks do the work and set `status`; turns what they
/// throw into one line on standard error. A program that is called without the command that it
/// needs shows its help, and ends with `bad_input`. SIGINT, SIGTERM and SIGHUP end the program with
/// `interrupted` and without half-written files, unless the parent ignores them. A pipe without a
/// reader, a limit on the size of files, and a standard output that cannot be written are errors.
int run_program(const char* name, CLI::App& app, int argc, char** argv, int& status);

}  // namespace heddle::cli
