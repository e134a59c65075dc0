// The decisions of a solve that no host drives: what SolveControl does, as arithmetic on one struct
// in the device's memory. A test without a GPU runs it too.
#pragma once

#include <cmath>
#include <limits>

#include "../fields/random_factor.hpp"

#include "accuracy_limit.hpp"
#include "copy_gain.hpp"
#include "heddle/entries/annotations.hpp"
#include "heddle/kernels/loop_state.hpp"
#include "heddle/report.hpp"
#include "scale_range.hpp"

namespace heddle::cuda {

/// What the options ask for.
struct SolveGoal {
  double tolerance = 0;
  double absolute_tolerance = 0;
  Baseline baseline = Baseline::right_hand_side;
  long long max_iterations = 0;
  unsigned long long nanoseconds = 0;  // of the time limit
  bool has_time_limit = false;
  double epsilon = 0;  // of the scalars of fields
  double scalars = 0;  // of a field
  bool checks = true;
  detail::ScaleRange<double> range;  // of the scalars of fields
  long long room = 0;                // for |r|^2 of each iteration, one more for the guess
  bool keeps_all = false;            // of that history, also across runs
  bool has_copy = false;             // of the matrix, which runs read as long as it does
  long long unwatched = device::usually_unwatched;  // of a device::LoopLimits
};

struct SolveState {
  // Results of kernels over fields: the device fills them in before the decision that needs them.
  double squared_b;
  double largest_b;         // component
  double squared_residual;  // |b - A x|^2
  double p_q, squared_p, squared_image;
  double squared_rounding;  // |A D x|^2 with random D
  Index first_singular;

  // What the next kernels have to do; conditions of a graph are of type int.
  int out_of_range;  // the squares of b leave the range of a double, or b is zero or not finite
  int zero;          // b is: x = 0
  int scaled;        // b and x were multiplied by `scale`, and x has to be divided again
  int lost;          // x was, by that: x = 0
  int not_positive;  // p* A p was not: look at the direction
  int keep_iterate;  // x is the best one so far
  int take_kept;     // x is worse than that
  int in_doubt;      // x has not converged: what does rounding leave to gain?
  int end;           // of the solve
  int has_history;   // of this solve, the guess at least

