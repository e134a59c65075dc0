// --complete WORD...: the completions that a shell offers for the last word.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace heddle::cli {

/// The names of all commands, and of all options: "--tolerance".
std::vector<std::string> commands_of(const CLI::App& app);
std::vector<std::string> options_of(const CLI::App& app);

/// Commands, options of all groups, and values of an option with a fixed choice that begin like the
/// last of `words`, which are those of a command line after the program's name. None where a file
/// may stand.
std::vector<std::string> completions(const CLI::App& app, std::vector<std::string> words);

}  // namespace heddle::cli
