// Settings of the library as options of a command.
#pragma once

#include <CLI/CLI.hpp>
#include <initializer_list>
#include <string>
#include <vector>

#include "heddle/runtime/settings.hpp"

namespace heddle::cli {

/// Adds an option for each setting of the use, except those that the command already has, in a
/// group of its help. Given values go to `settings`, which must outlive the parsing.
void add_settings(CLI::App& command, SettingUse use, Settings& settings,
                  const std::string& group = "Options");
/// Adds only the settings of the use that `names` lists.
void add_settings(CLI::App& command, SettingUse use, std::initializer_list<const char*> names,
                  Settings& settings, const std::string& group = "Options");

/// The command that the words call, as far as they name one.
const CLI::App& command_of(const CLI::App& app, const std::vector<std::string>& words);

/// Adds --settings FILE: options of the command in a JSON object. Options that the command line
/// names itself take precedence (`with_settings_of_file`).
void add_settings_file(CLI::App& command);
/// The words of the command line, preceded by those of the file that --settings names, except for
/// options that the command line has itself. An `Error` (usage) that it throws begins with the
/// file.
std::vector<std::string> with_settings_of_file(const CLI::App& app, std::vector<std::string> words);

}  // namespace heddle::cli
