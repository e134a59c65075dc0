#include "companion.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "heddle/error.hpp"
#include "run_program.hpp"

namespace heddle::cli {

void add_companion(CLI::App& app, const Companion& companion, char** argv) {
  CLI::App* command = app.add_subcommand(companion.name, companion.description);
  // Everything that follows is the companion's, --help too.
  command->set_help_flag();
  command->prefix_command();
  command->callback([companion, argv] {
    std::error_code ignored;
    const auto program = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path() /
                         (std::string("heddle-") + companion.name);
    execv(program.c_str(), argv);
    throw Error(ErrorKind::usage,
                "`heddle " + std::string(companion.name) + "` is the program " + program.string() +
                    ", which cannot be started: " + std::strerror(errno) +
                    " (the build's target is heddle_" + companion.name + "_program)");
  });
}

int run_companion(const Companion& companion, void (*add)(CLI::App& app, int& status), int argc,
                  char** argv) {
  std::vector<char*> words(argv, argv + argc);
  std::string name = companion.name;
  const std::string first = argc > 1 ? argv[1] : "";
  // The name follows --complete. The manual page is that of the program.
  const std::size_t at = first == "--complete" ? 2 : static_cast<std::size_t>(std::min(argc, 1));
  const bool is_named = words.size() > at && name == words[at];
  if (!is_named && first != "--manual") {
    words.insert(words.begin() + static_cast<std::ptrdiff_t>(at), name.data());
  }
  CLI::App app(companion.description, "heddle");
  app.require_subcommand(1);
  int status = 0;
  add(app, status);
  return run_program("heddle", app, static_cast<int>(words.size()), words.data(), status);
}

}  // namespace heddle::cli
