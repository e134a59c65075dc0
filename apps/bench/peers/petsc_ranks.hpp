// The ranks of `heddle_petsc_peer`: rank 0 announces what all do next; the others sleep until then.
// A rank that polled between short sleeps made the measured work next to it take 1.4 times as long.
#pragma once

#include <petscsys.h>
#include <semaphore.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace heddle::bench {

[[noreturn]] inline void fail(const std::string& message) {
  std::fprintf(stderr, "heddle_petsc_peer: %s\n", message.c_str());
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

inline int my_rank() {
  int rank = 0;
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  return rank;
}
inline int rank_count() {
  int ranks = 1;
  MPI_Comm_size(PETSC_COMM_WORLD, &ranks);
  return ranks;
}

enum class What : int { product, solve, result, leave };

/// Command from rank 0 to the others.
struct Command {
  What what = What::leave;
  char type[16] = {};  // type of the KSP
  bool jacobi = false;
  double tolerance = 0;
  long long max_iterations = 0;
};

/// Created and destroyed by all ranks together, which share a host.
class Commands {
 public:
  Commands() {
    Shared* mine = nullptr;
    MPI_Win_allocate_shared(sizeof(Shared), 1, MPI_INFO_NULL, PETSC_COMM_WORLD,
                            static_cast<void*>(&mine), &window_);
    if (sem_init(&mine->announced, 1, 0) != 0) fail("cannot create the semaphore of a rank");
    MPI_Barrier(PETSC_COMM_WORLD);
  }
  Commands(const Commands&) = delete;
  Commands& operator=(const Commands&) = delete;
  ~Commands() { MPI_Win_free(&window_); }

  /// Called by rank 0.
  void announce(const Command& command) {
    for (int to = 1; to < rank_count(); ++to) {
      shared(to).command = command;
      sem_post(&shared(to).announced);
    }
  }
  /// Called by every other rank.
  Command await() {
    Shared& mine = shared(my_rank());
    while (sem_wait(&mine.announced) != 0) {
      if (errno != EINTR) fail("cannot wait for rank 0");
    }
    return mine.command;
  }

 private:
  struct Shared {
    sem_t announced;
    Command command;
  };

  Shared& shared(int rank) {
    MPI_Aint size = 0;
    int unit = 1;
    Shared* of_rank = nullptr;
    MPI_Win_shared_query(window_, rank, &size, &unit, static_cast<void*>(&of_rank));
    return *of_rank;
  }

  MPI_Win window_ = MPI_WIN_NULL;
};

}  // namespace heddle::bench
