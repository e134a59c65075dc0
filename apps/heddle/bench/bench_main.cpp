#include "commands.hpp"
#include "options/companion.hpp"

int main(int argc, char** argv) {
  return heddle::cli::run_companion(heddle::cli::bench_companion, heddle::cli::add_bench, argc,
                                    argv);
}
