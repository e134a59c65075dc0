// The `heddle` command line.
#include <unistd.h>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <new>
#include <string>

#include "commands.hpp"
#include "heddle/error.hpp"
#include "heddle/output_file.hpp"
#include "heddle/version.hpp"

namespace {

enum ExitStatus { bad_input = 2, no_resources = 3, interrupted = 130 };

/// Ctrl-C leaves no half-written file.
extern "C" void interrupt(int) {
  heddle::remove_unfinished_files();
  _exit(interrupted);
}

int status_of(heddle::ErrorKind kind) {
  switch (kind) {
    case heddle::ErrorKind::memory:
    case heddle::ErrorKind::internal:
      return no_resources;
    default:
      return bad_input;
  }
}

int fail(int status, const char* what) {
  std::cerr << "heddle: " << what << "\n";
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  // What a parent ignores (nohup, jobs in the background of a script) stays ignored.
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    if (std::signal(signal, interrupt) == SIG_IGN) std::signal(signal, SIG_IGN);
  }
  CLI::App app(
      "Sparse linear systems whose entries are complex numbers, quaternions, dual "
      "quaternions or small dense blocks.");
  app.set_version_flag("--version", std::string("heddle ") + heddle::version);
  app.require_subcommand(1);
  app.failure_message([](const CLI::App*, const CLI::Error& error) {
    return std::string("heddle: ") + error.what() + " (--help shows what there is)\n";
  });
  int status = 0;
  heddle::cli::add_solve(app, status);
  heddle::cli::add_spmv(app, status);
  heddle::cli::add_info(app, status);
  heddle::cli::add_generate(app, status);
  heddle::cli::add_tune(app, status);
  heddle::cli::add_bench(app, status);
  heddle::cli::add_cache(app, status);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : bad_input;
  } catch (const heddle::Error& error) {
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
