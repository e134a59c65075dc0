// The parts of a `KrylovSolver`, as the library knows it.
#pragma once

#include <cstddef>
#include <future>
#include <memory>
#include <vector>

#include "enqueued_solves.hpp"
#include "heddle/krylov_solver.hpp"
#include "loop_cache.hpp"
#include "method_symmetry.hpp"
#include "spectral_steps.hpp"

namespace heddle::detail {

template <class S>
class HostSolve;

template <class S>
struct KrylovParts {
  /// See the constructor of `KrylovSolver`.
  KrylovParts(OperatorReference<S> matrix, std::shared_ptr<Preconditioner<S>> preconditioner,
              SolverOptions options, MethodOver<S> method);
  static KrylovParts& of(KrylovSolver<S>& solver) { return *solver.parts_; }

  /// Makes the places that `count` of them lack; the loops for them are made again.
  void make_places(std::size_t count);
  /// Does what a solve of `systems` systems needs once.
  void begin(std::size_t systems);
  /// The part of it that does not depend on the method.
  void prepare();
  void await_kernels() {
    if (compiling.valid()) compiling.get();
  }
  /// Called by an observer: copies the x that its solve has reached to a field in the user's order.
  /// A method that keeps a basis has reached that of its last restart. Throws `Error`: usage
  /// outside of an observer, unsupported on a GPU and over other fields.
  void copy_iterate(const FieldView<S>& x) const;
  /// True if a solve of `systems` systems may begin from `image_of_guess`.
  bool has_image_of_guess(std::size_t systems) const {
    return systems == 1 && image_of_guess.data != nullptr && null_space.empty() &&
           inputs.options.baseline == Baseline::right_hand_side;
  }

  SolverInputs<S> inputs;
  std::future<void> compiling;  // compiles a kernel that the first solve needs
  SolverFields<S> fields{inputs};
  NullSpace<S> null_space{inputs};
  LoopCache<S> loops{inputs, fields, null_space};
  SpectralSteps<S> steps{inputs, fields, null_space};
  MethodSymmetry<S> symmetry{inputs, fields};
  EnqueuedSolves<S> enqueued{*this};
  FieldView<const S> image_of_guess;
  std::vector<std::vector<double>> histories{1};
  const HostSolve<S>* observed = nullptr;  // the solve whose observer is being called
  const InnerWatch* outer = nullptr;       // the watch of the solve that this one preconditions
};

}  // namespace heddle::detail
