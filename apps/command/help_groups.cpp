#include "help_groups.hpp"

#include <algorithm>
#include <memory>

#include "base/text/names.hpp"
#include "heddle/error.hpp"
#include "heddle/tools/text.hpp"
#include "setting_options.hpp"

namespace heddle::cli {

namespace {

/// True for groups that the help of a command leaves out.
bool is_on_demand(const std::string& group) {
  for (const char* const name : {"system", "solver", "multigrid", "storage", "ranks", "output"}) {
    if (group == name) return true;
  }
  return false;
}

}  // namespace

std::vector<std::string> help_groups_of(const CLI::App& command) {
  std::vector<std::string> groups = command.get_groups();
  std::erase_if(groups, [](const std::string& group) { return !is_on_demand(group); });
  return groups;
}

namespace {

class GroupFormatter final : public CLI::Formatter {
 public:
  explicit GroupFormatter(std::string shown) : shown_(std::move(shown)) {}

  std::string make_group(std::string group, bool is_positional,
                         std::vector<const CLI::Option*> options) const override {
    const bool is_shown =
        shown_ == "all" || group == shown_ || (shown_.empty() && !is_on_demand(group));
    if (!is_shown && !is_positional) return "";
    if (is_on_demand(group)) group = "Options: " + group;
    return CLI::Formatter::make_group(std::move(group), is_positional, std::move(options));
  }
  /// A group that is not shown leaves an empty line.
  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override {
    std::string text;
    for (const char c : CLI::Formatter::make_help(app, std::move(name), mode)) {
      if (c != '\n' || !text.ends_with("\n\n")) text += c;
    }
    return text;
  }
  std::string make_footer(const CLI::App* app) const override {
    const std::vector<std::string> groups = help_groups_of(*app);
    if (groups.empty() || !shown_.empty()) return CLI::Formatter::make_footer(app);
    std::string more = "\nMore options: --help ";
    for (const std::string& group : groups) more += group + "|";
    return more + "all\n" + CLI::Formatter::make_footer(app);
  }

 private:
  std::string shown_;
};

void set_formatter(CLI::App& app, const std::shared_ptr<GroupFormatter>& formatter) {
  app.formatter(formatter);
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) {
    set_formatter(*command, formatter);
  }
}

bool has_group(const CLI::App& app, const std::string& group) {
  const std::vector<std::string> groups = help_groups_of(app);
  return std::find(groups.begin(), groups.end(), group) != groups.end();
}

}  // namespace

void use_help_groups(CLI::App& app, std::vector<std::string>& words) {
  std::string shown;
  const auto help = std::find_if(words.begin(), words.end(), [](const std::string& word) {
    return word == "--help" || word == "-h";
  });
  if (help != words.end() && help + 1 != words.end() && !(help + 1)->starts_with('-')) {
    const CLI::App& command = command_of(app, words);
    const std::string word = lower_case(*(help + 1));
    const bool is_file = word.find_first_of("./") != std::string::npos;
    if (!help_groups_of(command).empty() && !is_file) {
      shown = word;
      if (shown != "all" && !has_group(command, shown)) {
        std::string groups;
        for (const std::string& group : help_groups_of(command)) groups += " " + group;
        throw Error(ErrorKind::usage,
                    "--help " + io::in_quotes(*(help + 1)) + ": the groups are" + groups + " all");
      }
      words.erase(help + 1);
    }
  }
  set_formatter(app, std::make_shared<GroupFormatter>(shown));
}

}  // namespace heddle::cli
