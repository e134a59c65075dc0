#include "enqueued_solve_cuda.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "base/cuda_call.hpp"
#include "captured_graph_cuda.hpp"
#include "fields/vector_operations_cuda.hpp"
#include "heddle/array.hpp"
#include "heddle/error.hpp"
#include "heddle/kernels/loop.cuh"
#include "solve_decisions.hpp"

namespace heddle::cuda {

namespace {

namespace decisions = heddle::detail::decisions;
using SolveGoal = heddle::detail::SolveGoal<double>;
using SolveState = heddle::detail::SolveState<double>;

// The decisions, by one thread each, between the kernels over fields.

__global__ void begin_solve(SolveState* state, SolveGoal goal, Index rows) {
  decisions::begin(*state, goal, rows, device::nanoseconds());
}
__global__ void look_at_right_hand_side(SolveState* state, SolveGoal goal) {
  decisions::look_at_right_hand_side(*state, goal);
}
__global__ void choose_scale(SolveState* state, SolveGoal goal) {
  decisions::choose_scale(*state, goal);
}
__global__ void look_at_scaled_right_hand_side(SolveState* state) {
  decisions::look_at_scaled_right_hand_side(*state);
}
__global__ void judge_guess(SolveState* state, SolveGoal goal, Index rows, double* history,
                            const device::LoopWatch* watch) {
  decisions::judge_guess(*state, goal, rows, history, watch->cancel != 0);
}
__global__ void begin_run(const SolveState* state, SolveGoal goal, double* history,
                          const double* given, device::LoopWatch* watch, device::LoopState* run) {
  decisions::begin_run(*state, goal, history, watch, *run);
  if (given != nullptr) run->give(given);
}
__global__ void take_run(SolveState* state, SolveGoal goal, const device::LoopState* run) {
  decisions::take_run(*state, goal, run->end, run->iteration);
}
__global__ void judge_direction(SolveState* state, SolveGoal goal) {
  decisions::judge_direction(*state, goal);
}
__global__ void choose_iterate(SolveState* state) { decisions::choose_iterate(*state); }
__global__ void look_at_iterate(SolveState* state, SolveGoal goal) {
  decisions::look_at_iterate(*state, goal);
}
__global__ void judge_iterate(SolveState* state, SolveGoal goal) {
  decisions::judge_iterate(*state, goal);
}
__global__ void begin_on_matrix(SolveState* state, SolveGoal goal) {
  decisions::begin_on_matrix(*state, goal);
}
__global__ void judge_unscaled(SolveState* state) { decisions::judge_unscaled(*state); }
__global__ void report_solve(const SolveState* state, Index rows, device::LoopWatch* watch,
                             DeviceReport* report) {
  watch->cancel = 0;
  decisions::report(*state, rows, *report);
}

template <class... Parameters, class... Arguments>
void decide(void (*decision)(Parameters...), const Stream& stream, const Arguments&... arguments) {
  decision<<<1, 1, 0, stream.queue>>>(arguments...);
  check(cudaGetLastError(), "the launch of a decision");
}

template <class S, class U>
bool lie_alike(const FieldView<S>& a, const FieldView<U>& b) {
  return a.data == b.data && a.entry_stride == b.entry_stride &&
         a.component_stride == b.component_stride && a.basis == b.basis;
}

template <class S>
bool is_same(const SolveTarget<S>& a, const SolveTarget<S>& b) {
  return lie_alike(a.b, b.b) && lie_alike(a.x, b.x) && lie_alike(a.own_x, b.own_x) &&
         a.report == b.report;
}

bool is_natural(const std::shared_ptr<const Basis>& basis) { return !basis || basis->is_natural(); }

template <class S>
class GraphSolve final : public EnqueuedSolve<S> {
 public:
  explicit GraphSolve(SolveParts<S> parts)
      : parts_(std::move(parts)),
        device_(parts_.device),
        goal_(goal_of(parts_)),
        state_(1, device_),
        run_(1, device_),
        counters_(3, device_),
        history_(static_cast<std::size_t>(goal_.room) + 1, device_) {
    const Offset room =
        std::max(parts_.product->partials(1), partials_of<Ring::real>(FieldView<S>(parts_.r)));
    partials_ = Array<double>(static_cast<std::size_t>(std::max<Offset>(1, room)), device_);
    parts_.product->prepare_checks(goal_.checks);
    if (parts_.needs_positive_matrix) {
      parts_.runs.product->prepare_checks(true);
      if (parts_.runs_on_matrix) parts_.runs_on_matrix->product->prepare_checks(true);
    }
  }

