// `heddle_petsc_peer`: PETSc's products and solves on the ranks of mpirun, for `heddle bench`
// (petsc_protocol.hpp). Rank 0 reads the commands; the others sleep until it announces one.
#include <fcntl.h>
#include <malloc.h>
#include <petscksp.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <numeric>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "petsc_protocol.hpp"
#include "petsc_ranks.hpp"

namespace heddle::bench {

namespace {

void check(PetscErrorCode code) {
  if (code != 0) PetscCallAbort(PETSC_COMM_WORLD, code);
}

class InputFile {
 public:
  explicit InputFile(const char* path) : path_(path), file_(open(path, O_RDONLY)) {
    if (file_ < 0) fail("cannot open " + path_);
  }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  ~InputFile() { close(file_); }

  template <class T>
  std::vector<T> read_at(std::int64_t at, std::int64_t count) const {
    std::vector<T> values(static_cast<std::size_t>(count));
    auto* to = reinterpret_cast<char*>(values.data());
    std::size_t left = values.size() * sizeof(T);
    while (left > 0) {
      const ssize_t got = pread(file_, to, left, at);
      if (got <= 0) fail(path_ + " ends too early");
      to += got;
      at += got;
      left -= static_cast<std::size_t>(got);
    }
    return values;
  }

 private:
  std::string path_;
  int file_;
};

/// This rank's rows of blocks, with ascending columns.
struct LocalBlocks {
  int size = 1;
  std::int64_t rows_of_all = 0;
  std::int64_t first_row = 0;
  std::vector<PetscInt> offsets, columns;
  std::vector<PetscScalar> values;
  std::vector<double> x;

  std::int64_t rows() const { return static_cast<std::int64_t>(offsets.size()) - 1; }
};

LocalBlocks read_blocks(const char* path) {
  const InputFile file(path);
  const PetscFileHeader header = file.read_at<PetscFileHeader>(0, 1)[0];
  const std::int64_t first = header.block_rows * my_rank() / rank_count();
  const std::int64_t last = header.block_rows * (my_rank() + 1) / rank_count();
  const auto offsets =
      file.read_at<std::int64_t>(header.offsets_at() + 8 * first, last - first + 1);
  const std::int64_t begin = offsets.front(), count = offsets.back() - begin;
  const std::int64_t numbers = header.block_size * header.block_size;
  if (count * numbers > PETSC_MAX_INT || header.block_rows * header.block_size > PETSC_MAX_INT) {
    fail("the matrix has more numbers than this PETSc's integers can count");
  }
  const auto columns = file.read_at<std::int32_t>(header.columns_at() + 4 * begin, count);
  const auto values =
      file.read_at<double>(header.values_at() + 8 * begin * numbers, count * numbers);
  LocalBlocks local;
  local.size = static_cast<int>(header.block_size);
  local.rows_of_all = header.block_rows;
  local.first_row = first;
  local.x = file.read_at<double>(header.x_at() + 8 * first * header.block_size,
                                 (last - first) * header.block_size);
  local.offsets.reserve(offsets.size());
  local.columns.reserve(columns.size());
  local.values.reserve(values.size());
  std::vector<std::size_t> order;
  for (std::int64_t row = first; row < last; ++row) {
    const auto at =
        static_cast<std::size_t>(offsets[static_cast<std::size_t>(row - first)] - begin);
    const auto end =
        static_cast<std::size_t>(offsets[static_cast<std::size_t>(row - first) + 1] - begin);
    order.resize(end - at);
    std::iota(order.begin(), order.end(), at);
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return columns[a] < columns[b]; });
    local.offsets.push_back(static_cast<PetscInt>(local.columns.size()));
    for (const std::size_t k : order) {
      local.columns.push_back(columns[k]);
      const auto from = values.begin() + static_cast<std::ptrdiff_t>(k) * numbers;
      local.values.insert(local.values.end(), from, from + numbers);
    }
  }
  local.offsets.push_back(static_cast<PetscInt>(local.columns.size()));
  return local;
}

