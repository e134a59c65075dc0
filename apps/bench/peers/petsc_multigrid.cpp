// `heddle_petsc_multigrid poisson|elasticity ROWS [PETSC OPTIONS]`: conjugate gradient with one of
// PETSc's multigrids on one of Heddle's model problems, to a residual of 1e-10, for comparison with
// `heddle solve --preconditioner multigrid` (docs/performance.md). Rows are numbered the same way;
// elasticity gets the rigid-body motions as its near-null space. `-pc_type gamg`, `-pc_type hypre`
// and the options of these are PETSc's own. Prints a line.
#include <petscksp.h>

#include <algorithm>
#include <cstdio>
#include <span>
#include <string>
#include <vector>

#include "../../command/stopwatch.hpp"
#include "heddle/error.hpp"
#include "heddle/multigrid.hpp"
#include "heddle/problems.hpp"
#include "model_problem.hpp"

namespace {

using namespace heddle;

void check(PetscErrorCode code) {
  if (code != 0) PetscCallAbort(PETSC_COMM_SELF, code);
}

/// PETSc's matrix of b x b blocks of numbers.
template <class E, int b>
Mat matrix_of(const CsrMatrix<E>& from) {
  const PetscInt n = from.rows();
  std::vector<PetscInt> lengths(static_cast<std::size_t>(n));
  for (PetscInt row = 0; row < n; ++row) {
    lengths[static_cast<std::size_t>(row)] =
        static_cast<PetscInt>(from.offsets()[row + 1] - from.offsets()[row]);
  }
  Mat matrix = nullptr;
  check(MatCreateSeqBAIJ(PETSC_COMM_SELF, b, n * b, n * b, 0, lengths.data(), &matrix));
  for (PetscInt row = 0; row < n; ++row) {
    for (Offset e = from.offsets()[row]; e < from.offsets()[row + 1]; ++e) {
      const auto entry = from.entry(e);
      const PetscInt column = from.column()[e];
      check(MatSetValuesBlocked(matrix, 1, &row, 1, &column, entry.component, INSERT_VALUES));
    }
  }
  check(MatAssemblyBegin(matrix, MAT_FINAL_ASSEMBLY));
  check(MatAssemblyEnd(matrix, MAT_FINAL_ASSEMBLY));
  check(MatConvert(matrix, MATSEQAIJ, MAT_INPLACE_MATRIX, &matrix));
  check(MatSetBlockSize(matrix, b));
  return matrix;
}

void set_motions(Mat matrix, const TetrahedronMesh& mesh) {
  const auto modes = rigid_body_modes<double>(
      std::span(mesh.position.data(), static_cast<std::size_t>(mesh.free_vertices)));
  std::vector<Vec> fields;
  for (const auto& mode : modes) {
    Vec field = nullptr;
    check(VecCreateSeq(PETSC_COMM_SELF, static_cast<PetscInt>(mode.size()), &field));
    PetscScalar* numbers = nullptr;
    check(VecGetArray(field, &numbers));
    std::copy(mode.begin(), mode.end(), numbers);
    check(VecRestoreArray(field, &numbers));
    // The null space must have orthonormal fields.
    for (const Vec before : fields) {
      PetscScalar share = 0;
      check(VecDot(field, before, &share));
      check(VecAXPY(field, -share, before));
    }
    check(VecNormalize(field, nullptr));
    fields.push_back(field);
  }
  MatNullSpace space = nullptr;
  check(MatNullSpaceCreate(PETSC_COMM_SELF, PETSC_FALSE, static_cast<PetscInt>(fields.size()),
                           fields.data(), &space));
  check(MatSetNearNullSpace(matrix, space));  // the matrix keeps the null space
  check(MatNullSpaceDestroy(&space));
  for (Vec& field : fields) check(VecDestroy(&field));
}

/// Solves, and destroys the matrix. Returns true on convergence.
bool solve(Mat matrix, const std::string& name, Index rows) {
  Vec exact = nullptr, b = nullptr, x = nullptr;
  check(MatCreateVecs(matrix, &exact, &b));
  check(VecDuplicate(exact, &x));
  check(VecSetRandom(exact, nullptr));
  check(MatMult(matrix, exact, b));
  check(MatSetOption(matrix, MAT_SPD, PETSC_TRUE));
  KSP solver = nullptr;
  check(KSPCreate(PETSC_COMM_SELF, &solver));
  check(KSPSetType(solver, KSPCG));
  check(KSPSetNormType(solver, KSP_NORM_UNPRECONDITIONED));
  check(KSPSetTolerances(solver, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, 10000));
  check(KSPSetOperators(solver, matrix, matrix));
  check(KSPSetFromOptions(solver));
  const cli::Stopwatch setting_up;
  check(KSPSetUp(solver));
  const double setup = setting_up.seconds();
  const cli::Stopwatch solving;
  check(KSPSolve(solver, b, x));
  const double seconds = solving.seconds();
  PetscInt iterations = 0;
  PetscReal residual = 0, size = 0;
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
  PC preconditioner = nullptr;
  PCType type = nullptr;
  check(KSPGetIterationNumber(solver, &iterations));
  check(KSPGetResidualNorm(solver, &residual));
  check(KSPGetConvergedReason(solver, &reason));
  check(VecNorm(b, NORM_2, &size));
  check(KSPGetPC(solver, &preconditioner));
  check(PCGetType(preconditioner, &type));
  std::printf(
      "%s, %d rows, %s: %s after %d iterations, residual %.1e, set-up %.3f s, solve %.3f s\n",
      name.c_str(), rows, type, reason > 0 ? "converged" : "failed", static_cast<int>(iterations),
      residual / size, setup, seconds);
  check(KSPDestroy(&solver));
  for (Vec* field : {&exact, &b, &x}) check(VecDestroy(field));
  check(MatDestroy(&matrix));
  return reason > 0;
}

int run(int count, char** arguments) {
  const auto problem =
      bench::model_problem_of(count, arguments, "heddle_petsc_multigrid", "PETSC OPTIONS");
  if (!problem) return 2;
  const auto& [name, size] = *problem;
  check(PetscInitialize(&count, &arguments, nullptr, nullptr));
  bool converged = false;
  if (name == "poisson") {
    const auto matrix = poisson(size, 1, {.contrast = 0});
    converged = solve(matrix_of<real<double>, 1>(matrix), name, matrix.rows());
  } else {
    const TetrahedronMesh mesh = random_solid(size);
    const auto made = elasticity(mesh);
    const Mat matrix = matrix_of<block<double, 3, 3>, 3>(made);
    set_motions(matrix, mesh);
    converged = solve(matrix, name, made.rows());
  }
  check(PetscFinalize());
  return converged ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  try {
    return run(count, arguments);
  } catch (const Error& error) {
    std::fprintf(stderr, "heddle_petsc_multigrid: %s\n", error.what());
    return 1;
  }
}
