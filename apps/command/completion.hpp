// --complete WORD...: what a shell offers for the last of the words.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace heddle::cli {

/// The names of all commands, and of all options: "--tolerance".
std::vector<std::string> commands_of(const CLI::App& app);
std::vector<std::string> options_of(const CLI::App& app);

/// Commands, options of all groups, and values that an option chooses from, as far as they begin
/// like the last of `words`, those of a command line after the program's name. None where a file
/// may stand.
std::vector<std::string> completions(const CLI::App& app, std::vector<std::string> words);

}  // namespace heddle::cli