  void prepare(const SolveTarget<S>& target) override {
    if (graph_ && is_same(*ready_, target)) return;
    // Arrays of a basis that are made at its first use are made before the capture.
    make_arrays(target.b.basis);
    make_arrays(target.x.basis);
    make_arrays(parts_.r.basis);
    ready_ = target;
    graph_.emplace(device_, [&](const Stream& capturing) { capture(target, capturing); });
  }

  void enqueue(const SolveTarget<S>& target) override {
    const Stream& stream = device_.stream();
    if (!is_being_captured(stream)) {
      prepare(target);
      return graph_->launch(stream);
    }
    if (!graph_ || !is_same(*ready_, target)) {
      throw Error(ErrorKind::usage, not_prepared);
    }
    capture(target, stream);
  }

  std::vector<double> history() const override {
    const SolveState state = state_.to_host()[0];
    const bool has_residuals = goal_.keeps_all && state.has_history;
    std::vector<double> residuals(has_residuals ? static_cast<std::size_t>(state.iterations) + 1
                                                : 0);
    detail::copy_bytes(residuals.data(), history_.data(), residuals.size() * sizeof(double),
                       device_.stream());
    for (double& residual : residuals) {
      residual = std::sqrt(residual) / (state.baseline > 0 ? state.baseline : 1);
    }
    return residuals;
  }

 private:
  static SolveGoal goal_of(const SolveParts<S>& parts) {
    constexpr double longest = 1e9;  // seconds; beyond it there is no limit
    constexpr long long room_of_run = 1 << 18;
    const SolverOptions& options = parts.options;
    SolveGoal goal =
        heddle::detail::goal_of<S>(options, parts.r.scalars(), parts.runs_on_matrix.has_value());
    goal.has_time_limit = options.time_limit < longest;
    if (goal.has_time_limit) {
      goal.nanoseconds = static_cast<unsigned long long>(options.time_limit * 1e9);
    }
    goal.unwatched = parts.unwatched;
    goal.looks_at_direction = parts.needs_positive_matrix;
    if (!goal.keeps_all) goal.room = std::min(options.max_iterations, room_of_run);
    return goal;
  }

  void make_arrays(const std::shared_ptr<const Basis>& basis) const {
    if (is_natural(basis)) return;
    basis->positions_on(device_);
    basis->user_rows_on(device_);
  }

  DeviceSums sums_to(double* result) { return {partials_.data(), counters_.data(), result}; }

  /// From one place of the GPU to another, in any order and layout.
  void queue_permutation(const FieldView<const S>& from, const FieldView<S>& to,
                         const Stream& stream) const {
    const bool alike = from.basis == to.basis || (is_natural(from.basis) && is_natural(to.basis));
    cuda::permute<S>(from, alike || !from.basis ? nullptr : from.basis->positions_on(device_), to,
                     alike || !to.basis ? nullptr : to.basis->user_rows_on(device_), S(1), stream);
  }

  /// r = b - A x, without its part in a null space.
  void queue_true_residual(const FieldView<S>& x, const Stream& stream) {
    double* const squared = &state_.data()->squared_residual;
    parts_.product->residual(parts_.b, x, parts_.r, sums_to(squared), counters_.data() + 1, stream);
    if (parts_.projection == nullptr) return;
    parts_.projection->queue(parts_.r, stream);
    queue_squared_norm(parts_.r, squared, stream);
  }

  void queue_squared_norm(const FieldView<S>& field, double* result, const Stream& stream) {
    cuda::dot<Ring::real, S>(field, field, sums_to(result), stream);
  }