  double scale, unscale;
  float scale_in_float, unscale_in_float;  // the same
  double squared_norm, baseline, target, best_norm, first_squared, kept_squared;
  unsigned long long deadline;
  long long iterations;
  double aim;  // the norm at which a run is over
  detail::CopyGain<double> gain;
  detail::AccuracyLimit<double> limit;
  double backward_error;
  bool on_copy;         // runs read a copy of the matrix
  bool failed_on_copy;  // which ended the solve, and says little about the matrix itself
  int restarts, fruitless;
  Status status;
  bool verify;       // the recurrence has come to its end, or so it says: b - A x decides
  Status otherwise;  // the status if that does not help
};

namespace decisions {

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

HEDDLE_INLINE bool is_finite(double value) { return value - value == 0; }

HEDDLE_INLINE void end_solve(SolveState& state, Status status) {
  state.status = status;
  state.end = 1;
}

/// Of a solve whose runs have begun.
HEDDLE_INLINE void end_runs(SolveState& state, Status status) {
  end_solve(state, status);
  state.failed_on_copy =
      state.on_copy && (status == Status::stagnated || status == Status::breakdown ||
                        status == Status::indefinite || status == Status::not_finite);
}

HEDDLE_INLINE void take_aim(SolveState& state) {
  const double least = state.limit.least();
  const double goal = state.target > least ? state.target : least;
  state.aim = state.on_copy ? state.gain.aim(goal, std::sqrt(state.squared_norm)) : goal;
}

HEDDLE_INLINE void begin(SolveState& state, const SolveGoal& goal, Index rows,
                         unsigned long long now) {
  state = SolveState{};
  state.first_singular = rows;
  state.scale = state.unscale = state.scale_in_float = state.unscale_in_float = 1;
  state.kept_squared = infinity;
  state.backward_error = not_a_number;
  state.on_copy = goal.has_copy;
  if (goal.has_time_limit) state.deadline = now + goal.nanoseconds;
}

/// After `squared_b`.
HEDDLE_INLINE void look_at_right_hand_side(SolveState& state, const SolveGoal& goal) {
  state.out_of_range = goal.range.holds(state.squared_b) ? 0 : 1;
}

/// After `largest_b`, if b is out of range: a power of two that brings that component near 1.
HEDDLE_INLINE void choose_scale(SolveState& state, const SolveGoal& goal) {
  if (!is_finite(state.largest_b) || !(state.largest_b > 0)) return;
  const double exponent = goal.range.exponent(state.largest_b);
  state.scale = std::exp2(-exponent);
  state.unscale = std::exp2(exponent);
  state.scale_in_float = static_cast<float>(state.scale);
  state.unscale_in_float = static_cast<float>(state.unscale);
  state.scaled = state.scale != 1 ? 1 : 0;
}

/// After `squared_b` of the scaled right-hand side.
HEDDLE_INLINE void look_at_scaled_right_hand_side(SolveState& state) {
  state.zero = state.squared_b == 0 ? 1 : 0;
  if (!is_finite(state.squared_b)) end_solve(state, Status::not_finite);
}

/// After `squared_residual` of the guess.
HEDDLE_INLINE void judge_guess(SolveState& state, const SolveGoal& goal, Index rows,
                               double* history, bool cancelled) {
  if (state.end != 0) {  // b is not finite: nothing can be said of x
    state.squared_residual = not_a_number;
    return;
  }
  state.squared_norm = state.first_squared = state.squared_residual;
  const double initial = std::sqrt(state.squared_residual);
  state.baseline =
      goal.baseline == Baseline::initial_residual ? initial : std::sqrt(state.squared_b);
  const double relative = goal.tolerance * state.baseline;
  const double absolute = goal.absolute_tolerance / state.unscale;
  state.target = absolute > relative ? absolute : relative;
  state.limit.begin(goal.checks ? goal.epsilon : 0, std::sqrt(state.squared_b));
  take_aim(state);
  state.best_norm = initial;
  state.kept_squared = state.squared_residual;
  state.keep_iterate = 1;
  history[0] = state.squared_residual;
  state.has_history = 1;
  if (!is_finite(initial)) return end_solve(state, Status::not_finite);
  if (initial <= state.target) return end_solve(state, Status::converged);
  if (state.first_singular < rows) return end_solve(state, Status::breakdown);
  if (goal.max_iterations == 0) return end_solve(state, Status::iteration_limit);
  if (cancelled) end_solve(state, Status::cancelled);
}

/// What a run from here may take. `history` has room for the guess and `goal.room` iterations.
HEDDLE_INLINE void begin_run(const SolveState& state, const SolveGoal& goal, double* history,
                             device::LoopWatch* watch, device::LoopState& run) {
  const double growth = 1 / (goal.epsilon * goal.epsilon);
  const long long before = goal.keeps_all ? state.iterations : 0;
  const long long left = goal.max_iterations - state.iterations;
  const long long room = goal.room - before;
  run = device::LoopState{};
  run.limits.target = state.aim * state.aim;
  run.limits.growth = state.first_squared * growth;
  run.limits.iterations = left < room ? left : room;
  run.limits.deadline = state.deadline;
  run.limits.unwatched = goal.unwatched;
  run.watch = watch;
  run.history = history + 1 + before;
  run.squared_norm = run.rho[0] = state.squared_norm;
}

/// After a run: `end` if nothing can follow, `not_positive` if the direction has to be looked at,
/// and what the true residual is to decide.
HEDDLE_INLINE void take_run(SolveState& state, const SolveGoal& goal,
                            const device::LoopState& run) {
  state.iterations += run.iteration;
  state.keep_iterate = state.take_kept = state.not_positive = 0;
  state.verify = false;
  state.otherwise = Status::stagnated;
  switch (run.end) {
    case device::loop_reached:
    case device::loop_grew:
      state.verify = true;
      return;
    case device::loop_not_finite:
      return end_runs(state, Status::not_finite);
    case device::loop_time:
      return end_runs(state, Status::time_limit);
    case device::loop_cancelled:
      return end_runs(state, Status::cancelled);
    default:
      break;
  }
  if (state.iterations >= goal.max_iterations) return end_runs(state, Status::iteration_limit);
  switch (run.end) {
    case device::loop_not_definite:
      return end_runs(state, Status::indefinite);
    case device::loop_not_positive:
      state.not_positive = 1;
      return;
    case device::loop_lost:
    case device::loop_orthogonal:
      state.verify = true;
      state.otherwise = Status::breakdown;
      return;
    default:  // the room for one run is used up
      return;
  }
}

/// After `p_q`, `squared_p`, and `squared_image` of a vector of ones and minus ones, where a run
/// found p* A p not to be positive.
HEDDLE_INLINE void judge_direction(SolveState& state, const SolveGoal& goal) {
  state.verify = true;
  if (state.p_q > 0) return;
  // Zero but for rounding: A is singular along p, which is no sign of a negative eigenvalue.
  const double rounding = 32 * goal.epsilon * state.squared_p;
  const double squared_factors = detail::mean_square_of_factors * goal.scalars;
  if (state.p_q < -rounding * std::sqrt(state.squared_image / squared_factors)) {
    state.verify = false;
    return end_runs(state, Status::indefinite);
  }
  state.otherwise = Status::breakdown;
}

/// After `squared_residual` of the x that a run left: whether the kept iterate is better. A run
/// that only came to the end of its room goes on from its own x.
HEDDLE_INLINE void choose_iterate(SolveState& state) {
  const bool goes_on = state.end == 0 && !state.verify;
  state.take_kept =
      !goes_on && is_finite(state.kept_squared) && !(state.squared_residual <= state.kept_squared)
          ? 1
          : 0;
}

/// After `squared_residual` of the x that was chosen: whether `squared_rounding` is needed.
HEDDLE_INLINE void look_at_iterate(SolveState& state, const SolveGoal& goal) {
  const double norm = std::sqrt(state.squared_residual);
  const bool denies = is_finite(norm) && norm > state.target;
  state.in_doubt = goal.checks && state.end == 0 && state.verify && denies ? 1 : 0;
}

/// After `squared_residual` of the x that was chosen, and where it is in doubt `squared_rounding`:
/// whether to begin again from there.
HEDDLE_INLINE void judge_iterate(SolveState& state, const SolveGoal& goal) {
  state.squared_norm = state.squared_residual;
  if (state.end != 0) {
    // A run on a copy aims below the target: where something else ended it, x may have arrived.
    const bool stopped = state.status == Status::iteration_limit ||
                         state.status == Status::time_limit || state.status == Status::cancelled;
    const bool arrived = std::sqrt(state.squared_residual) <= state.target;
    if (state.on_copy && stopped && arrived) state.status = Status::converged;
    return;
  }
  if (!state.verify) return;
  state.first_squared = state.squared_residual;
  if (state.squared_residual < state.kept_squared) {
    state.kept_squared = state.squared_residual;
    state.keep_iterate = 1;
  }
  const double norm = std::sqrt(state.squared_residual);
  if (!is_finite(norm)) return end_runs(state, Status::not_finite);
  if (norm <= state.target) return end_runs(state, Status::converged);
  state.fruitless = norm <= state.best_norm / 2 ? 0 : state.fruitless + 1;
  if (state.in_doubt != 0) {
    state.limit.learn(state.squared_rounding, detail::mean_square_of_factors);
    state.backward_error = state.limit.backward_error(norm);
  }
  const bool worthless =
      state.on_copy && detail::CopyGain<double>::is_worthless(norm, state.aim, state.best_norm);
  state.gain.learn(norm, state.best_norm);
  if (norm < state.best_norm) state.best_norm = norm;
  if (state.in_doubt != 0 &&
      state.limit.is_reached(norm, state.target, state.fruitless, !state.on_copy)) {
    return end_runs(state, Status::accuracy_limit);
  }
  if (state.fruitless >= 2 || worthless) return end_runs(state, state.otherwise);
  state.backward_error = not_a_number;  // x will be another
  ++state.restarts;
  take_aim(state);
  if (state.iterations >= goal.max_iterations) end_runs(state, Status::iteration_limit);
}

/// After the last run on a copy: whether the solve goes on with the matrix itself, from x, which is
/// the best iterate by then, and of which `squared_residual` is.
HEDDLE_INLINE void begin_on_matrix(SolveState& state, const SolveGoal& goal) {
  if (!state.failed_on_copy) return;
  state.on_copy = state.failed_on_copy = false;
  state.end = 0;
  state.fruitless = -1;  // no restart of the recurrence that is to run now
  state.verify = true;
  state.in_doubt = 0;
  state.backward_error = not_a_number;
  state.otherwise = Status::stagnated;
  judge_iterate(state, goal);
}

/// After `squared_residual` of an x that was divided by the scale, and multiplied again: what was
/// lost on the way.
HEDDLE_INLINE void judge_unscaled(SolveState& state) {
  if (!is_finite(state.squared_norm) || state.squared_residual == state.squared_norm) return;
  state.backward_error = not_a_number;
  state.lost = is_finite(state.squared_residual) ? 0 : 1;
  if (state.lost != 0) state.squared_residual = state.squared_b;
  const bool was_solved =
      state.status == Status::converged || state.status == Status::accuracy_limit;
  const bool is_solution = std::sqrt(state.squared_residual) <= state.target;
  if (state.lost != 0 || (was_solved && !is_solution)) state.status = Status::out_of_range;
}

HEDDLE_INLINE void report(const SolveState& state, Index rows, DeviceReport& to) {
  const double norm = std::sqrt(state.squared_residual);
  to.status = state.status;
  to.stored = state.on_copy ? StoredScalar::single : StoredScalar::own;
  to.restarts = state.restarts;
  to.iterations = state.iterations;
  to.residual = state.baseline > 0 ? norm / state.baseline : norm;
  to.residual_norm = norm * state.unscale;
  to.baseline_norm = state.baseline * state.unscale;
  to.target_norm = state.target * state.unscale;
  to.backward_error = state.backward_error;
  to.singular_row =
      state.status == Status::breakdown && state.first_singular < rows ? state.first_singular : -1;
}

}  // namespace decisions

}  // namespace heddle::cuda
