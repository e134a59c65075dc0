// `heddle_petsc_newton CASE [jacobi]`: Newton's scheme of `heddle-heart` over a case's slab with
// PETSc's matrices and solvers in place of Heddle's, for scripts/newton-benchmark; on several ranks
// under mpirun. The element code is the same. Each rank has the elements whose least corner is one
// of its rows, and the whole potential; MatSetValues adds the elements up. Conjugate gradient is
// preconditioned by Jacobi, or by block Jacobi with one block per rank, an incomplete factorization
// of the rank's rows (PETSc's default). Prints a line of JSON.
#include <petscksp.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <exception>
#include <variant>
#include <vector>

#include "../../command/stopwatch.hpp"
#include "../diffusion.hpp"
#include "../model.hpp"
#include "heddle/error.hpp"
#include "newton/newton_passes.hpp"

namespace heddle::heart {

namespace {

void check(PetscErrorCode code) {
  if (code != 0) PetscCallAbort(PETSC_COMM_WORLD, code);
}

/// K and R of a state, and a step of Newton's method; like `NewtonScheme`.
class PetscScheme {
 public:
  PetscScheme(const Model& model, const Case& given, PCType preconditioner)
      : model_(model), step_(given.time.step), stimulus_(model.position.size()) {
    make_system(given.solver, preconditioner);
    take_elements();
    for (std::size_t i = 0; i < model.membrane.size(); ++i) {
      const AnyModel cell = model_of(model.membrane[i]);
      regions_.push_back({{std::get<AlievPanfilov>(cell)},
                          model.diffusivity[i].across,
                          model.diffusivity[i].along});
    }
    for (std::vector<double>* const of : {&recovery_, &recovery_before_, &source_, &tangent_}) {
      of->resize(volume_.size());
    }
    slope_.resize(3 * volume_.size());
    potential_.assign(stimulus_.size(), regions_.front().cell.V_rest);
    before_ = potential_;
    // Made once, since no step changes them: the places of K's entries, the lists of its factors.
    linearize();
    assemble();
    check(MatNorm(K_, NORM_FROBENIUS, &of_matrix_));
    check(KSPSetOperators(solver_, K_, K_));
    check(KSPSetUp(solver_));
    check(KSPSetUpOnBlocks(solver_));
  }
  PetscScheme(const PetscScheme&) = delete;
  PetscScheme& operator=(const PetscScheme&) = delete;
  ~PetscScheme() {
    KSPDestroy(&solver_);
    VecScatterDestroy(&to_all_);
    VecDestroy(&whole_change_);
    VecDestroy(&change_);
    VecDestroy(&residual_);
    MatDestroy(&K_);
  }

  void set_stimuli(double time) {
    std::fill(stimulus_.begin(), stimulus_.end(), 0);
    for (std::size_t k = 0; k < model_.stimuli.size(); ++k) {
      if (!model_.stimuli[k].acts(time, step_)) continue;
      for (std::size_t v = 0; v < stimulus_.size(); ++v) {
        if ((model_.stimuli_of_vertex[v] >> k & 1U) != 0) {
          stimulus_[v] += model_.stimuli[k].amplitude;
        }
      }
    }
  }

  /// Returns false if Newton's method does not converge.
  bool advance() {
    constexpr double tolerance = 1e-10, least = 1e-14 * 100;  // close to those of `NewtonOptions`
    constexpr int most = 20;
    double first = 0;
    for (int k = 0;; ++k) {
      linearize(k > 0);
      double size = 0;
      check(VecNorm(residual_, NORM_2, &size));
      parts.end_assembly();
      if (k == 0) first = size;
      if (size <= tolerance * first || size <= least * of_matrix_) break;
      if (k == most || !std::isfinite(size)) return false;
      assemble();
      parts.end_assembly();
      check(KSPSetOperators(solver_, K_, K_));
      check(KSPSolve(solver_, residual_, change_));
      KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
      PetscInt iterations = 0;
      check(KSPGetConvergedReason(solver_, &reason));
      check(KSPGetIterationNumber(solver_, &iterations));
      if (reason <= 0) return false;
      solver_iterations += iterations;
      ++newton_iterations;
      const PetscScalar* change = nullptr;
      check(VecScatterBegin(to_all_, change_, whole_change_, INSERT_VALUES, SCATTER_FORWARD));
      check(VecScatterEnd(to_all_, change_, whole_change_, INSERT_VALUES, SCATTER_FORWARD));
      check(VecGetArrayRead(whole_change_, &change));
      for (std::size_t v = 0; v < potential_.size(); ++v) potential_[v] -= change[v];
      check(VecRestoreArrayRead(whole_change_, &change));
    }
    before_ = potential_;
    std::swap(recovery_before_, recovery_);
    return true;
  }

