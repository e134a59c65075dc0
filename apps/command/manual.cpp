#include "manual.hpp"

#include <sstream>

#include "heddle/version.hpp"

namespace heddle::cli {

namespace {

/// Literal text: roff gives a meaning to backslashes, hyphens and some characters at the start of a
/// line.
std::string escaped(const std::string& text) {
  std::string out;
  bool begins_line = true;
  for (const char c : text) {
    if (begins_line && c == '.') out += "\\&";
    switch (c) {  // a typesetter replaces other characters
      case '\\':
        out += "\\e";
        break;
      case '-':
        out += "\\-";
        break;
      case '\'':
        out += "\\(aq";
        break;
      case '`':
        out += "\\(ga";
        break;
      case '^':
        out += "\\(ha";
        break;
      case '~':
        out += "\\(ti";
        break;
      default:
        out += c;
    }
    begins_line = c == '\n';
  }
  return out;
}

std::string text_of_default(const CLI::Option& option) {
  const std::string text = option.get_default_str();
  return text.empty() ? "" : " [" + text + "]";
}

void add_option(std::ostream& page, const CLI::Option& option) {
  const std::string name =
      option.nonpositional() ? option.get_name(false, true) : option.get_name(true);
  page << ".TP\n\\fB" << escaped(name) << "\\fR";
  if (option.get_items_expected_max() > 0 && option.nonpositional()) {
    page << " \\fI" << escaped(option.get_type_name()) << "\\fR";
  }
  page << "\n" << escaped(option.get_description() + text_of_default(option)) << "\n";
}

/// Lines of an example or of exit statuses, unchanged.
void add_footer(std::ostream& page, const CLI::App& command) {
  std::istringstream lines(command.get_footer());
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty()) page << ".PP\n" << escaped(line) << "\n";
  }
}

void add_command(std::ostream& page, const CLI::App& command, const std::string& name) {
  page << ".SH " << escaped(name) << "\n" << escaped(command.get_description()) << "\n";
  if (command.get_prefix_command()) {
    return void(page << ".PP\nSee heddle\\-" << command.get_name() << "(1).\n");
  }
  for (const std::string& group : command.get_groups()) {
    const auto options = command.get_options(
        [&](const CLI::Option* option) { return option->get_group() == group; });
    if (options.empty() || group.empty()) continue;
    if (group != "Options" && group != "OPTIONS" && group != "Positionals") {
      page << ".SS " << escaped(group) << "\n";
    }
    for (const CLI::Option* option : options) add_option(page, *option);
  }
  add_footer(page, command);
  for (const CLI::App* other : command.get_subcommands([](const CLI::App*) { return true; })) {
    add_command(page, *other, name + " " + other->get_name());
  }
}

}  // namespace

std::string manual_of(const CLI::App& app, const std::string& program) {
  const auto commands = app.get_subcommands([](const CLI::App*) { return true; });
  // heddle-tune is heddle tune.
  const bool is_command =
      commands.size() == 1 && program.ends_with("-" + commands.front()->get_name());
  std::ostringstream page;
  page << ".TH " << program << " 1 \"\" \"heddle " << version << "\"\n.SH NAME\n"
       << program << " \\- " << escaped(app.get_description()) << "\n.SH SYNOPSIS\n\\fB" << program
       << "\\fR" << (commands.empty() || is_command ? "" : " \\fICOMMAND\\fR")
       << " [\\fIOPTIONS\\fR]\n";
  add_command(page, is_command ? *commands.front() : app, program);
  return page.str();
}

}  // namespace heddle::cli
