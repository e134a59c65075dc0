// Heddle as preconditioners and solvers of MFEM, for a SparseMatrix. A program links mfem and
// heddle::c.
#pragma once

#include <mfem.hpp>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "heddle/adapters/system.hpp"

namespace heddle {

/// Options of both classes below; they take effect at the next SetOperator.
class MfemOptions {
 public:
  /// Rows of `dim` numbers per node become blocks, as for HypreBoomerAMG.
  void SetSystemsOptions(int dim, bool order_bynodes = false) {
    options_.components = dim;
    options_.by_component = order_bynodes;
  }
  /// Blocks for the displacements of this space, and its rigid bodies as candidates of multigrid.
  void SetElasticityOptions(mfem::FiniteElementSpace* space) {
    SetSystemsOptions(space->GetVDim(), space->GetOrdering() == mfem::Ordering::byNODES);
    mfem::VectorFunctionCoefficient identity(space->GetVDim(),
                                             [](const mfem::Vector& x, mfem::Vector& u) { u = x; });
    mfem::GridFunction positions(space);
    positions.ProjectCoefficient(identity);
    mfem::Vector of_true_dofs;
    positions.GetTrueDofs(of_true_dofs);
    options_.coordinates.assign(of_true_dofs.HostRead(),
                                of_true_dofs.HostRead() + of_true_dofs.Size());
  }
  /// Vectors that the matrix nearly maps to 0, as candidates of multigrid.
  void SetCandidates(const std::vector<mfem::Vector>& candidates) {
    options_.candidates.clear();
    for (const mfem::Vector& given : candidates) {
      options_.candidates.emplace_back(given.HostRead(), given.HostRead() + given.Size());
    }
  }
  /// A setting of docs/reference/settings.md, such as "cycle", "w".
  void SetSetting(const std::string& name, const std::string& value) {
    options_.settings[name] = value;
  }

 protected:
  void Take(const mfem::Operator& op) {
    const auto* const matrix = dynamic_cast<const mfem::SparseMatrix*>(&op);
    if (matrix == nullptr || !matrix->Finalized() || op.Height() != op.Width()) {
      throw std::runtime_error(
          "heddle: the operator is no square mfem::SparseMatrix after Finalize()");
    }
    system_.take(options_, op.Height(), matrix->HostReadI(), matrix->HostReadJ(),
                 matrix->HostReadData());
  }

  adapters::Options options_;
  mutable adapters::System system_;
};

/// z = M^-1 r for mfem::CGSolver and others; in iterative mode z += M^-1 (r - A z).
class MfemPreconditioner : public mfem::Solver, public MfemOptions {
 public:
  /// `text` as for `heddle solve --preconditioner`; empty: multigrid if the matrix is symmetric.
  explicit MfemPreconditioner(std::string text = "") { options_.preconditioner = std::move(text); }

  void SetOperator(const mfem::Operator& op) override {
    Take(op);
    height = width = op.Height();
  }
  void Mult(const mfem::Vector& r, mfem::Vector& z) const override { Apply(r, z, false); }
  /// For preconditioners with an adjoint, such as multigrid and jacobi.
  void MultTranspose(const mfem::Vector& r, mfem::Vector& z) const override { Apply(r, z, true); }

 private:
  void Apply(const mfem::Vector& r, mfem::Vector& z, bool transposed) const {
    const heddle_view from = system_.field(r.HostRead(), r.Size());
    double* const numbers = iterative_mode ? z.HostReadWrite() : z.HostWrite();
    const heddle_view to = system_.field(numbers, z.Size());
    if (!iterative_mode) return system_.apply(from, to, transposed);
    const auto rest = system_.residual(from, to, transposed);
    mfem::Vector correction(z.Size());
    system_.apply(system_.field(rest.data(), z.Size()),
                  system_.field(correction.HostWrite(), z.Size()), transposed);
    z += correction;
  }
};

/// Heddle's methods and preconditioners with the tolerances and statistics of an IterativeSolver,
/// whose norms are those of b - A x. Monitors are not called.
class MfemSolver : public mfem::IterativeSolver, public MfemOptions {
 public:
  /// Texts as for `heddle solve`; empty: chosen for the matrix.
  explicit MfemSolver(std::string method = "", std::string preconditioner = "") {
    options_.method = std::move(method);
    options_.preconditioner = std::move(preconditioner);
    rel_tol = 1e-10;
    max_iter = 10000;
  }

  void SetPreconditioner(mfem::Solver&) override {
    throw std::runtime_error(
        "heddle: MfemSolver takes the name of a preconditioner in its constructor");
  }
  void SetOperator(const mfem::Operator& op) override {
    Take(op);
    oper = &op;
    height = width = op.Height();
  }
  void Mult(const mfem::Vector& b, mfem::Vector& x) const override { Solve(b, x, false); }
  void MultTranspose(const mfem::Vector& b, mfem::Vector& x) const override { Solve(b, x, true); }

 private:
  void Solve(const mfem::Vector& b, mfem::Vector& x, bool transposed) const {
    if (!iterative_mode) x = 0.0;
    const adapters::Solved solved = system_.solve(system_.field(b.HostRead(), b.Size()),
                                                  system_.field(x.HostReadWrite(), x.Size()),
                                                  {rel_tol, abs_tol, max_iter}, transposed);
    converged = solved.outcome == HEDDLE_CONVERGED;
    final_iter = static_cast<int>(solved.iterations);
    initial_norm = solved.initial_norm;
    final_norm = solved.norm;
    if (print_options.summary || print_options.iterations || print_options.first_and_last ||
        (print_options.warnings && !converged)) {
      mfem::out << "Heddle: " << heddle_outcome_name(solved.outcome) << " in " << final_iter
                << " iterations, |b - A x| = " << final_norm << '\n';
    }
  }
};

}  // namespace heddle