  const std::vector<double>& potential() const { return potential_; }

  long long newton_iterations = 0;
  long long solver_iterations = 0;
  StepParts parts;

 private:
  void make_system(const SolverCase& solver, PCType preconditioner_type) {
    const Index rows = model_.vertices();
    PetscInt own = PETSC_DECIDE, all = rows;
    check(PetscSplitOwnership(PETSC_COMM_WORLD, &own, &all));
    check(MPI_Scan(&own, &end_row_, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
    first_row_ = end_row_ - own;
    const ElementPattern pattern = pattern_of(model_);
    const auto view = pattern.view();
    std::vector<PetscInt> inside, outside;  // entries per row, by the owner of the column
    for (PetscInt i = first_row_; i < end_row_; ++i) {
      const auto is_own = [&](Index column) { return column >= first_row_ && column < end_row_; };
      const Index *const begin = view.column + view.offsets[i], *const end = view.column +
                                                                             view.offsets[i + 1];
      inside.push_back(static_cast<PetscInt>(std::count_if(begin, end, is_own)));
      outside.push_back(static_cast<PetscInt>(end - begin) - inside.back());
    }
    check(MatCreateAIJ(PETSC_COMM_WORLD, own, own, rows, rows, 0, inside.data(), 0, outside.data(),
                       &K_));
    check(MatCreateVecs(K_, &change_, &residual_));
    check(VecScatterCreateToAll(change_, &to_all_, &whole_change_));
    check(KSPCreate(PETSC_COMM_WORLD, &solver_));
    check(KSPSetType(solver_, KSPCG));
    check(KSPSetNormType(solver_, KSP_NORM_UNPRECONDITIONED));
    check(KSPSetTolerances(solver_, solver.tolerance, 0, PETSC_MAX_REAL,
                           static_cast<PetscInt>(solver.max_iterations)));
    PC preconditioner = nullptr;
    check(KSPGetPC(solver_, &preconditioner));
    check(PCSetType(preconditioner, preconditioner_type));
  }

  /// Those whose least corner is one of this rank's rows.
  void take_elements() {
    for (std::size_t e = 0; e < model_.tetrahedron.size(); ++e) {
      const Tetrahedron& corner = model_.tetrahedron[e];
      const Index least = *std::min_element(corner.begin(), corner.end());
      if (least < first_row_ || least >= end_row_) continue;
      tetrahedron_.push_back(corner);
      region_of_.push_back(model_.region[e]);
      const ElementGeometry element(model_.corners(e));
      for (const Point& g : element.gradient) gradient_.insert(gradient_.end(), g.begin(), g.end());
      volume_.push_back(element.volume);
      fibre_.insert(fibre_.end(), model_.fibre[e].begin(), model_.fibre[e].end());
    }
  }

  NewtonElements elements() const {
    return {tetrahedron_.empty() ? nullptr : tetrahedron_.front().data(),
            gradient_.data(),
            volume_.data(),
            fibre_.data(),
            region_of_.data(),
            regions_.data()};
  }
  TangentKernel kernel() const {
    return {elements(), source_.data(), tangent_.data(), slope_.data()};
  }

  /// Computes R and the parts of K.
  void linearize(bool is_after_solve = false) {
    const auto count = static_cast<Offset>(volume_.size());
    const CondensedCellPass cells{count,
                                  elements(),
                                  step_,
                                  potential_.data(),
                                  before_.data(),
                                  stimulus_.data(),
                                  recovery_before_.data(),
                                  recovery_.data(),
                                  source_.data(),
                                  tangent_.data(),
                                  slope_.data(),
                                  &parts,
                                  is_after_solve};
    const TangentKernel of_elements = kernel();
    check(VecSet(residual_, 0));
    for (Offset e = 0; e < count; ++e) {
      cells(e);
      std::array<PetscScalar, 4> of_corners{};
      for (int a = 0; a < 4; ++a) {
        of_corners[static_cast<std::size_t>(a)] = of_elements.vector(e, a).component[0];
      }
      check(VecSetValues(residual_, 4, corners(e), of_corners.data(), ADD_VALUES));
    }
    check(VecAssemblyBegin(residual_));
    check(VecAssemblyEnd(residual_));
  }

  /// K = dR/dV.
  void assemble() {
    const TangentKernel of_elements = kernel();
    check(MatZeroEntries(K_));
    for (Offset e = 0; e < static_cast<Offset>(volume_.size()); ++e) {
      std::array<PetscScalar, 16> of_pairs{};
      for (int a = 0; a < 4; ++a) {
        for (int b = 0; b < 4; ++b) {
          of_pairs[static_cast<std::size_t>(4 * a + b)] = of_elements.entry(e, a, b).component[0];
        }
      }
      check(MatSetValues(K_, 4, corners(e), 4, corners(e), of_pairs.data(), ADD_VALUES));
    }
    check(MatAssemblyBegin(K_, MAT_FINAL_ASSEMBLY));
    check(MatAssemblyEnd(K_, MAT_FINAL_ASSEMBLY));
  }

  const PetscInt* corners(Offset e) const {
    return tetrahedron_[static_cast<std::size_t>(e)].data();
  }

  const Model& model_;
  double step_;  // ms
  std::vector<NewtonRegion> regions_;
  PetscInt first_row_ = 0, end_row_ = 0;
  std::vector<Tetrahedron> tetrahedron_;
  std::vector<std::uint16_t> region_of_;
  std::vector<double> gradient_, volume_, fibre_;
  std::vector<double> recovery_, recovery_before_, source_, tangent_, slope_;
  std::vector<double> potential_, before_, stimulus_;
  double of_matrix_ = 0;  // |K|
  Mat K_ = nullptr;
  Vec residual_ = nullptr, change_ = nullptr, whole_change_ = nullptr;
  VecScatter to_all_ = nullptr;
  KSP solver_ = nullptr;
};

int run_case(const char* path, PCType preconditioner) {
  const Case given = read_case(path);
  if (!given.slab || given.time.scheme != Scheme::newton) {
    throw Error(ErrorKind::usage, std::string(path) + " is not a slab with the scheme newton");
  }
  const Model model =
      make_model(mesh::make_slab(given.slab->sides, given.slab->h, given.slab->split), given);
  PetscScheme scheme(model, given, preconditioner);
  const cli::Stopwatch watch;
  long long steps = 0;
  bool is_good = true;
  for (; steps < given.time.steps && is_good; ++steps) {
    scheme.set_stimuli(static_cast<double>(steps) * given.time.step);
    is_good = scheme.advance();
  }
  const double seconds = watch.seconds();
  double most = -HUGE_VAL, sum = 0;
  for (const double V : scheme.potential()) {
    most = std::fmax(most, V);
    sum += V;
  }
  int ranks = 1, rank = 0;
  MPI_Comm_size(PETSC_COMM_WORLD, &ranks);
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  if (rank != 0) return is_good ? 0 : 1;
  constexpr double nanosecond = 1e-9;
  const double assembly = nanosecond * static_cast<double>(scheme.parts.assembly);
  const double solve = nanosecond * static_cast<double>(scheme.parts.solve);
  std::printf(
      "{\"program\": \"PETSc %d.%d.%d\", \"ranks\": %d, \"status\": \"%s\", \"vertices\": %lld, "
      "\"tetrahedra\": "
      "%lld, \"steps\": %lld, \"newton_iterations\": %lld, \"iterations_a_step\": %.17g, "
      "\"largest_potential\": %.17g, \"mean_potential\": %.17g, \"times\": {\"assembly\": %.9g, "
      "\"solve\": %.9g, \"other\": %.9g, \"steps\": %.9g}}\n",
      PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR, PETSC_VERSION_SUBMINOR, ranks,
      is_good ? "done" : "stagnated", static_cast<long long>(model.vertices()),
      static_cast<long long>(model.elements()), steps, scheme.newton_iterations,
      static_cast<double>(scheme.solver_iterations) / static_cast<double>(steps), most,
      sum / static_cast<double>(model.vertices()), assembly, solve, seconds - assembly - solve,
      seconds);
  return is_good ? 0 : 1;
}

}  // namespace

}  // namespace heddle::heart

int main(int argc, char** argv) {
  const bool is_jacobi = argc == 3 && std::strcmp(argv[2], "jacobi") == 0;
  if (!(argc == 2 || is_jacobi) || std::strncmp(argv[1], "--", 2) == 0) {
    std::fputs("usage: heddle_petsc_newton CASE [jacobi], for scripts/newton-benchmark\n", stderr);
    return 2;
  }
  int no_arguments = 1;  // none are PETSc's
  if (PetscInitialize(&no_arguments, &argv, nullptr, nullptr) != 0) return 1;
  int status = 2;
  try {
    status = heddle::heart::run_case(argv[1], is_jacobi ? PCJACOBI : PCBJACOBI);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "heddle_petsc_newton: %s\n", error.what());
  }
  return PetscFinalize() == 0 ? status : 1;
}
