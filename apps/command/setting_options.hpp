// Settings of the library as options of a command.
#pragma once

#include <CLI/CLI.hpp>
#include <initializer_list>
#include <string>
#include <vector>

#include "heddle/runtime/settings.hpp"

namespace heddle::cli {

/// An option for each setting of the use but those that the command has already, in a group of its
/// help. What is given goes to `settings`, which must outlive the parsing.
void add_settings(CLI::App& command, SettingUse use, Settings& settings,
                  const std::string& group = "Options");
/// These of the use alone.
void add_settings(CLI::App& command, SettingUse use, std::initializer_list<const char*> names,
                  Settings& settings, const std::string& group = "Options");

/// The command that the words call, as far as they name one.
const CLI::App& command_of(const CLI::App& app, const std::vector<std::string>& words);

/// --settings FILE: options of the command in a JSON object. What the command line names itself
/// counts before them (`with_settings_of_file`).
void add_settings_file(CLI::App& command);
/// The words of the command line with those of the file that --settings names before it, but for
/// options that the command line has itself. Throws `Error` (usage) with the file in front.
std::vector<std::string> with_settings_of_file(const CLI::App& app, std::vector<std::string> words);

}  // namespace heddle::cli
