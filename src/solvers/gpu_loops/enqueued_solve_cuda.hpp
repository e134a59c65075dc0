// A whole solve as one CUDA graph: the host only launches it, or makes it part of a caller's graph.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "heddle/detail/product_cuda.hpp"
#include "heddle/kernels/loop_state.hpp"
#include "heddle/report.hpp"
#include "loop_preconditioner.hpp"
#include "projection_cuda.hpp"
#include "queued_product_cuda.hpp"

namespace heddle::cuda {

/// Runs of the method over one form of the matrix.
template <class S>
struct SolveRuns {
  std::shared_ptr<QueuedProduct<S>> product;  // what they multiply by
  /// One run from the residual r of x, see `MethodLoop::capture_run`.
  std::function<void(const FieldView<S>& x, device::LoopState*, const Stream&)> capture;
  bool can_be_skipped = false;  // see `MethodLoop::can_be_skipped`
};

/// What a solver brings along. Fields are of the operator's basis and layout.
template <class S>
struct SolveParts {
  std::shared_ptr<QueuedProduct<S>> product;  // of true residuals
  Preconditioner<S>* refreshed = nullptr;     // by each solve; null for none
  LoopPreconditioner<S> preconditioner;
  std::shared_ptr<Projection<S>> projection;  // null without a null space
  Device device;
  SolverOptions options;
  FieldView<const S> image;  // of the guess, where the caller knows it; else without data
  FieldView<S> b;            // for the right-hand side
  FieldView<S> r;            // for b - A x
  FieldView<S> kept;         // for the best iterate that a run began from
  FieldView<S> scratch;
  bool needs_positive_matrix = false;
  bool continues_runs = false;                      // those over a copy
  long long unwatched = device::usually_unwatched;  // of a device::LoopLimits
  const double* given = nullptr;                    // to runs, on the device; null for none
  std::shared_ptr<device::LoopWatch> watch;         // its flag cancels
  SolveRuns<S> runs;
  StoredScalar copy = StoredScalar::own;  // what `runs` read, where that is a copy
  /// Where `runs` read a copy of the matrix: over the matrix itself, for solves that the copy
  /// fails.
  std::optional<SolveRuns<S>> runs_on_matrix;
};

/// A system where the caller has it.
template <class S>
struct SolveTarget {
  FieldView<const S> b;
  FieldView<S> x;
  FieldView<S> own_x;  // x in the operator's basis and layout: x itself where it is
  DeviceReport* report = nullptr;
};

template <class S>
class EnqueuedSolve {
 public:
  virtual ~EnqueuedSolve() = default;

  /// Captures and instantiates the solve of `target`, unless it is the one that is ready.
  virtual void prepare(const SolveTarget<S>& target) = 0;
  /// Launches what was prepared; during a capture of the device's stream, queues its nodes there.
  /// Throws `Error` (usage) in a capture for another target than the one that is ready.
  virtual void enqueue(const SolveTarget<S>& target) = 0;
  /// Relative residuals of the last solve; waits for the stream.
  virtual std::vector<double> history() const = 0;

  const LinearOperator<S>* iterated = nullptr;  // what its runs read
};

/// In memory that host and device both read and write.
std::shared_ptr<device::LoopWatch> make_loop_watch(const Stream& stream);

template <class S>
std::shared_ptr<EnqueuedSolve<S>> make_enqueued_solve(SolveParts<S> parts);

/// Of the `Error` in a capture that came without.
inline constexpr const char* not_prepared =
    "enqueue: the stream is being captured, and nothing may be allocated then; call "
    "prepare_enqueue with the same fields, report and options before the capture";

}  // namespace heddle::cuda