Mat new_matrix(const LocalBlocks& blocks, MatType type) {
  const auto local = static_cast<PetscInt>(blocks.rows() * blocks.size);
  const auto all = static_cast<PetscInt>(blocks.rows_of_all * blocks.size);
  Mat A = nullptr;
  check(MatCreate(PETSC_COMM_WORLD, &A));
  check(MatSetSizes(A, local, local, all, all));
  check(MatSetType(A, type));
  check(MatSetBlockSize(A, blocks.size));
  return A;
}

Mat block_matrix(const LocalBlocks& blocks) {
  Mat A = new_matrix(blocks, MATBAIJ);
  // Each call is for one form of the type: one rank, or several.
  check(MatSeqBAIJSetPreallocationCSR(A, blocks.size, blocks.offsets.data(), blocks.columns.data(),
                                      blocks.values.data()));
  check(MatMPIBAIJSetPreallocationCSR(A, blocks.size, blocks.offsets.data(), blocks.columns.data(),
                                      blocks.values.data()));
  return A;
}

/// Without zeros, which a user who assembles numbers leaves out.
Mat number_matrix(const LocalBlocks& blocks) {
  const auto numbers = static_cast<std::size_t>(std::count_if(
      blocks.values.begin(), blocks.values.end(), [](PetscScalar value) { return value != 0; }));
  std::vector<PetscInt> offsets = {0}, columns;
  std::vector<PetscScalar> values;
  columns.reserve(numbers);
  values.reserve(numbers);
  const auto size = static_cast<std::size_t>(blocks.size);
  for (std::size_t row = 0; row + 1 < blocks.offsets.size(); ++row) {
    for (std::size_t i = 0; i < size; ++i) {
      for (PetscInt k = blocks.offsets[row]; k < blocks.offsets[row + 1]; ++k) {
        const auto block = static_cast<std::size_t>(k);
        for (std::size_t j = 0; j < size; ++j) {
          const PetscScalar value = blocks.values[(block * size + i) * size + j];
          if (value == 0) continue;
          columns.push_back(blocks.columns[block] * blocks.size + static_cast<PetscInt>(j));
          values.push_back(value);
        }
      }
      offsets.push_back(static_cast<PetscInt>(columns.size()));
    }
  }
  Mat A = new_matrix(blocks, MATAIJ);
  check(MatSeqAIJSetPreallocationCSR(A, offsets.data(), columns.data(), values.data()));
  check(MatMPIAIJSetPreallocationCSR(A, offsets.data(), columns.data(), values.data()));
  return A;
}

/// The same object on every rank, each with its rows.
class Served {
 public:
  Served(const char* path, bool in_blocks) {
    const LocalBlocks blocks = read_blocks(path);
    block_size_ = blocks.size;
    A_ = in_blocks ? block_matrix(blocks) : number_matrix(blocks);
    count_bytes(blocks, in_blocks);
    check(MatCreateVecs(A_, &x_, &y_));
    check(VecDuplicate(y_, &built_));
    PetscScalar* x = nullptr;
    check(VecGetArray(x_, &x));
    std::copy(blocks.x.begin(), blocks.x.end(), x);
    check(VecRestoreArray(x_, &x));
    check(VecScatterCreateToZero(y_, &gather_, &gathered_));
    check(MatMult(A_, x_, y_));  // sets up what PETSc prepares at first use
  }
  Served(const Served&) = delete;
  Served& operator=(const Served&) = delete;
  ~Served() {
    VecScatterDestroy(&gather_);
    VecDestroy(&gathered_);
    VecDestroy(&built_);
    VecDestroy(&y_);
    VecDestroy(&x_);
    MatDestroy(&A_);
  }

  /// Bytes of values, columns and offsets on all ranks.
  long long bytes() const { return bytes_; }

  double product() {
    MPI_Barrier(PETSC_COMM_WORLD);
    const double start = MPI_Wtime();
    check(MatMult(A_, x_, y_));
    MPI_Barrier(PETSC_COMM_WORLD);
    return MPI_Wtime() - start;
  }

