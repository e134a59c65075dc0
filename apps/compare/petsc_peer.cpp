#include <petscmat.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <memory>
#include <vector>

#include "peers.hpp"

namespace heddle::compare {

namespace {

enum class Command : int { product, build, leave };

void check(PetscErrorCode code) {
  if (code != 0) PetscCallAbort(PETSC_COMM_WORLD, code);
}

/// The BAIJ matrix, distributed over the ranks by rows, with its vectors.
struct Distributed {
  Mat a = nullptr;
  Vec x = nullptr;
  Vec y = nullptr;
};
Distributed system;

int rank() {
  int r = 0;
  MPI_Comm_rank(PETSC_COMM_WORLD, &r);
  return r;
}

/// Sent by rank 0; the others look for it a thousand times a second and sleep in between, then spin
/// for the product itself as PETSc does.
void announce(Command command) {
  int ranks = 1;
  MPI_Comm_size(PETSC_COMM_WORLD, &ranks);
  const int code = static_cast<int>(command);
  for (int to = 1; to < ranks; ++to) MPI_Send(&code, 1, MPI_INT, to, 0, PETSC_COMM_WORLD);
}
Command await() {
  int there = 0;
  while (there == 0) {
    MPI_Iprobe(0, 0, PETSC_COMM_WORLD, &there, MPI_STATUS_IGNORE);
    if (there == 0) usleep(50);
  }
  int code = 0;
  MPI_Recv(&code, 1, MPI_INT, 0, 0, PETSC_COMM_WORLD, MPI_STATUS_IGNORE);
  return static_cast<Command>(code);
}

void destroy() {
  MatDestroy(&system.a);
  VecDestroy(&system.x);
  VecDestroy(&system.y);
}

/// Rank 0 hands every rank its block rows: block offsets, block columns, values (row-major blocks).
void build(const CsrMatrix<real<double>>* expansion, int block) {
  destroy();
  long long size = expansion != nullptr ? expansion->rows() : 0;
  long long info[2] = {size, block};
  MPI_Bcast(info, 2, MPI_LONG_LONG, 0, PETSC_COMM_WORLD);
  size = info[0];
  block = static_cast<int>(info[1]);
  int ranks = 1;
  MPI_Comm_size(PETSC_COMM_WORLD, &ranks);
  const long long blocks = size / block;
  const auto first_of = [&](int r) { return blocks * r / ranks; };
  std::vector<PetscInt> offsets, columns;
  std::vector<PetscScalar> values;
  for (int to = ranks - 1; to >= 0; --to) {
    if (rank() != 0 && rank() != to) continue;
    if (rank() == 0) {
      offsets.assign(1, 0);
      columns.clear();
      values.clear();
      for (long long i = first_of(to); i < first_of(to + 1); ++i) {
        const auto& starts = expansion->offsets();
        const long long begin = starts[static_cast<std::size_t>(i * block)];
        const long long length = starts[static_cast<std::size_t>(i * block + 1)] - begin;
        for (long long j = 0; j < length; j += block) {
          columns.push_back(expansion->column()[static_cast<std::size_t>(begin + j)] / block);
          for (int r = 0; r < block; ++r) {
            for (int c = 0; c < block; ++c) {
              values.push_back(
                  expansion->values()[static_cast<std::size_t>(begin + r * length + j + c)]);
            }
          }
        }
        offsets.push_back(static_cast<PetscInt>(columns.size()));
      }
    }
    if (to == 0) break;
    long long counts[2] = {static_cast<long long>(offsets.size()),
                           static_cast<long long>(columns.size())};
    // Values go in pieces, since a count is an int.
    const auto pass = [&](void* data, long long bytes) {
      constexpr long long piece = 1 << 30;
      for (long long at = 0; at < bytes; at += piece) {
        const int part = static_cast<int>(std::min(piece, bytes - at));
        if (rank() == 0) {
          MPI_Send(static_cast<char*>(data) + at, part, MPI_BYTE, to, 1, PETSC_COMM_WORLD);
        } else {
          MPI_Recv(static_cast<char*>(data) + at, part, MPI_BYTE, 0, 1, PETSC_COMM_WORLD,
                   MPI_STATUS_IGNORE);
        }
      }
    };
    pass(counts, sizeof counts);
    offsets.resize(static_cast<std::size_t>(counts[0]));
    columns.resize(static_cast<std::size_t>(counts[1]));
    values.resize(columns.size() * static_cast<std::size_t>(block) *
                  static_cast<std::size_t>(block));
    pass(offsets.data(), static_cast<long long>(offsets.size() * sizeof(PetscInt)));
    pass(columns.data(), static_cast<long long>(columns.size() * sizeof(PetscInt)));
    pass(values.data(), static_cast<long long>(values.size() * sizeof(PetscScalar)));
    if (rank() == to) break;
  }
  const auto local = static_cast<PetscInt>((first_of(rank() + 1) - first_of(rank())) * block);
  check(MatCreate(PETSC_COMM_WORLD, &system.a));
  check(MatSetSizes(system.a, local, local, static_cast<PetscInt>(size),
                    static_cast<PetscInt>(size)));
  check(MatSetType(system.a, MATBAIJ));
  check(MatSeqBAIJSetPreallocationCSR(system.a, block, offsets.data(), columns.data(),
                                      values.data()));
  check(MatMPIBAIJSetPreallocationCSR(system.a, block, offsets.data(), columns.data(),
                                      values.data()));
  check(MatCreateVecs(system.a, &system.x, &system.y));
  PetscInt begin = 0, end = 0;
  check(VecGetOwnershipRange(system.x, &begin, &end));
  PetscScalar* x = nullptr;
  check(VecGetArray(system.x, &x));
  for (PetscInt i = begin; i < end; ++i) x[i - begin] = component_of_x(i);
  check(VecRestoreArray(system.x, &x));
}

void multiply() {
  check(MatMult(system.a, system.x, system.y));
  MPI_Barrier(PETSC_COMM_WORLD);
}

}  // namespace

bool petsc_start(char** name) {
  int one = 1;
  PetscInitialize(&one, &name, nullptr, nullptr);
  if (rank() == 0) return true;
  for (;;) {
    switch (await()) {
      case Command::build:
        build(nullptr, 0);
        break;
      case Command::product:
        multiply();
        break;
      case Command::leave:
        destroy();
        PetscFinalize();
        return false;
    }
  }
}

Peer petsc_peer(const CsrMatrix<real<double>>& expansion, int block) {
  int ranks = 1;
  MPI_Comm_size(PETSC_COMM_WORLD, &ranks);
  announce(Command::build);
  build(&expansion, block);
  return {"PETSc BAIJ " + std::to_string(block) + "x" + std::to_string(block) + ", " +
              std::to_string(ranks) + (ranks == 1 ? " rank" : " ranks"),
          [] {
            announce(Command::product);
            multiply();
          },
          [](const double* ours) {
            // Rank 0's rows are enough to know that it is the same product.
            const PetscScalar* y = nullptr;
            PetscInt local = 0;
            check(VecGetLocalSize(system.y, &local));
            check(VecGetArrayRead(system.y, &y));
            double difference = 0, size = 0;
            for (PetscInt i = 0; i < local; ++i) {
              difference += (y[i] - ours[i]) * (y[i] - ours[i]);
              size += ours[i] * ours[i];
            }
            check(VecRestoreArrayRead(system.y, &y));
            return std::sqrt(difference / size);
          }};
}

void petsc_finish() {
  announce(Command::leave);
  destroy();
  PetscFinalize();
}

}  // namespace heddle::compare
