// The loops of a solver: their form, their workspace and bytes, and those that were made.
#pragma once

#include <cstddef>
#include <memory>

#include "null_space.hpp"
#include "solver_fields.hpp"
#include "solvers/gpu_loops/loop_preconditioner.hpp"

namespace heddle::detail {

/// Loops exist over the matrix, over its copy `iterated()` and over its copy in floats, each for
/// one place and for all places. They are made once they are needed.
template <class S>
class LoopCache {
 public:
  LoopCache(const SolverInputs<S>& inputs, SolverFields<S>& fields, const NullSpace<S>& null_space)
      : inputs_(inputs), fields_(fields), null_space_(null_space) {}

  /// The form of the loop over `matrix`, which may be another than its plan's.
  LoopForm form(const LinearOperator<S>& matrix) const;
  /// See `KrylovSolver::systems_at_once`.
  std::size_t systems_at_once(std::size_t systems) const;
  /// The allocations of the loop over `matrix`, in the form that suits it, besides the method's
  /// vectors.
  Workspace workspace(const LinearOperator<S>& matrix, std::size_t systems = 1) const;

  /// The loop over `matrix`, which is the solver's, its `iterated()` or that of `over_floats`.
  MethodLoop<S>& over(const LinearOperator<S>& matrix, std::size_t systems = 1);
  /// The copy of the matrix in floats, with a loop over it; null if there is none. The memory for
  /// either may have been taken since the solver was made.
  const LinearOperator<S>* over_floats(std::size_t systems);
  void forget() {
    of_one_ = {};
    of_all_ = {};
  }
  void forget_of_all_places() { of_all_ = {}; }

  /// The operator that this solve's iterations multiply by: `iterated()` of the matrix, its copy in
  /// floats, or the matrix itself once the former have not sufficed.
  const LinearOperator<S>& iterated() const { return *iterated_; }
  void iterate_by(const LinearOperator<S>& matrix) { iterated_ = &matrix; }

  /// See `KrylovSolver::bytes_per_iteration`.
  long long bytes_per_iteration(std::size_t systems = 1) const;
  /// The preconditioner and the projection, as a loop on a GPU needs them.
  cuda::LoopPreconditioner<S> preconditioner() const;
  /// The value for a device::LoopLimits; the time that foreign work takes is unknown.
  long long unwatched_iterations(long long bytes_of_iteration) const;
  /// A graph cannot record what foreign work makes or compiles at its first use.
  void apply_foreign_work_once();

 private:
  /// True if a loop on a GPU holds work other than its own kernels: a matrix-free operator, a
  /// preconditioner of the user's own, or a projection.
  bool has_foreign_work() const;
  std::unique_ptr<MethodLoop<S>> make(const LinearOperator<S>& matrix, std::size_t systems);

  const SolverInputs<S>& inputs_;
  SolverFields<S>& fields_;
  const NullSpace<S>& null_space_;
  const LinearOperator<S>* iterated_ = &inputs_.matrix.iterated();
  std::shared_ptr<const LinearOperator<S>> floats_;
  struct Loops {
    std::unique_ptr<MethodLoop<S>> on_copy, on_matrix, on_floats;
  };
  Loops of_one_, of_all_;    // for the first place, and for all places
  bool is_applied_ = false;  // true once foreign work was applied
};

}  // namespace heddle::detail