  struct Solve {
    double seconds = 0;
    PetscInt iterations = 0;
    KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
  };
  Solve solve(const Command& command) {
    KSP solver = nullptr;
    check(KSPCreate(PETSC_COMM_WORLD, &solver));
    check(KSPSetOperators(solver, A_, A_));
    const std::string type = command.type;
    check(KSPSetType(solver, type.c_str()));
    // The norm of the residual itself, relative to |b|. Methods for general matrices know it when
    // preconditioned on the right; MINRES never does, and CR updates it with the wrong sign.
    const bool is_general =
        type == KSPBCGS || type == KSPBCGSL || type == KSPGMRES || type == KSPFGMRES;
    if (is_general) check(KSPSetPCSide(solver, PC_RIGHT));
    check(KSPSetNormType(solver, type == KSPMINRES || type == KSPCR ? KSP_NORM_PRECONDITIONED
                                                                    : KSP_NORM_UNPRECONDITIONED));
    check(KSPSetInitialGuessNonzero(solver, PETSC_FALSE));
    check(KSPSetTolerances(solver, command.tolerance, 0, PETSC_MAX_REAL,
                           static_cast<PetscInt>(command.max_iterations)));
    check(KSPSetResidualHistory(solver, nullptr, static_cast<PetscInt>(command.max_iterations) + 1,
                                PETSC_TRUE));
    PC preconditioner = nullptr;
    check(KSPGetPC(solver, &preconditioner));
    check(PCSetType(preconditioner,
                    !command.jacobi ? PCNONE : (block_size_ > 1 ? PCPBJACOBI : PCJACOBI)));
    check(KSPSetUp(solver));
    check(VecSet(y_, 0));
    MPI_Barrier(PETSC_COMM_WORLD);
    const double start = MPI_Wtime();
    check(KSPSolve(solver, x_, y_));
    // BiCGStab(L) returns the solution before the preconditioner is applied.
    if (type == KSPBCGSL) {
      check(KSPBuildSolution(solver, built_, nullptr));
      std::swap(y_, built_);
    }
    MPI_Barrier(PETSC_COMM_WORLD);
    Solve solve;
    solve.seconds = MPI_Wtime() - start;
    check(KSPGetIterationNumber(solver, &solve.iterations));
    check(KSPGetConvergedReason(solver, &solve.reason));
    const PetscReal* history = nullptr;
    PetscInt count = 0;
    check(KSPGetResidualHistory(solver, &history, &count));
    history_.assign(history, history + count);
    check(KSPDestroy(&solver));
    return solve;
  }

  /// The result on rank 0; empty on the others.
  std::vector<double> result() {
    check(VecScatterBegin(gather_, y_, gathered_, INSERT_VALUES, SCATTER_FORWARD));
    check(VecScatterEnd(gather_, y_, gathered_, INSERT_VALUES, SCATTER_FORWARD));
    const PetscScalar* y = nullptr;
    PetscInt count = 0;
    check(VecGetLocalSize(gathered_, &count));
    check(VecGetArrayRead(gathered_, &y));
    std::vector<double> values(y, y + count);
    check(VecRestoreArrayRead(gathered_, &y));
    MPI_Barrier(PETSC_COMM_WORLD);  // otherwise a rank without rows would not wait for the others
    return values;
  }

  const std::vector<double>& history() const { return history_; }

 private:
  void count_bytes(const LocalBlocks& blocks, bool in_blocks) {
    const auto count = static_cast<long long>(blocks.columns.size());
    const long long numbers = in_blocks
                                  ? count * block_size_ * block_size_
                                  : std::count_if(blocks.values.begin(), blocks.values.end(),
                                                  [](PetscScalar value) { return value != 0; });
    const long long columns = in_blocks ? count : numbers;
    const long long rows = blocks.rows() * (in_blocks ? 1 : block_size_);
    bytes_ = numbers * static_cast<long long>(sizeof(PetscScalar)) +
             (columns + rows) * static_cast<long long>(sizeof(PetscInt));
    MPI_Allreduce(MPI_IN_PLACE, &bytes_, 1, MPI_LONG_LONG, MPI_SUM, PETSC_COMM_WORLD);
  }

