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
  std::shared_ptr<QueuedProduct<S>> product;  // the operator that runs multiply by
  /// One run from the residual r of x, see `MethodLoop::capture_run`.
  std::function<void(const FieldView<S>& x, device::LoopState*, const Stream&)> capture;
  bool can_be_skipped = false;  // see `MethodLoop::can_be_skipped`
};

/// The parts that a solver provides. Fields have the operator's basis and layout.
template <class S>
struct SolveParts {
  std::shared_ptr<QueuedProduct<S>> product;  // for true residuals
  Preconditioner<S>* refreshed = nullptr;     // refreshed by each solve; null for none
  LoopPreconditioner<S> preconditioner;
  std::shared_ptr<Projection<S>> projection;  // null without a null space
  Device device;
  SolverOptions options;
  FieldView<const S> image;  // image of the guess, if the caller knows it; else without data
  FieldView<S> b;            // for the right-hand side
  FieldView<S> r;            // for b - A x
  FieldView<S> kept;         // for the best iterate that a run began from
  FieldView<S> scratch;
  bool needs_positive_matrix = false;
  bool continues_runs = false;                      // continues runs over a copy
  long long unwatched = device::usually_unwatched;  // for device::LoopLimits
  const double* given = nullptr;                    // given to runs, on the device; null for none
  std::shared_ptr<device::LoopWatch> watch;         // its flag cancels
  SolveRuns<S> runs;
  StoredScalar copy = StoredScalar::own;  // scalars that `runs` read, if those are a copy
  /// If `runs` read a copy of the matrix: runs over the matrix itself, for solves in which the copy
  /// fails.
  std::optional<SolveRuns<S>> runs_on_matrix;
};

/// A system in the caller's fields.
template <class S>
struct SolveTarget {
  FieldView<const S> b;
  FieldView<S> x;
  FieldView<S> own_x;  // x in the operator's basis and layout: x itself if it has them
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

  const LinearOperator<S>* iterated = nullptr;  // the operator that its runs read
};

/// Makes a watch in memory that host and device both read and write.
std::shared_ptr<device::LoopWatch> make_loop_watch(const Stream& stream);

template <class S>
std::shared_ptr<EnqueuedSolve<S>> make_enqueued_solve(SolveParts<S> parts);

/// The text of the `Error` in a capture without a preceding `prepare`.
inline constexpr const char* not_prepared =
    "enqueue: the stream is being captured, and nothing may be allocated then; call "
    "prepare_enqueue with the same fields, report and options before the capture";

}  // namespace heddle::cuda
