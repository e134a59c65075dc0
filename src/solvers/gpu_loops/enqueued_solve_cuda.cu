#include "enqueued_solve_cuda.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>

#include "base/cuda_call.hpp"
#include "base/device_cuda.hpp"
#include "captured_graph_cuda.hpp"
#include "fields/vector_operations_cuda.hpp"
#include "heddle/array.hpp"
#include "heddle/error.hpp"
#include "solve_kernels_cuda.cuh"

namespace heddle::cuda {

namespace {

template <class S, class U>
bool is_same_field(const FieldView<S>& a, const FieldView<U>& b) {
  return a.data == b.data && a.entry_stride == b.entry_stride &&
         a.component_stride == b.component_stride && a.basis == b.basis;
}

template <class S>
bool is_same(const SolveTarget<S>& a, const SolveTarget<S>& b) {
  return is_same_field(a.b, b.b) && is_same_field(a.x, b.x) && is_same_field(a.own_x, b.own_x) &&
         a.report == b.report;
}

bool is_natural(const std::shared_ptr<const Basis>& basis) { return !basis || basis->is_natural(); }
bool have_one_order(const std::shared_ptr<const Basis>& a, const std::shared_ptr<const Basis>& b) {
  return a == b || (is_natural(a) && is_natural(b));
}

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
        history_(static_cast<std::size_t>(goal_.history_capacity) + 1, device_) {
    const Offset partials =
        std::max(parts_.product->partials(1), 2 * partials_of<Ring::real>(FieldView<S>(parts_.r)));
    partials_ = Array<double>(static_cast<std::size_t>(std::max<Offset>(1, partials)), device_);
    parts_.product->prepare_residual();
    if (goal_.checks) parts_.product->prepare_dot();
    if (parts_.needs_positive_matrix) {
      parts_.runs.product->prepare_dot();
      if (parts_.runs_on_matrix) parts_.runs_on_matrix->product->prepare_dot();
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
    constexpr long long max_iterations_of_run = 1 << 18;
    const SolverOptions& options = parts.options;
    SolveGoal goal = heddle::detail::goal_of<S>(options, parts.r.scalars(), parts.copy);
    goal.has_time_limit = options.time_limit < longest;
    if (goal.has_time_limit) {
      goal.nanoseconds = static_cast<unsigned long long>(options.time_limit * 1e9);
    }
    goal.unwatched = parts.unwatched;
    goal.looks_at_direction = parts.needs_positive_matrix;
    goal.continues_runs = parts.continues_runs;
    if (!goal.keeps_all)
      goal.history_capacity = std::min(options.max_iterations, max_iterations_of_run);
    return goal;
  }

  void make_arrays(const std::shared_ptr<const Basis>& basis) const {
    if (is_natural(basis)) return;
    basis->positions_on(device_);
    basis->user_rows_on(device_);
  }

  DeviceSums sums_to(double* result) { return {partials_.data(), counters_.data(), result}; }

  bool lies_as(const FieldView<const S>& a, const FieldView<S>& b) const {
    return have_one_order(a.basis, b.basis) && a.entry_stride == b.entry_stride &&
           a.component_stride == b.component_stride;
  }

  /// Copies from one place of the GPU to another, in any order and layout.
  void queue_permutation(const FieldView<const S>& from, const FieldView<S>& to,
                         const Stream& stream) const {
    const bool same_order = have_one_order(from.basis, to.basis);
    cuda::permute<S>(from, same_order || !from.basis ? nullptr : from.basis->positions_on(device_),
                     to, same_order || !to.basis ? nullptr : to.basis->user_rows_on(device_), S(1),
                     stream);
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

  /// Captures a first run without nodes that cost as much as kernels, and one node for whatever
  /// follows.
  void capture(const SolveTarget<S>& target, const Stream& stream) {
    const OnGpu here(stream);
    const FieldView<S>& x = target.own_x;
    const bool in_place = is_same_field(x, target.x);
    const bool begins_with_run = parts_.r.size > 0 && parts_.runs.can_be_skipped;
    const bool by_image =
        begins_with_run && parts_.image.data != nullptr && lies_as(target.b, parts_.b);
    SolveArguments a = arguments_of(target);
    a.by_image = by_image;
    const bool refreshed = parts_.refreshed != nullptr;

    if (refreshed) {
      decide(forget_singular_rows, stream, a.state, a.rows);
      parts_.refreshed->queue_refresh(&a.state->first_singular, stream);
    }
    if (!in_place) queue_permutation(target.x, x, stream);
    if (by_image) {
      static_assert(offsetof(SolveState, squared_residual) ==
                    offsetof(SolveState, squared_b) + sizeof(double));
      cuda::copy_and_subtract<S>(target.b, parts_.b, parts_.image, parts_.r,
                                 sums_to(&state_.data()->squared_b), stream);
    } else {
      queue_right_hand_side(target.b, stream);
      queue_true_residual(x, stream);
    }
    const SetCondition begin = [&](const Stream& deciding, cudaGraphConditionalHandle is_not_over) {
      decide(begin_without_run, deciding, a, refreshed, is_not_over);
    };
    const SetCondition judge = [&](const Stream& deciding, cudaGraphConditionalHandle is_not_over) {
      decide(judge_first_round, deciding, a, is_not_over);
    };
    if (begins_with_run) {
      decide(begin_solve, stream, a, refreshed);
      queue_run(parts_.runs, x, stream);
    }
    capture_if(stream, begins_with_run ? judge : begin,
               [&](const Stream& body) { capture_rest(a, x, body); });
    if (in_place) return;
    queue_permutation(x, target.x, stream);
    decide(report_solve, stream, a);
  }

  SolveArguments arguments_of(const SolveTarget<S>& target) {
    return {state_.data(),   goal_,         parts_.r.size,
            history_.data(), parts_.given,  parts_.watch.get(),
            run_.data(),     target.report, is_same_field(target.own_x, target.x)};
  }

  /// b in the operator's basis, without its part in a null space, and |b|^2.
  void queue_right_hand_side(const FieldView<const S>& b, const Stream& stream) {
    double* const squared = &state_.data()->squared_b;
    if (lies_as(b, parts_.b) && parts_.projection == nullptr) {
      return cuda::copy_with_norm<S>(b, parts_.b, sums_to(squared), stream);
    }
    queue_permutation(b, parts_.b, stream);
    if (parts_.projection != nullptr) parts_.projection->queue(parts_.b, stream);
    queue_squared_norm(parts_.b, squared, stream);
  }

  /// A run from the guess or the last iterate, and its true residual. The run may make the iterate
  /// worse.
  void queue_run(const SolveRuns<S>& runs, const FieldView<S>& x, const Stream& stream) {
    cuda::copy_if<S>(&state_.data()->keep_iterate, x, parts_.kept, stream);
    runs.capture(x, run_.data(), stream);
    queue_true_residual(x, stream);
  }

  /// The steps of solve_walk.hpp that are captured on `stream`. Decisions are kernels of one
  /// thread.
  struct Steps {
    using Sum = double;
    GraphSolve& solve;
    const FieldView<S>& x;
    QueuedProduct<S>& product;  // with the matrix of runs
    const Stream& stream;

    SolveState* state() const { return solve.state_.data(); }
    template <Decision decision>
    void decide() {
      cuda::decide(take_decision_of_walk<decision>, stream, state(), solve.goal_);
    }
    template <class Body>
    void when(int SolveState::* question, const Body& body) {
      if (question == &SolveState::not_positive && !solve.parts_.needs_positive_matrix) return;
      if (question == &SolveState::in_doubt && !solve.goal_.checks) return;
      capture_if(stream, &(state()->*question), [&](const Stream& of_body) {
        Steps steps{solve, x, product, of_body};
        body(steps);
      });
    }
    void renew_residual() { solve.queue_true_residual(x, stream); }
    void find_largest() {
      cuda::largest_magnitude<S>(solve.parts_.b, solve.sums_to(&state()->largest_b), stream);
    }
    void scale_right_hand_side() {
      solve.queue_scaling(solve.parts_.b, stream);
      solve.queue_scaling(x, stream);
      solve.queue_squared_norm(solve.parts_.b, &state()->squared_b, stream);
    }
    void look_at_direction() {
      solve.capture_look_at_direction(product, stream);
      renew_residual();
    }
    static bool takes_earlier_iterate() { return false; }
    void take_kept() {
      cuda::copy<S>(solve.parts_.kept, x, stream);
      renew_residual();
    }
    void look_at_rounding() { solve.capture_look_at_rounding(x, stream); }
    void unscale_solution() {
      const FieldView<S>& kept = solve.parts_.kept;
      solve.queue_unscaling(x, stream);
      cuda::copy<S>(x, kept, stream);
      solve.queue_scaling(kept, stream);
      solve.queue_true_residual(kept, stream);
    }
    void forget_solution() {
      cuda::fill<S>(Operand<S>(S(0)), x, stream);
      cuda::copy<S>(solve.parts_.b, solve.parts_.r, stream);
    }
    void unscale_residual() { solve.queue_unscaling(solve.parts_.r, stream); }
  };

  void capture_rest(const SolveArguments& a, const FieldView<S>& x, const Stream& stream) {
    Steps steps{*this, x, *parts_.runs.product, stream};
    steps.when(&SolveState::out_of_range, [&](Steps& of_b) {
      walk::scale(of_b);
      of_b.when(&SolveState::zero,
                [](Steps& zero) { cuda::fill<S>(Operand<S>(S(0)), zero.x, zero.stream); });
      of_b.renew_residual();
      decide(judge_guess, of_b.stream, a);
    });
    if (a.rows > 0) {
      steps.when(&SolveState::in_question, [](Steps& of_run) { walk::judge_run(of_run); });
      capture_rounds(a, parts_.runs, x, stream);
      if (parts_.runs_on_matrix) {
        decide(begin_on_matrix, stream, a.state, goal_);
        capture_rounds(a, *parts_.runs_on_matrix, x, stream);
      }
    }
    steps.when(&SolveState::scaled, [](Steps& of_x) { walk::unscale(of_x); });
    if (a.reports_at_once) decide(report_solve, stream, a);
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

  /// Runs until the solve has ended.
  void capture_rounds(const SolveArguments& a, const SolveRuns<S>& runs, const FieldView<S>& x,
                      const Stream& stream) {
    const SetCondition begin = [&](const Stream& deciding, cudaGraphConditionalHandle goes_on) {
      decide(begin_round, deciding, a, goes_on);
    };
    const SetCondition judge = [&](const Stream& deciding, cudaGraphConditionalHandle in_question) {
      decide(judge_round, deciding, a, in_question);
    };
    capture_while(stream, begin, begin, [&](const Stream& body) {
      queue_run(runs, x, body);
      capture_if(body, judge, [&](const Stream& of_run) {
        Steps steps{*this, x, *runs.product, of_run};
        walk::judge_run(steps);
      });
    });
  }

  /// Computes |A D x|^2, and again the true residual, whose place A D x took.
  void capture_look_at_rounding(const FieldView<S>& x, const Stream& stream) {
    SolveState* const state = state_.data();
    cuda::copy<S>(x, parts_.scratch, stream);
    cuda::randomize<S>(parts_.scratch, 1, stream);
    parts_.product->apply_dot(parts_.scratch, parts_.r, sums_to(&state->squared_rounding),
                              counters_.data() + 1, stream);
    queue_squared_norm(parts_.r, &state->squared_rounding, stream);
    queue_true_residual(x, stream);
    cuda::dot<Ring::real, S>(x, parts_.b, sums_to(&state->growth.x_b), stream);
    queue_squared_norm(x, &state->growth.x_x, stream);
  }

  /// Looks along M^-1 r, where the next run would begin. r is free.
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
  }

  SolveParts<S> parts_;
  Device device_;
  SolveGoal goal_;
  Array<SolveState> state_;
  Array<device::LoopState> run_;
  Array<unsigned> counters_;  // for the sums; two for a dynamic schedule
  Array<double> partials_;
  Array<double> history_;  // |r|^2 of the guess and of each iteration
  std::optional<SolveTarget<S>> ready_;
  std::optional<CapturedGraph> graph_;
};

}  // namespace

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
