#include "run_program.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <iostream>
#include <new>
#include <string>
#include <vector>

#include "base/text/names.hpp"
#include "completion.hpp"
#include "heddle/error.hpp"
#include "heddle/tools/output_file.hpp"
#include "heddle/version.hpp"
#include "help_groups.hpp"
#include "manual.hpp"
#include "message.hpp"
#include "setting_options.hpp"

namespace heddle::cli {

namespace {

/// Leaves no half-written file after Ctrl-C.
extern "C" void interrupt(int) {
  remove_unfinished_files();
  _exit(interrupted);
}

int status_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::memory:
    case ErrorKind::internal:
      return no_resources;
    default:
      return bad_input;
  }
}

int fail(int status, const std::string& what) {
  say(what);
  return status;
}

/// Keeps a file from taking a number to which messages are written.
void open_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) >= 0 || errno != EBADF) continue;
    // Opened in the wrong direction, so that using it still is an error. It gets the lowest free
    // number.
    [[maybe_unused]] const int opened =
        open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

void set_signals() {
  // Signals that a parent ignores (nohup, background jobs of a script) stay ignored.
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    if (std::signal(signal, interrupt) == SIG_IGN) std::signal(signal, SIG_IGN);
  }
  // Writing then fails instead, and a half-written file is removed.
  for (const int signal : {SIGPIPE, SIGXFSZ}) std::signal(signal, SIG_IGN);
}

/// Refuses empty values: one comes from a shell variable that is not set, and is neither the
/// default nor the name of a file.
void refuse_empty_values(CLI::App& app) {
  const CLI::Validator not_empty(
      [](const std::string& value) {
        return value.empty() ? std::string("the value is empty") : "";
      },
      "");
  for (CLI::Option* option : app.get_options()) {
    if (option->get_items_expected_max() > 0) option->check(not_empty);
  }
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) {
    refuse_empty_values(*command);
  }
}

/// The innermost command that the words of the command line name.
const CLI::App& innermost(const CLI::App& app) {
  const CLI::App* command = &app;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
  return *command;
}

/// Says that there is no such word, and which one is meant, if that is clear.
std::string unknown(const std::string& word, const char* what,
                    const std::vector<std::string>& names) {
  const std::string meant = nearest_name(word.substr(0, word.find('=')), names);
  return "'" + word + "' is no " + what + (meant.empty() ? "" : "; did you mean " + meant + "?");
}

std::vector<std::string> words_left(const CLI::App& app) {
  std::vector<std::string> left = app.remaining(true);
  std::erase(left, "--");
  return left;
}

/// True if a program, or a command that has commands, was called without a further word.
bool is_bare(const CLI::ParseError& error, const CLI::App& app) {
  return dynamic_cast<const CLI::RequiredError*>(&error) != nullptr && words_left(app).empty() &&
         !commands_of(innermost(app)).empty();
}

/// The error's message, which names the unknown word if there is one.
std::string message_of(const CLI::ParseError& error, const CLI::App& app) {
  const CLI::App& command = innermost(app);
  const std::vector<std::string> commands = commands_of(command);
  const std::vector<std::string> left = words_left(app);
  const bool is_about_words = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr ||
                              dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;
  const auto option = std::find_if(left.begin(), left.end(),
                                   [](const std::string& word) { return word.starts_with('-'); });
  std::string message = error.what();
  if (is_about_words && !left.empty()) {
    if (!commands.empty() && option != left.begin()) {
      message = unknown(left.front(), "command", commands);
    } else if (option != left.end()) {
      message = unknown(*option, "option", options_of(command));
    } else {
      message = "'" + left.front() + "' is one argument too many";
    }
  }
  return message + " (see --help)";
}

/// `--complete WORD...`: prints a line for each possible last word. A command that is a program of
/// its own, marked by its `prefix_command`, answers itself.
int complete(CLI::App& app, const std::vector<std::string>& words) {
  const std::vector<std::string> before(words.begin(), words.end() - (words.empty() ? 0 : 1));
  const CLI::App& command = command_of(app, before);
  try {
    if (command.get_prefix_command()) app.parse(std::vector<std::string>{command.get_name()});
  } catch (const std::exception&) {
    return 0;  // a shell has no use for a message here
  }
  for (const std::string& word : completions(app, words)) std::cout << word << "\n";
  return 0;
}

/// Checks that everything printed has been written.
int finish(int status) {
  std::cout.flush();
  const bool is_written = std::cout.good() && std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  return is_written ? status : fail(no_resources, "standard output cannot be written");
}

}  // namespace

int run_program(const char* name, CLI::App& app, int argc, char** argv, int& status) {
  program_name = name;
  open_standard_streams();
  set_signals();
  app.set_version_flag("--version", std::string(name) + " " + version);
  refuse_empty_values(app);
  try {
    std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
    if (!words.empty() && words.front() == "--complete") {
      words.erase(words.begin());
      return finish(complete(app, words));
    }
    if (words == std::vector<std::string>{"--manual"}) {
      std::cout << manual_of(app, std::filesystem::path(argv[0]).filename().string());
      return finish(0);
    }
    use_help_groups(app, words);
    words = with_settings_of_file(app, std::move(words));
    std::reverse(words.begin(), words.end());  // CLI11 takes them reversed
    if (app.get_name().empty() && argc > 0) app.name(argv[0]);
    app.parse(std::move(words));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return finish(app.exit(error));
    if (is_bare(error, app)) {
      std::cout << app.help();
      return finish(bad_input);
    }
    return fail(bad_input, message_of(error, app));
  } catch (const WriteFailed& error) {
    return fail(no_resources, error.what());
  } catch (const Error& error) {
    return fail(status_of(error.kind()), error.what());
  } catch (const std::bad_alloc&) {
    return fail(no_resources, "out of memory");
  } catch (const std::exception& error) {
    return fail(no_resources, error.what());
  }
  return finish(status);
}

}  // namespace heddle::cli
