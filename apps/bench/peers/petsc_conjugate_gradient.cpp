// `heddle_petsc_conjugate_gradient FILE BLOCK ITERATIONS`: PETSc's conjugate gradient on the ranks
// that mpirun starts, with the inverse of the diagonal blocks of BLOCK x BLOCK numbers, to compare
// with `heddle-mpi solve` (scripts/compare-ranks). FILE is a matrix in PETSc's binary format.
// Prints microseconds an iteration for the second of two solves of ITERATIONS or fewer.
#include <petscksp.h>

#include <cstdio>
#include <cstdlib>

namespace {

void check(PetscErrorCode code) {
  if (code != 0) PetscCallAbort(PETSC_COMM_WORLD, code);
}

Mat read(const char* path, int block) {
  PetscViewer viewer = nullptr;
  Mat matrix = nullptr;
  check(PetscViewerBinaryOpen(PETSC_COMM_WORLD, path, FILE_MODE_READ, &viewer));
  check(MatCreate(PETSC_COMM_WORLD, &matrix));
  check(MatSetBlockSize(matrix, block));
  check(MatSetType(matrix, block > 1 ? MATBAIJ : MATAIJ));
  check(MatLoad(matrix, viewer));
  check(PetscViewerDestroy(&viewer));
  return matrix;
}

/// Seconds per iteration of the second solve.
double measure(Mat matrix, int block, int iterations) {
  Vec exact = nullptr, b = nullptr, x = nullptr;
  check(MatCreateVecs(matrix, &exact, &b));
  check(VecDuplicate(exact, &x));
  check(VecSetRandom(exact, nullptr));
  check(MatMult(matrix, exact, b));
  KSP solver = nullptr;
  PC preconditioner = nullptr;
  check(KSPCreate(PETSC_COMM_WORLD, &solver));
  check(KSPSetType(solver, KSPCG));
  check(KSPSetNormType(solver, KSP_NORM_UNPRECONDITIONED));
  check(KSPSetTolerances(solver, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, iterations));
  check(KSPSetOperators(solver, matrix, matrix));
  check(KSPGetPC(solver, &preconditioner));
  check(PCSetType(preconditioner, block > 1 ? PCPBJACOBI : PCJACOBI));
  check(KSPSetFromOptions(solver));
  check(KSPSetUp(solver));
  double seconds = 0;
  PetscInt done = 0;
  for (int solve = 0; solve < 2; ++solve) {
    check(VecSet(x, 0));
    MPI_Barrier(PETSC_COMM_WORLD);
    const double start = MPI_Wtime();
    check(KSPSolve(solver, b, x));
    MPI_Barrier(PETSC_COMM_WORLD);
    seconds = MPI_Wtime() - start;
    check(KSPGetIterationNumber(solver, &done));
  }
  check(KSPDestroy(&solver));
  for (Vec* field : {&exact, &b, &x}) check(VecDestroy(field));
  return seconds / static_cast<double>(done > 0 ? done : 1);
}

}  // namespace

int main(int count, char** arguments) {
  const int block = count > 3 ? std::atoi(arguments[2]) : 0;
  const int iterations = count > 3 ? std::atoi(arguments[3]) : 0;
  if (block < 1 || iterations < 1) {
    std::fputs("usage: heddle_petsc_conjugate_gradient FILE BLOCK ITERATIONS [PETSC OPTIONS]\n",
               stderr);
    return 2;
  }
  check(PetscInitialize(&count, &arguments, nullptr, nullptr));
  Mat matrix = read(arguments[1], block);
  const double seconds = measure(matrix, block, iterations);
  check(PetscPrintf(PETSC_COMM_WORLD, "%.3f\n", 1e6 * seconds));
  check(MatDestroy(&matrix));
  check(PetscFinalize());
  return 0;
}
