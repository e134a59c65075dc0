#include "setting_options.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "base/names.hpp"
#include "heddle/error.hpp"
#include "heddle/tools/text.hpp"

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
      ->type_name(std::string(row.value_name))
      ->group(group);
}

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw Error(ErrorKind::usage, "--settings " + path + ": " + why);
}

bool names(const std::vector<std::string>& words, const std::string& option) {
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    return word == option || word.starts_with(option + "=");
  });
}

/// The command that the words call, as far as they name one.
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

std::string text_of(const std::string& path, const std::string& name, const nlohmann::json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number() || value.is_boolean()) return value.dump();
  refuse(path, name + " is a number, a text, true, false, or an array of numbers");
}

/// Adds the words that `name` and `value` of the file are on the command line.
void add_words(const CLI::App& command, const std::string& path, const std::string& name,
               const nlohmann::json& value, std::vector<std::string>& words) {
  const SettingRow* const row = find_setting(name);
  const std::string option = option_of(row != nullptr ? row->name : std::string_view(name));
  const CLI::Option* const known = command.get_option_no_throw(option);
  if (known == nullptr) {
    if (row != nullptr) return;  // of another command
    refuse(path, "there is no option " + option + " of " + command.get_name());
  }
  if (names(words, option)) return;
  if (value.is_array()) {
    words.push_back(option);
    for (const auto& part : value) words.push_back(text_of(path, name, part));
  } else if (known->get_items_expected_max() == 0) {
    if (!value.is_boolean()) refuse(path, name + " is true or false");
    if (value.get<bool>()) words.push_back(option);
  } else {
    words.push_back(option + "=" + text_of(path, name, value));
  }
}

}  // namespace

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
          "options in a JSON object, {\"tolerance\": 1e-8, \"max-iterations\": 500}; those of the "
          "command line count before them")
      ->type_name("FILE");
}

std::vector<std::string> with_settings_of_file(const CLI::App& app,
                                               std::vector<std::string> words) {
  const CLI::App& command = command_of(app, words);
  const auto at = std::find_if(words.begin(), words.end(), [](const std::string& word) {
    return word == "--settings" || word.starts_with("--settings=");
  });
  if (at == words.end() || command.get_option_no_throw("--settings") == nullptr) return words;
  const std::size_t equals = at->find('=');
  if (equals == std::string::npos && at + 1 == words.end()) return words;  // CLI11 refuses it
  const std::string path = equals == std::string::npos ? *(at + 1) : at->substr(equals + 1);
  const auto object = nlohmann::json::parse(io::read_file(path), nullptr, false);
  if (!object.is_object()) refuse(path, "settings are one JSON object of names and values");
  for (const auto& [name, value] : object.items()) add_words(command, path, name, value, words);
  return words;
}

}  // namespace heddle::cli