  int block_size_ = 1;
  long long bytes_ = 0;
  Mat A_ = nullptr;
  Vec x_ = nullptr;
  Vec y_ = nullptr;
  Vec built_ = nullptr;
  VecScatter gather_ = nullptr;
  Vec gathered_ = nullptr;
  std::vector<double> history_;
};

void follow(Served& served, Commands& commands) {
  for (;;) {
    const Command command = commands.await();
    switch (command.what) {
      case What::product:
        served.product();
        break;
      case What::solve:
        served.solve(command);
        break;
      case What::result:
        served.result();
        break;
      case What::leave:
        return;
    }
  }
}

void write_numbers(const std::string& path, const std::vector<double>& numbers) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) fail("cannot write " + path);
  const bool whole =
      std::fwrite(numbers.data(), sizeof(double), numbers.size(), file) == numbers.size();
  if (std::fclose(file) != 0 || !whole) fail("cannot write all of " + path);
  std::puts("done");
}

/// The part of `line` after its first word and a space.
std::string rest_of(const std::string& line) {
  const std::size_t space = line.find(' ');
  return space == std::string::npos ? "" : line.substr(space + 1);
}

Command parse_solve(const std::string& line) {
  std::istringstream words(rest_of(line));
  std::string method, preconditioner;
  Command command;
  command.what = What::solve;
  words >> method >> preconditioner >> command.tolerance >> command.max_iterations;
  const bool known = method.size() < sizeof command.type &&
                     (preconditioner == "none" || preconditioner == "jacobi");
  if (!words || !known) fail("'" + line + "' is not a solve");
  method.copy(command.type, method.size());
  command.jacobi = preconditioner == "jacobi";
  return command;
}

/// Serves until "quit", or until the input ends.
void lead(Served& served, Commands& commands) {
  std::printf("ready %d %lld\n", rank_count(), served.bytes());
  std::fflush(stdout);
  std::string line;
  while (std::getline(std::cin, line) && line != "quit") {
    if (line == "product") {
      commands.announce({.what = What::product});
      std::printf("done %.9e\n", served.product());
    } else if (line.starts_with("solve ")) {
      const Command command = parse_solve(line);
      commands.announce(command);
      const Served::Solve solve = served.solve(command);
      std::printf("done %.9e %lld %s\n", solve.seconds, static_cast<long long>(solve.iterations),
                  KSPConvergedReasons[solve.reason]);
    } else if (line.starts_with("result ")) {
      commands.announce({.what = What::result});
      write_numbers(rest_of(line), served.result());
    } else if (line.starts_with("history ")) {
      write_numbers(rest_of(line), served.history());
    } else {
      fail("'" + line + "' is unknown");
    }
    std::fflush(stdout);
  }
  commands.announce({.what = What::leave});
}

}  // namespace

}  // namespace heddle::bench

int main(int argc, char** argv) {
  using namespace heddle::bench;
  if (argc == 2 && std::string(argv[1]) == "--version") {
    std::printf("PETSc %d.%d.%d\n", PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR,
                PETSC_VERSION_SUBMINOR);
    return 0;
  }
  const std::string format = argc == 3 ? argv[2] : "";
  if (format != "aij" && format != "baij") {
    std::fputs("usage: mpirun heddle_petsc_peer FILE aij|baij, for `heddle bench`\n", stderr);
    return 2;
  }
  int no_arguments = 1;  // no arguments are PETSc's
  if (PetscInitialize(&no_arguments, &argv, nullptr, nullptr) != 0) return 1;
  {
    Served served(argv[1], format == "baij");
    // Open MPI keeps all memory in the heap, including freed memory: several times the matrix.
    malloc_trim(0);
    Commands commands;
    if (my_rank() == 0) {
      lead(served, commands);
    } else {
      follow(served, commands);
    }
  }
  return PetscFinalize() == 0 ? 0 : 1;
}
