#include "completion.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <sstream>

#include "heddle/runtime/entry_kind.hpp"
#include "heddle/runtime/preconditioner_choice.hpp"
#include "help_groups.hpp"
#include "setting_options.hpp"
#include "tuning/planning/method_choice.hpp"

namespace heddle::cli {

namespace {

using Words = std::vector<std::string>;

Words method_names() {
  Words names = {"auto"};
  for (const MethodInfo& method : method_table()) names.emplace_back(method.name);
  for (const UnlistedMethod& method : {block_cg_method, lsmr_method}) {
    names.emplace_back(method.info.name);
  }
  return names;
}

/// Names of all preconditioners, or if `of_eigenpairs` of those that LOBPCG takes.
Words preconditioner_names(bool of_eigenpairs) {
  Words names;
  for (const PreconditionerInfo& info : preconditioner_table()) {
    if (of_eigenpairs && (!info.is_hermitian || info.varies)) continue;
    names.emplace_back(info.name);
  }
  return names;
}

/// The words of a placeholder such as full|single; none if one of its alternatives is a file.
Words words_of(const std::string& placeholder) {
  Words words;
  std::istringstream parts(placeholder.substr(0, placeholder.find(':')));  // a range may follow
  for (std::string part; std::getline(parts, part, '|');) {
    if (part == "FILE" || part == "DIR") return {};
    const bool is_word = std::none_of(part.begin(), part.end(), [](unsigned char c) {
      return std::isupper(c) != 0 || std::isspace(c) != 0;
    });
    if (is_word) words.push_back(part);
  }
  return words;
}

Words values_of(const CLI::App& command, const CLI::Option& option) {
  Words words = words_of(option.get_type_name());
  if (!words.empty()) return words;
  if (option.check_name("--solver")) return method_names();
  if (option.check_name("--preconditioner")) {
    return preconditioner_names(command.get_name() == "eigen");
  }
  if (option.check_name("--entry") || option.check_name("--to")) {
    return {entry_kind_names.begin(), entry_kind_names.end()};
  }
  if (option.check_name("--precision")) return {precision_names.begin(), precision_names.end()};
  if (option.check_name("--device")) return {"auto", "cpu", "cuda"};
  return {};
}

/// Everything that may follow `before`.
Words candidates(const CLI::App& command, const std::string& before, bool is_option) {
  if (before == "--help" || before == "-h") {
    Words groups = help_groups_of(command);
    if (!groups.empty()) groups.emplace_back("all");
    return groups;
  }
  const bool follows_option = before.starts_with('-') && before.find('=') == std::string::npos;
  const CLI::Option* const option = follows_option ? command.get_option_no_throw(before) : nullptr;
  if (option != nullptr && option->get_items_expected_max() > 0) return values_of(command, *option);
  return is_option ? options_of(command) : commands_of(command);
}

/// Joins --solver=cg, which bash passes as three words.
void join_at_equals(Words& words) {
  for (std::size_t k = 1; k < words.size(); ++k) {
    if (words[k] != "=" || !words[k - 1].starts_with("--")) continue;
    const bool is_last = k + 1 == words.size();
    words[k] = is_last ? "" : words[k + 1];
    if (!is_last) words.erase(words.begin() + static_cast<std::ptrdiff_t>(k) + 1);
  }
}

}  // namespace

std::vector<std::string> commands_of(const CLI::App& app) {
  Words names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  return names;
}

std::vector<std::string> options_of(const CLI::App& app) {
  Words names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::vector<std::string> completions(const CLI::App& app, std::vector<std::string> words) {
  join_at_equals(words);
  if (words.empty()) words.emplace_back();
  std::string begun = words.back();
  std::string before;  // the --solver= of --solver=c
  words.pop_back();
  if (const auto equals = begun.find('='); begun.starts_with("--") && equals != begun.npos) {
    words.push_back(begun.substr(0, equals));
    before = begun.substr(0, equals + 1);
    begun = begun.substr(equals + 1);
  }
  Words found =
      candidates(command_of(app, words), words.empty() ? "" : words.back(), begun.starts_with('-'));
  std::erase_if(found, [&](const std::string& word) { return !word.starts_with(begun); });
  for (std::string& word : found) word.insert(0, before);
  return found;
}

}  // namespace heddle::cli
