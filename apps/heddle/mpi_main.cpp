// `heddle-mpi`: what several processes of MPI do together.
#include <cstdio>
#include <memory>
#include <utility>

#include "commands.hpp"
#include "heddle/mpi.hpp"
#include "run_program.hpp"

namespace {

/// Only rank 0 speaks: all end with the same error, which it prints.
void silence(const heddle::Communicator& ranks) {
  if (ranks.rank() == 0) return;
  for (std::FILE* const stream : {stdout, stderr}) {
    if (std::freopen("/dev/null", "w", stream) == nullptr) return;
  }
}

}  // namespace

int main(int argc, char** argv) {
  int level = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
  CLI::App app("Sparse linear systems whose rows several processes share; mpirun starts them.");
  app.require_subcommand(1);
  int status = 0;
  std::unique_ptr<heddle::Communicator> ranks;
  try {
    ranks = heddle::make_mpi_communicator(MPI_COMM_WORLD);
  } catch (const heddle::Error& error) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) std::fprintf(stderr, "heddle-mpi: %s\n", error.what());
    MPI_Finalize();
    return heddle::cli::bad_input;
  }
  silence(*ranks);
  heddle::cli::add_solve(app, status, ranks.get());
  const int end = heddle::cli::run_program("heddle-mpi", app, argc, argv, status);
  std::fflush(nullptr);
  heddle::finalize_mpi(std::move(ranks), end);
  return end;
}
