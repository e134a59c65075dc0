// The `heddle` command line.
#include "commands.hpp"
#include "description/configuration.hpp"
#include "options/companion.hpp"
#include "run_program.hpp"

int main(int argc, char** argv) {
  CLI::App app(
      "Sparse linear systems whose entries are complex numbers, quaternions, dual "
      "quaternions or small dense blocks.");
  app.require_subcommand(1);
  app.add_flag_callback(
         "--configuration", [] { throw CLI::CallForVersion(heddle::detail::configuration(), 0); },
         "Print the library and this machine as JSON, for reports of errors, and exit")
      ->trigger_on_parse();
  int status = 0;
  heddle::cli::add_solve(app, status);
  heddle::cli::add_eigen(app, status);
  heddle::cli::add_spmv(app, status);
  heddle::cli::add_info(app, status);
  heddle::cli::add_add(app, status);
  heddle::cli::add_multiply(app, status);
  heddle::cli::add_convert(app, status);
  heddle::cli::add_generate(app, status);
  heddle::cli::add_companion(app, heddle::cli::tune_companion, argv);
  heddle::cli::add_companion(app, heddle::cli::bench_companion, argv);
  heddle::cli::add_cache(app, status);
  return heddle::cli::run_program("heddle", app, argc, argv, status);
}
