#include "setting_options.hpp"

#include <algorithm>
#include <sstream>
#include <string_view>
#include <vector>

#include "heddle/error.hpp"
#include "heddle/tools/text.hpp"
#include "settings/json_settings.hpp"

namespace heddle::cli {

namespace {

std::string option_of(std::string_view name) {
  std::string option = "--" + std::string(name);
  std::replace(option.begin(), option.end(), '_', '-');
  return option;
}

void add(CLI::App& command, const SettingRow& row, Settings& settings, const std::string& group) {
  const std::string option = option_of(row.name);
  if (row.of_programs || command.get_option_no_throw(option) != nullptr) return;
  std::string help(row.help);
  if (!row.by_default.empty()) help += " [" + std::string(row.by_default) + "]";
  const auto values = std::count(row.value_name.begin(), row.value_name.end(), ' ') + 1;
  command
      .add_option_function<std::vector<std::string>>(
          option,
          [&settings, option](const std::vector<std::string>& words) {
            std::string text;
            for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
            settings.set(option, text);
          },
          help)
      ->expected(static_cast<int>(values))
      ->allow_extra_args(false)  // otherwise it takes the words after it
      ->type_name(std::string(row.value_name))
      ->group(group);
}

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw Error(ErrorKind::usage, "--settings " + path + ": " + why);
}

/// True if one of the words is a name of the option.
bool names(const std::vector<std::string>& words, const CLI::Option& option) {
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    for (const std::string& name : option.get_lnames()) {
      if (word == "--" + name || word.starts_with("--" + name + "=")) return true;
    }
    for (const std::string& name : option.get_snames()) {
      if (word.starts_with("-" + name)) return true;
    }
    return false;
  });
}

bool asks_for_words(const std::vector<std::string>& words) {
  return std::any_of(words.begin(), words.end(), [](const std::string& word) {
    return word == "--help" || word == "-h" || word == "--version";
  });
}

/// Adds the words of the command line that stand for `name` and `value` of the file, unless `given`
/// names that option.
void add_words(const CLI::App& command, const std::string& path, const std::string& name,
               const std::string& value, const std::vector<std::string>& given,
               std::vector<std::string>& words) {
  const SettingRow* const row = find_setting(name);
  const std::string option = option_of(row != nullptr ? row->name : std::string_view(name));
  const CLI::Option* const known = command.get_option_no_throw(option);
  if (known == nullptr) {
    if (row == nullptr) refuse(path, "there is no option " + option + " of " + command.get_name());
    Settings().set(name, value);  // refuses an unknown one; a known one belongs to another command
    return;
  }
  if (names(given, *known)) return;
  if (known->get_items_expected_max() == 0) {
    if (value != "true" && value != "false") refuse(path, name + " must be true or false");
    if (value == "true") words.push_back(option);
  } else if (known->get_items_expected_max() == 1) {
    words.push_back(option + "=" + value);
  } else {
    words.push_back(option);
    std::istringstream parts(value);
    for (std::string part; parts >> part;) words.push_back(part);
  }
}

}  // namespace

const CLI::App& command_of(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App* command = &app;
  for (const std::string& word : words) {
    const auto found =
        command->get_subcommands([&](const CLI::App* other) { return other->check_name(word); });
    if (found.empty()) break;
    command = found.front();
  }
  return *command;
}

void add_settings(CLI::App& command, SettingUse use, Settings& settings, const std::string& group) {
  for (const SettingRow& row : settings_table()) {
    if (row.use == use) add(command, row, settings, group);
  }
}

void add_settings(CLI::App& command, SettingUse use, std::initializer_list<const char*> names,
                  Settings& settings, const std::string& group) {
  for (const char* const name : names) {
    for (const SettingRow& row : settings_table()) {
      if (row.use == use && row.name == name) add(command, row, settings, group);
    }
  }
}

void add_settings_file(CLI::App& command) {
  command
      .add_option_function<std::string>(
          "--settings", [](const std::string&) {},
          "options in a JSON object, {\"tolerance\": 1e-8, \"max-iterations\": 500}; those on the "
          "command line take precedence")
      ->type_name("FILE");
}

std::vector<std::string> with_settings_of_file(const CLI::App& app,
                                               std::vector<std::string> words) {
  const CLI::App& command = command_of(app, words);
  const auto at = std::find_if(words.begin(), words.end(), [](const std::string& word) {
    return word == "--settings" || word.starts_with("--settings=");
  });
  const bool has_file = command.get_option_no_throw("--settings") != nullptr;
  if (at == words.end() || !has_file || asks_for_words(words)) return words;
  const std::size_t equals = at->find('=');
  const auto value = equals == std::string::npos ? at + 1 : at;
  if (value == words.end()) return words;  // CLI11 refuses it
  const std::string path = value == at ? at->substr(equals + 1) : *value;
  if (path.empty()) return words;
  std::vector<std::string> of_file;
  try {
    for (const auto& [name, text] : detail::settings_in_json(io::read_file(path))) {
      add_words(command, path, name, text, words, of_file);
    }
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::usage || std::string(error.what()).starts_with("--settings"))
      throw;
    refuse(path, error.what());
  }
  words.insert(at, of_file.begin(), of_file.end());
  return words;
}

}  // namespace heddle::cli
