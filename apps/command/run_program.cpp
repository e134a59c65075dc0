#include "run_program.hpp"

#include <unistd.h>

#include <csignal>
#include <exception>
#include <iostream>
#include <new>
#include <string>

#include "heddle/error.hpp"
#include "heddle/output_file.hpp"
#include "heddle/version.hpp"

namespace heddle::cli {

namespace {

/// Ctrl-C leaves no half-written file.
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

int fail(int status, const char* what) {
  std::cerr << program_name << ": " << what << "\n";
  return status;
}

}  // namespace

int run_program(const char* name, CLI::App& app, int argc, char** argv, int& status) {
  program_name = name;
  // What a parent ignores (nohup, jobs in the background of a script) stays ignored.
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    if (std::signal(signal, interrupt) == SIG_IGN) std::signal(signal, SIG_IGN);
  }
  app.set_version_flag("--version", std::string(name) + " " + version);
  app.failure_message([](const CLI::App*, const CLI::Error& error) {
    return std::string(program_name) + ": " + error.what() + " (--help shows what there is)\n";
  });
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : bad_input;
  } catch (const Error& error) {
    return fail(status_of(error.kind()), error.what());
  } catch (const std::bad_alloc&) {
    return fail(no_resources, "out of memory");
  } catch (const std::exception& error) {
    return fail(no_resources, error.what());
  }
  std::cout.flush();
  if (!std::cout) return fail(no_resources, "standard output cannot be written");
  return status;
}

}  // namespace heddle::cli
