// `heddle-mpi`: commands that several processes of MPI run together.
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "heddle/mpi.hpp"
#include "run_program.hpp"
#include "setting_options.hpp"

namespace {

/// Leaves printing to rank 0: all ranks end with the same error, which it prints.
void silence(const heddle::Communicator& ranks) {
  if (ranks.rank() == 0) return;
  for (std::FILE* const stream : {stdout, stderr}) {
    if (std::freopen("/dev/null", "w", stream) == nullptr) return;
  }
}

/// Detects ranks with different command lines or files of settings, which would wait for one
/// another for ever. Collective. Returns the first rank that differs from rank 0, or 0.
int rank_of_another_line(heddle::Communicator& ranks, const CLI::App& app, int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  try {
    words = heddle::cli::with_settings_of_file(app, words);
  } catch (const heddle::Error& error) {
    words.emplace_back(error.what());
  }
  std::string line;
  for (const std::string& word : words) line += word + std::string(1, '\0');
  const auto hash = static_cast<long long>(std::hash<std::string>()(line));
  const std::vector<long long> hashes = heddle::gather(ranks, hash);
  for (std::size_t r = 1; r < hashes.size(); ++r) {
    if (hashes[r] != hashes[0]) return static_cast<int>(r);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  int level = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
  CLI::App app("Sparse linear systems whose rows several processes share; mpirun starts them.");
  app.require_subcommand(1);
  int status = 0;
  std::unique_ptr<heddle::Communicator> ranks;
  int other = 0;
  try {
    ranks = heddle::make_mpi_communicator(MPI_COMM_WORLD);
    heddle::cli::add_solve(app, status, ranks.get());
    heddle::cli::add_eigen(app, status, ranks.get());
    other = rank_of_another_line(*ranks, app, argc, argv);
  } catch (const heddle::Error& error) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) std::fprintf(stderr, "heddle-mpi: %s\n", error.what());
    MPI_Finalize();
    return heddle::cli::bad_input;
  }
  silence(*ranks);
  int end = heddle::cli::bad_input;
  if (other != 0) {
    std::fprintf(stderr, "heddle-mpi: ranks disagree about the command line: rank 0 and rank %d\n",
                 other);
  } else {
    end = heddle::cli::run_program("heddle-mpi", app, argc, argv, status);
  }
  std::fflush(nullptr);
  heddle::finalize_mpi(std::move(ranks), end);
  return end;
}
