// --help GROUP: the options that a command shows.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace heddle::cli {

/// The groups that the help of a command leaves out, in the order in which options named them.
std::vector<std::string> help_groups_of(const CLI::App& command);

/// The help of a command shows options of the groups "Options" and "Positionals"; options of any
/// other group appear in the help of that group alone. `words` are those of the command line: a
/// word that follows --help or -h is removed from them and names the group to show; "all" shows
/// every group. Throws `Error` (usage) for a group that the command does not have.
void use_help_groups(CLI::App& app, std::vector<std::string>& words);

}  // namespace heddle::cli