  void capture(const SolveTarget<S>& target, const Stream& stream) {
    const OnGpu here(stream);
    SolveState* const state = state_.data();
    const Index rows = parts_.r.size;
    const FieldView<S>& x = target.own_x;
    const bool in_place = lie_alike(x, target.x);

    decide(begin_solve, stream, state, goal_, rows);
    if (parts_.refreshed != nullptr) {
      parts_.refreshed->queue_refresh(&state->first_singular, stream);
    }
    queue_permutation(target.b, parts_.b, stream);
    if (parts_.projection != nullptr) parts_.projection->queue(parts_.b, stream);
    if (!in_place) queue_permutation(target.x, x, stream);
    queue_squared_norm(parts_.b, &state->squared_b, stream);
    decide(look_at_right_hand_side, stream, state, goal_);
    capture_if(stream, &state->out_of_range, [&](const Stream& body) { capture_scaling(x, body); });
    queue_true_residual(x, stream);
    decide(judge_guess, stream, state, goal_, rows, history_.data(), parts_.watch.get());
    if (rows > 0) {
      capture_rounds(parts_.runs, x, stream);
      if (parts_.runs_on_matrix) {
        decide(begin_on_matrix, stream, state, goal_);
        capture_rounds(*parts_.runs_on_matrix, x, stream);
      }
    }
    capture_if(stream, &state->scaled, [&](const Stream& body) { capture_unscaling(x, body); });
    if (!in_place) queue_permutation(x, target.x, stream);
    decide(report_solve, stream, state, rows, parts_.watch.get(), target.report);
  }

  void capture_scaling(const FieldView<S>& x, const Stream& stream) {
    SolveState* const state = state_.data();
    cuda::largest_magnitude<S>(parts_.b, sums_to(&state->largest_b), stream);
    decide(choose_scale, stream, state, goal_);
    queue_scaling(parts_.b, stream);
    queue_scaling(x, stream);
    queue_squared_norm(parts_.b, &state->squared_b, stream);
    decide(look_at_scaled_right_hand_side, stream, state);
    capture_if(stream, &state->zero,
               [&](const Stream& body) { cuda::fill<S>(Operand<S>(S(0)), x, body); });
  }

  void queue_scaling(const FieldView<S>& field, const Stream& stream) {
    const SolveState* const state = state_.data();
    if constexpr (std::is_same_v<S, float>) {
      cuda::scale<S>(Operand<S>(&state->scale_in_float), field, stream);
    } else {
      cuda::scale<S>(Operand<S>(&state->scale), field, stream);
    }
  }
  void queue_unscaling(const FieldView<S>& field, const Stream& stream) {
    const SolveState* const state = state_.data();
    if constexpr (std::is_same_v<S, float>) {
      cuda::scale<S>(Operand<S>(&state->unscale_in_float), field, stream);
    } else {
      cuda::scale<S>(Operand<S>(&state->unscale), field, stream);
    }
  }

  /// x in the caller's scale, and what was lost on the way.
  void capture_unscaling(const FieldView<S>& x, const Stream& stream) {
    SolveState* const state = state_.data();
    queue_unscaling(x, stream);
    cuda::copy<S>(x, parts_.kept, stream);
    queue_scaling(parts_.kept, stream);
    queue_true_residual(parts_.kept, stream);
    decide(judge_unscaled, stream, state);
    capture_if(stream, &state->lost,
               [&](const Stream& body) { cuda::fill<S>(Operand<S>(S(0)), x, body); });
  }

  /// Runs until the solve has ended.
  void capture_rounds(const SolveRuns<S>& runs, const FieldView<S>& x, const Stream& stream) {
    capture_while_any_is_zero(stream, {&state_.data()->end},
                              [&](const Stream& body) { capture_round(runs, x, body); });
  }

