// The subcommands of `heddle`. Each registers its options and, when chosen, runs and sets its exit
// status: 0 converged or done, 1 not converged. Errors are thrown; main turns them into 2 or 3.
#pragma once

#include <CLI/CLI.hpp>

namespace heddle {
class Communicator;
}

namespace heddle::cli {

/// Uses `ranks` if there are any: then every rank calls, and rank 0 reports.
void add_solve(CLI::App& app, int& status, Communicator* ranks = nullptr);
void add_eigen(CLI::App& app, int& status, Communicator* ranks = nullptr);
void add_spmv(CLI::App& app, int& status);
void add_info(CLI::App& app, int& status);
void add_add(CLI::App& app, int& status);
void add_multiply(CLI::App& app, int& status);
void add_convert(CLI::App& app, int& status);
void add_generate(CLI::App& app, int& status);
void add_tune(CLI::App& app, int& status);
void add_bench(CLI::App& app, int& status);
void add_cache(CLI::App& app, int& status);

}  // namespace heddle::cli
