// What the Krylov solvers share: bringing a system into the operator's basis, workspace that is
// allocated once, stopping, the true residual, and the report. Each solver adds its iteration.
#pragma once

#include <future>
#include <memory>
#include <optional>
#include <vector>

#include "heddle/linear_operator.hpp"
#include "heddle/preconditioner.hpp"
#include "heddle/report.hpp"

namespace heddle {

namespace detail {
template <class S>
class SolveControl;
}

/// A solver object serves one thread at a time. The operator must outlive it.
template <class S>
class KrylovSolver {
 public:
  virtual ~KrylovSolver() = default;

  /// Solves A x = b from the guess in x; b is not modified. Fields may be in the user's order or in
  /// the operator's basis, for an operator on a GPU in the GPU's memory or the host's. Throws
  /// `Error` for fields that do not fit and for what the preconditioner refuses; what happens while
  /// iterating is the report's status, and x is then the last iterate, one kept at an earlier
  /// tenfold drop of the residual, one that a restart began from, or the guess, whichever has the
  /// smallest true residual; loops that live on a GPU keep none at tenfold drops. The second and
  /// later solves allocate nothing.
  Report solve(const FieldView<const S>& b, const FieldView<S>& x);

  /// Vectors v with A v = 0 and v* A = 0, in the user's order: the system is solved in the space
  /// orthogonal to them (over the coefficients of the operator's ring), and b is projected into it.
  void set_null_space(const std::vector<FieldView<const S>>& vectors);

  /// Relative residuals of the recurrence, from iteration 0, if the options ask for them.
  const std::vector<double>& history() const { return history_; }

  const SolverOptions& options() const { return options_; }
  void set_options(SolverOptions options);

 protected:
  KrylovSolver(const LinearOperator<S>& matrix, std::shared_ptr<Preconditioner<S>> preconditioner,
               SolverOptions options, Ring ring);

  /// One run of the method from the residual in `control`; it ends when `control` says so.
  virtual void iterate(detail::SolveControl<S>& control) = 0;
  /// Passes over a field that an iteration makes beside products and preconditioner, and how many
  /// of those two it has.
  struct Cost {
    int passes;
    int products;
  };
  virtual Cost cost() const = 0;
  /// The form of the loop that runs, which may be another than the plan's: a name of plan.hpp.
  virtual std::string_view loop() const { return "stepped"; }

  /// What a loop that lives on a GPU needs of the preconditioner; null for none. Throws `Error`
  /// (unsupported) for one of the user's own.
  const cuda::Diagonal* diagonal_of_loop() const;

  bool has_null_space() const { return !null_space_.empty(); }
  /// What this solve's iterations multiply by: `matrix_.iterated()`, or `matrix_` itself once that
  /// has not sufficed.
  const LinearOperator<S>& iterated() const { return *iterated_; }
  /// Whether a loop over `matrix_.iterated()` that lives on a GPU is what the solve needs now.
  bool may_run_on_gpu() const { return !has_null_space() && iterated_ == &matrix_.iterated(); }
  /// A zero field in the operator's basis and layout, kept for the solver's life.
  FieldView<S> make_work();
  /// z = M^-1 r, or r itself without a preconditioner; projected where there is a null space.
  FieldView<const S> precondition(const FieldView<const S>& r, const FieldView<S>& z);
  void project(const FieldView<S>& field);

  const LinearOperator<S>& matrix_;
  std::shared_ptr<Preconditioner<S>> preconditioner_;  // null for none
  SolverOptions options_;
  Device device_;
  Stream stream_;
  Reduction<S> reduction_;

 private:
  friend class detail::SolveControl<S>;

  bool fits_in_place(const FieldView<const S>& field) const;
  template <Ring R>
  void project_in(const FieldView<S>& field);

  Ring ring_;
  const LinearOperator<S>* iterated_;
  std::future<void> compiling_;  // of a kernel that the first solve needs
  std::shared_ptr<const Basis> basis_;
  std::vector<Array<S>> storage_;
  std::vector<FieldView<S>> null_space_;
  FieldView<S> residual_;
  FieldView<S> kept_;      // an earlier iterate, as good as the recurrence says
  FieldView<S> verified_;  // the iterate of the least true residual so far: at first the guess
  std::optional<FieldView<S>> own_b_;
  std::optional<FieldView<S>> own_x_;
  std::vector<double> history_;
};

}  // namespace heddle
