// The decisions of a solve that no host drives (solve_decisions.hpp), by one thread each, between
// the kernels over fields. In ordinary cases one kernel takes all decisions between two such
// kernels; otherwise it sets the condition of a node that goes through them one by one.
#pragma once

#include "base/cuda_call.hpp"
#include "heddle/kernels/loop.cuh"
#include "heddle/report.hpp"
#include "solvers/stopping/known_image.hpp"
#include "solvers/stopping/solve_walk.hpp"

namespace heddle::cuda {

namespace {

namespace decisions = heddle::detail::decisions;
namespace walk = heddle::detail::walk;
using heddle::detail::Decision;
using SolveGoal = heddle::detail::SolveGoal<double>;
using SolveState = heddle::detail::SolveState<double>;

/// The data that they read and write, on the device.
struct SolveArguments {
  SolveState* state;
  SolveGoal goal;
  Index rows;
  double* history;
  const double* given;  // given to runs; null for none
  device::LoopWatch* watch;
  device::LoopState* run;
  DeviceReport* report;
  bool reports_at_once;   // else something follows the solve
  bool by_image = false;  // the residual of the guess is not from a product
};

__device__ void set(cudaGraphConditionalHandle condition, bool is_met) {
  cudaGraphSetConditional(condition, is_met ? 1 : 0);
}

__global__ void forget_singular_rows(SolveState* state, Index rows) {
  state->first_singular = rows;
}

__device__ void begin_run(const SolveArguments& a) {
  decisions::begin_run(*a.state, a.goal, a.history, a.watch, *a.run);
  if (a.given != nullptr) a.run->give(a.given);
  if (a.state->end != 0 || a.state->out_of_range != 0) a.run->skip();
}
__device__ void write_report(const SolveArguments& a) {
  a.watch->cancel = 0;
  decisions::report(*a.state, a.rows, *a.report);
}
/// True if more is to be done than the first run; else the solve is over.
__device__ bool goes_on(const SolveState& state) {
  return state.end == 0 || state.out_of_range != 0 || state.in_question != 0 ||
         state.failed_on_copy;
}
__device__ void conclude(const SolveArguments& a, cudaGraphConditionalHandle is_not_over) {
  const bool rest = goes_on(*a.state);
  set(is_not_over, rest);
  if (!rest && a.reports_at_once) write_report(a);
}

/// Called after |b|^2 and the residual of the guess, which is meaningless if b is out of range. If
/// something was `refreshed`, its first singular row is there too.
__device__ void begin(const SolveArguments& a, bool refreshed) {
  SolveState& state = *a.state;
  const SolveState before = state;
  decisions::begin(state, a.goal, a.rows, device::nanoseconds());
  state.squared_b = before.squared_b;
  state.squared_residual = before.squared_residual;
  if (refreshed) state.first_singular = before.first_singular;
  decisions::look_at_right_hand_side(state, a.goal);
  if (state.out_of_range == 0) {
    decisions::judge_guess(state, a.goal, a.rows, a.history, a.watch->cancel != 0);
    if (a.by_image) decisions::forget_guess(state);
  }
}
/// Called before a run, which is skipped if the solve is over.
__global__ void begin_solve(SolveArguments a, bool refreshed) {
  begin(a, refreshed);
  begin_run(a);
}
/// Called if a run could not be skipped.
__global__ void begin_without_run(SolveArguments a, bool refreshed,
                                  cudaGraphConditionalHandle is_not_over) {
  begin(a, refreshed);
  conclude(a, is_not_over);
}
template <Decision decision>
__global__ void take_decision_of_walk(SolveState* state, SolveGoal goal) {
  heddle::detail::take_decision<decision>(*state, goal);
}
/// Called once b was scaled.
__global__ void judge_guess(SolveArguments a) {
  a.state->out_of_range = 0;
  decisions::judge_guess(*a.state, a.goal, a.rows, a.history, a.watch->cancel != 0);
}
__global__ void begin_round(SolveArguments a, cudaGraphConditionalHandle goes_on) {
  set(goes_on, a.state->end == 0);
  if (a.state->end == 0) begin_run(a);
}

/// Called after a run and its true residual.
__device__ void judge_run(const SolveArguments& a) {
  SolveState& state = *a.state;
  int end = a.run->end;
  // Runs that continue one another may be too short to look at the clock themselves.
  if (a.goal.continues_runs && end == device::loop_reached) {
    const int wish = device::requested_end(*a.run, a.run->limits.deadline, 0);
    if (wish != device::loop_runs) end = wish;
  }
  decisions::take_run(state, a.goal, end, a.run->iteration);
  state.in_question = state.not_positive;
  if (state.in_question == 0) {
    decisions::choose_iterate(state);
    state.in_question = state.take_kept;
  }
  if (state.in_question == 0) {
    decisions::look_at_iterate(state, a.goal);
    state.in_question = state.in_doubt;
  }
  if (state.in_question == 0) decisions::judge_iterate(state, a.goal);
}
/// Judges a run that may have been skipped; the true residual is then that of the guess.
__global__ void judge_first_round(SolveArguments a, cudaGraphConditionalHandle is_not_over) {
  if (a.state->end == 0 && a.state->out_of_range == 0) {
    judge_run(a);
  } else if (a.by_image && decisions::ended_by_image(*a.state)) {
    decisions::judge_guess_again(*a.state, a.goal, a.rows, a.history);
  }
  conclude(a, is_not_over);
}
__global__ void judge_round(SolveArguments a, cudaGraphConditionalHandle is_in_question) {
  judge_run(a);
  set(is_in_question, a.state->in_question != 0);
}
__global__ void begin_on_matrix(SolveState* state, SolveGoal goal) {
  decisions::begin_on_matrix(*state, goal);
}
__global__ void report_solve(SolveArguments a) { write_report(a); }

template <class... Parameters, class... Arguments>
void decide(void (*decision)(Parameters...), const Stream& stream, const Arguments&... arguments) {
  decision<<<1, 1, 0, stream.queue>>>(arguments...);
  check(cudaGetLastError(), "the launch of a decision");
}

}  // namespace

}  // namespace heddle::cuda