  /// A run, and what its x is worth.
  void capture_round(const SolveRuns<S>& runs, const FieldView<S>& x, const Stream& stream) {
    SolveState* const state = state_.data();
    device::LoopState* const run = run_.data();
    capture_if(stream, &state->keep_iterate,
               [&](const Stream& body) { cuda::copy<S>(x, parts_.kept, body); });
    decide(begin_run, stream, state, goal_, history_.data(), parts_.given, parts_.watch.get(), run);
    runs.capture(x, run, stream);
    decide(take_run, stream, state, goal_, run);
    if (parts_.needs_positive_matrix) {
      capture_if(stream, &state->not_positive,
                 [&](const Stream& body) { capture_look_at_direction(*runs.product, body); });
    }
    queue_true_residual(x, stream);
    decide(choose_iterate, stream, state);
    capture_if(stream, &state->take_kept, [&](const Stream& body) {
      cuda::copy<S>(parts_.kept, x, body);
      queue_true_residual(x, body);
    });
    decide(look_at_iterate, stream, state, goal_);
    if (goal_.checks) {
      capture_if(stream, &state->in_doubt,
                 [&](const Stream& body) { capture_look_at_rounding(x, body); });
    }
    decide(judge_iterate, stream, state, goal_);
  }

  /// |A D x|^2, and the true residual again, in whose place A D x was.
  void capture_look_at_rounding(const FieldView<S>& x, const Stream& stream) {
    SolveState* const state = state_.data();
    cuda::copy<S>(x, parts_.scratch, stream);
    cuda::randomize<S>(parts_.scratch, 1, stream);
    parts_.product->apply_dot(parts_.scratch, parts_.r, sums_to(&state->squared_rounding),
                              counters_.data() + 1, stream);
    queue_squared_norm(parts_.r, &state->squared_rounding, stream);
    queue_true_residual(x, stream);
  }

  /// Along M^-1 r, where the next run would begin. r is free: the true residual follows.
  void capture_look_at_direction(QueuedProduct<S>& product, const Stream& stream) {
    SolveState* const state = state_.data();
    const FieldView<S>&p = parts_.scratch, &q = parts_.r;
    if (parts_.preconditioner.rows != nullptr) {
      parts_.preconditioner.rows->apply(q.data, p.data, stream, nullptr, false);
    } else if (parts_.preconditioner.queue) {
      parts_.preconditioner.queue(q, p, stream);
    } else {
      cuda::copy<S>(q, p, stream);
    }
    const auto multiply = [&](double* result) {
      product.apply_dot(p, q, sums_to(result), counters_.data() + 1, stream);
    };
    multiply(&state->p_q);
    queue_squared_norm(p, &state->squared_p, stream);
    // |A v| / |v| for v without pattern estimates |A|; v* A v is of no use.
    cuda::fill<S>(Operand<S>(S(1)), p, stream);
    cuda::randomize<S>(p, 1, stream);
    multiply(&state->squared_image);
    queue_squared_norm(q, &state->squared_image, stream);
    decide(judge_direction, stream, state, goal_);
  }

  SolveParts<S> parts_;
  Device device_;
  SolveGoal goal_;
  Array<SolveState> state_;
  Array<device::LoopState> run_;
  Array<unsigned> counters_;  // of the sums; two of a dynamic schedule
  Array<double> partials_;
  Array<double> history_;  // |r|^2 of the guess and of each iteration
  std::optional<SolveTarget<S>> ready_;
  std::optional<CapturedGraph> graph_;
};

}  // namespace

bool is_being_captured(const Stream& stream) {
  const OnGpu here(stream);
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  check(cudaStreamIsCapturing(stream.queue, &status), "cudaStreamIsCapturing");
  return status != cudaStreamCaptureStatusNone;
}

std::shared_ptr<device::LoopWatch> make_loop_watch(const Stream& stream) {
  auto watch = std::make_shared<Mapped<device::LoopWatch>>(stream);
  return {watch, watch->get()};
}

template <class S>
std::shared_ptr<EnqueuedSolve<S>> make_enqueued_solve(SolveParts<S> parts) {
  return std::make_shared<GraphSolve<S>>(std::move(parts));
}
template std::shared_ptr<EnqueuedSolve<float>> make_enqueued_solve(SolveParts<float>);
template std::shared_ptr<EnqueuedSolve<double>> make_enqueued_solve(SolveParts<double>);

}  // namespace heddle::cuda
