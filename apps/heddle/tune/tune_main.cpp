#include "commands.hpp"
#include "options/companion.hpp"

int main(int argc, char** argv) {
  return heddle::cli::run_companion(heddle::cli::tune_companion, heddle::cli::add_tune, argc, argv);
}
