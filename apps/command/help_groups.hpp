// --help GROUP: what a command shows of its options.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace heddle::cli {

/// The groups that the help of a command leaves out, in the order in which options named them.
std::vector<std::string> help_groups_of(const CLI::App& command);

/// Options of the groups "Options" and "Positionals" stand in the help of a command, the others in
/// that of their group alone. `words` are those of the command line: a word that follows --help or
/// -h is taken out of them, and is the group that the help is to show; "all" shows all of them.
/// Throws `Error` (usage) for a group that the command does not have.
void use_help_groups(CLI::App& app, std::vector<std::string>& words);

}  // namespace heddle::cli
