// The decisions of a solve, as arithmetic on one struct. They are driven by the host
// (host_solve.hpp), or by one-thread kernels between those over fields (solve_kernels_cuda.cuh).
#pragma once

#include <cmath>
#include <limits>

#include "fields/random_factor.hpp"
#include "heddle/entries/annotations.hpp"
#include "heddle/kernels/loop_state.hpp"
#include "heddle/methods/judge.hpp"
#include "heddle/report.hpp"
#include "solve_goal.hpp"
#include "solve_state.hpp"

namespace heddle::detail {

namespace decisions {
template <class T>
inline constexpr T infinity = std::numeric_limits<T>::infinity();
template <class T>
inline constexpr T not_a_number = std::numeric_limits<T>::quiet_NaN();

using methods::is_finite;

template <class T>
HEDDLE_INLINE void end_solve(SolveState<T>& state, Status status) {
  state.status = status;
  state.end = 1;
}

/// Ends a solve whose runs have begun.
template <class T>
HEDDLE_INLINE void end_runs(SolveState<T>& state, Status status) {
  end_solve(state, status);
  state.failed_on_copy =
      state.on_copy && (status == Status::stagnated || status == Status::breakdown ||
                        status == Status::indefinite || status == Status::not_finite);
}

template <class T>
HEDDLE_INLINE void take_aim(SolveState<T>& state) {
  const T least = state.limit.least();
  const T goal = state.target > least ? state.target : least;
  state.aim = state.on_copy ? state.gain.aim(goal, std::sqrt(state.squared_norm)) : goal;
}

/// `own`: the matrix itself.
template <class T>
HEDDLE_INLINE void read_copy(SolveState<T>& state, const SolveGoal<T>& goal, StoredScalar kept) {
  state.on_copy = kept != StoredScalar::own;
  state.copy = kept;
  state.gain = CopyGain<T>(kept, goal.continues_runs);
}

template <class T>
HEDDLE_INLINE void begin(SolveState<T>& state, const SolveGoal<T>& goal, Index rows,
                         unsigned long long now) {
  state = SolveState<T>{};
  state.first_singular = rows;
  state.scale = state.unscale = state.scale_in_float = state.unscale_in_float = 1;
  state.kept_squared = infinity<T>;
  state.backward_error = not_a_number<T>;
  state.returned = Returned::guess;
  state.keeps_best = goal.keeps_best;
  read_copy(state, goal, goal.copy);
  if (goal.has_time_limit) state.deadline = now + goal.nanoseconds;
}

/// After `squared_b`.
template <class T>
HEDDLE_INLINE void look_at_right_hand_side(SolveState<T>& state, const SolveGoal<T>& goal) {
  state.out_of_range = goal.range.holds(state.squared_b) ? 0 : 1;
}

/// After `largest_b`, if b is out of range: chooses a power of two that brings that component near
/// 1.
template <class T>
HEDDLE_INLINE void choose_scale(SolveState<T>& state, const SolveGoal<T>& goal) {
  if (!is_finite(state.largest_b) || !(state.largest_b > 0)) return;
  const T exponent = goal.range.exponent(state.largest_b);
  state.scale = std::exp2(-exponent);
  state.unscale = std::exp2(exponent);
  state.scale_in_float = static_cast<float>(state.scale);
  state.unscale_in_float = static_cast<float>(state.unscale);
  state.scaled = state.scale != 1 ? 1 : 0;
}

/// After `squared_b` of the scaled right-hand side.
template <class T>
HEDDLE_INLINE void look_at_scaled_right_hand_side(SolveState<T>& state) {
  state.zero = state.squared_b == 0 ? 1 : 0;
  if (state.zero != 0) state.returned = Returned::last;
  if (!is_finite(state.squared_b)) end_solve(state, Status::not_finite);
}

/// After `squared_residual` of the guess.
template <class T>
HEDDLE_INLINE void judge_guess(SolveState<T>& state, const SolveGoal<T>& goal, Index rows,
                               T* history, bool cancelled) {
  if (state.end != 0) {  // b is not finite: nothing can be said of x
    state.squared_residual = not_a_number<T>;
    return;
  }
  state.squared_norm = state.first_squared = state.squared_residual;
  const T initial = std::sqrt(state.squared_residual);
  state.baseline =
      goal.baseline == Baseline::initial_residual ? initial : std::sqrt(state.squared_b);
  const T relative = goal.tolerance * state.baseline;
  const T absolute = goal.absolute_tolerance / state.unscale;
  state.target = absolute > relative ? absolute : relative;
  state.limit.begin(goal.checks ? goal.epsilon : 0, std::sqrt(state.squared_b));
  take_aim(state);
  state.best_norm = initial;
  state.kept_squared = state.squared_residual;
  state.keep_iterate = 1;
  state.kept_guess = true;
  history[0] = state.squared_residual;
  state.has_history = 1;
  if (!is_finite(initial)) return end_solve(state, Status::not_finite);
  if (initial <= state.target) return end_solve(state, Status::converged);
  if (state.first_singular < rows) return end_solve(state, Status::breakdown);
  if (goal.max_iterations == 0) return end_solve(state, Status::iteration_limit);
  if (cancelled) end_solve(state, Status::cancelled);
}

/// A norm of b - A x as reports give it.
template <class T>
HEDDLE_INLINE T relative(const SolveState<T>& state, T norm) {
  return state.baseline > 0 ? norm / state.baseline : norm;
}

/// After the guess was judged: the matrix lacks a symmetry that the method needs.
template <class T>
HEDDLE_INLINE void refuse_matrix(SolveState<T>& state, Status status) {
  if (state.end == 0 || state.status == Status::iteration_limit) end_solve(state, status);
}

/// The bounds of a run that begins here.
template <class T>
struct RunBounds {
  T target;        // |r|^2 that is small enough
  T growth;        // |r|^2 that is too much
  T squared_norm;  // |r|^2 at its start
  long long iterations;
};
template <class T>
HEDDLE_INLINE RunBounds<T> bounds_of_run(const SolveState<T>& state, const SolveGoal<T>& goal) {
  // Rounding errors of x are those of its largest residual so far: beyond this growth they exceed
  // the residual that the recurrence began from.
  const T growth = 1 / (goal.epsilon * goal.epsilon);
  const long long left = goal.max_iterations - state.iterations;
  const long long left_of_history = goal.history_capacity - (goal.keeps_all ? state.iterations : 0);
  return {state.aim * state.aim, state.first_squared * growth, state.squared_norm,
          left < left_of_history ? left : left_of_history};
}

/// The same for a run on a device. `history` has room for the guess and `goal.history_capacity`
/// iterations.
HEDDLE_INLINE void begin_run(const SolveState<double>& state, const SolveGoal<double>& goal,
                             double* history, device::LoopWatch* watch, device::LoopState& run) {
  const RunBounds<double> bounds = bounds_of_run(state, goal);
  run = device::LoopState{};
  run.limits.target = bounds.target;
  run.limits.growth = bounds.growth;
  run.limits.squared_norm = bounds.squared_norm;
  run.limits.iterations = bounds.iterations;
  run.limits.deadline = state.deadline;
  run.limits.unwatched = goal.unwatched;
  const double given[device::max_given] = {static_cast<double>(state.continues)};
  if (goal.continues_runs) run.give(given);
  run.watch = watch;
  run.history = history + 1 + (goal.keeps_all ? state.iterations : 0);
}

/// After a run that ended for this reason, a device::LoopEnd: sets `end` if nothing can follow,
/// `not_positive` if the direction has to be looked at, and what the true residual is to decide.
template <class T>
HEDDLE_INLINE void take_run(SolveState<T>& state, const SolveGoal<T>& goal, int end,
                            long long iterations) {
  state.iterations += iterations;
  if (iterations > 0) state.returned = Returned::last;
  state.keep_iterate = state.take_kept = state.not_positive = 0;
  state.verify = false;
  state.cycled = end == device::loop_cycle;
  // These ends come after the update that makes the next direction.
  const bool has_direction = end == device::loop_reached || end == device::loop_limit;
  state.continues = goal.continues_runs && state.on_copy && has_direction ? 1 : 0;
  state.otherwise = Status::stagnated;
  switch (end) {
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
  switch (end) {
    case device::loop_not_definite:
      return end_runs(state, Status::indefinite);
    case device::loop_not_positive:
      if (goal.looks_at_direction) {
        state.not_positive = 1;
        return;
      }
      [[fallthrough]];
    case device::loop_lost:
    case device::loop_orthogonal:
      state.verify = true;
      state.otherwise = Status::breakdown;
      return;
    default:  // the room for one run is used up, or the cycle is over
      return;
  }
}

/// After `p_q`, `squared_p`, and `squared_image` of a vector of ones and minus ones, where a run
/// found p* A p not to be positive.
template <class T>
HEDDLE_INLINE void judge_direction(SolveState<T>& state, const SolveGoal<T>& goal) {
  state.verify = true;
  if (state.p_q > 0) return;
  // Zero up to rounding: A is singular along p, which is no sign of a negative eigenvalue.
  const T rounding = 32 * goal.epsilon * state.squared_p;
  const T squared_factors = mean_square_of_factors * goal.scalars;
  if (state.p_q < -rounding * std::sqrt(state.squared_image / squared_factors)) {
    state.verify = false;
    return end_runs(state, Status::indefinite);
  }
  state.otherwise = Status::breakdown;
}

/// True if a solve that ends here returns the last x, however large its residual.
template <class T>
HEDDLE_INLINE bool returns_last(const SolveState<T>& state) {
  const bool is_stopped = state.status == Status::iteration_limit ||
                          state.status == Status::time_limit || state.status == Status::cancelled;
  return state.end != 0 && is_stopped && !state.keeps_best && !state.in_vain &&
         is_finite(state.squared_residual);
}

/// After `squared_residual` of the x that a run left: decides whether the kept iterate is better. A
/// run that used up its room continues from its own x, unless it was a cycle that hardly helped.
template <class T>
HEDDLE_INLINE void choose_iterate(SolveState<T>& state) {
  const bool helped = state.squared_residual <= T(0.998) * state.squared_norm;
  if (state.cycled && state.end == 0 && !helped) state.verify = true;
  const bool goes_on = state.end == 0 && !state.verify;
  state.take_kept = !goes_on && !returns_last(state) && is_finite(state.kept_squared) &&
                            !(state.squared_residual <= state.kept_squared)
                        ? 1
                        : 0;
  if (state.take_kept == 0) return;
  state.continues = 0;
  state.returned = state.kept_guess ? Returned::guess : Returned::best;
}

/// After `squared_residual` of the x that was chosen: decides whether `squared_rounding` is needed.
template <class T>
HEDDLE_INLINE void look_at_iterate(SolveState<T>& state, const SolveGoal<T>& goal) {
  const T norm = std::sqrt(state.squared_residual);
  const bool denies = is_finite(norm) && norm > state.target;
  // A run that halved the residual is not at its end: with short runs, this saves two products
  // each.
  const bool helped = state.continues != 0 && norm <= state.best_norm / 2;
  state.in_doubt = goal.checks && state.end == 0 && state.verify && denies && !helped ? 1 : 0;
}

/// After `squared_residual` of the x that was chosen, and `squared_rounding` if it is in doubt:
/// decides whether to begin again from there.
template <class T>
HEDDLE_INLINE void judge_iterate(SolveState<T>& state, const SolveGoal<T>& goal) {
  state.squared_norm = state.squared_residual;
  if (state.end != 0) {
    // A run on a copy aims below the target: if something else ended it, x may have arrived.
    const bool stopped = state.status == Status::iteration_limit ||
                         state.status == Status::time_limit || state.status == Status::cancelled;
    const bool arrived = std::sqrt(state.squared_residual) <= state.target;
    if (state.on_copy && stopped && arrived) state.status = Status::converged;
    return;
  }
  if (state.squared_residual < state.kept_squared && (state.verify || state.cycled)) {
    state.kept_squared = state.squared_residual;
    state.keep_iterate = 1;
    state.kept_guess = false;
  }
  if (!state.verify) return;
  state.first_squared = state.squared_residual;
  const T norm = std::sqrt(state.squared_residual);
  if (!is_finite(norm)) return end_runs(state, Status::not_finite);
  if (norm <= state.target) return end_runs(state, Status::converged);
  // Runs that continue each other may aim at no more than 0.45 of the residual.
  const T enough = goal.continues_runs && state.on_copy ? T(0.8) : T(0.5);
  state.fruitless = norm <= enough * state.best_norm ? 0 : state.fruitless + 1;
  if (state.in_doubt != 0) {
    state.limit.learn(state.squared_rounding, mean_square_of_factors);
    state.backward_error = state.limit.backward_error(norm);
  }
  const bool grew_in_vain = state.in_doubt != 0 && state.growth.is_seen(norm, state.limit.size(),
                                                                        state.limit.size_of_zero());
  state.in_vain = grew_in_vain || (state.in_vain && state.fruitless > 0);
  const bool worthless = state.on_copy && state.gain.is_worthless(norm, state.aim, state.best_norm);
  state.gain.learn(norm, state.best_norm);
  if (norm < state.best_norm) state.best_norm = norm;
  if (state.in_doubt != 0 &&
      state.limit.is_reached(norm, state.target, state.fruitless, !state.on_copy)) {
    return end_runs(state, grew_in_vain ? Status::stagnated : Status::accuracy_limit);
  }
  if (state.fruitless >= 2 || worthless) return end_runs(state, state.otherwise);
  if (state.iterations >= goal.max_iterations) return end_runs(state, Status::iteration_limit);
  state.backward_error = not_a_number<T>;  // x will change
  ++state.restarts;
  take_aim(state);
}

/// After the last run on a copy: decides whether the solve continues with another copy, or with the
/// matrix itself, from x. By then x is the best iterate, and `squared_residual` is that of x.
template <class T>
HEDDLE_INLINE void begin_on_matrix(SolveState<T>& state, const SolveGoal<T>& goal,
                                   StoredScalar kept = StoredScalar::own) {
  if (!state.failed_on_copy) return;
  state.failed_on_copy = false;
  read_copy(state, goal, kept);
  state.end = 0;
  state.fruitless = -1;  // not a restart of the recurrence that runs next
  state.verify = true;
  state.in_doubt = 0;
  state.otherwise = Status::stagnated;
  state.aim = infinity<T>;  // no aim was missed either
  judge_iterate(state, goal);
  state.gain = CopyGain<T>(kept, goal.continues_runs);
  state.continues = 0;
  take_aim(state);
}

/// After `squared_residual` of an x that was divided by the scale, and multiplied again: judges
/// what was lost on the way.
template <class T>
HEDDLE_INLINE void judge_unscaled(SolveState<T>& state) {
  if (!is_finite(state.squared_norm) || state.squared_residual == state.squared_norm) return;
  state.backward_error = not_a_number<T>;
  state.lost = is_finite(state.squared_residual) ? 0 : 1;
  if (state.lost != 0) state.squared_residual = state.squared_b;
  const bool was_solved =
      state.status == Status::converged || state.status == Status::accuracy_limit;
  const bool is_solution = std::sqrt(state.squared_residual) <= state.target;
  if (state.lost != 0 || (was_solved && !is_solution)) state.status = Status::out_of_range;
}

template <class T>
HEDDLE_INLINE void report(const SolveState<T>& state, Index rows, DeviceReport& to) {
  const T norm = std::sqrt(state.squared_residual);
  to.status = state.status;
  to.stored = state.copy;
  to.restarts = state.restarts;
  to.returned = state.returned;
  to.iterations = state.iterations;
  to.residual = static_cast<double>(relative(state, norm));
  to.residual_norm = static_cast<double>(norm * state.unscale);
  to.baseline_norm = static_cast<double>(state.baseline * state.unscale);
  to.target_norm = static_cast<double>(state.target * state.unscale);
  to.backward_error = static_cast<double>(state.backward_error);
  to.singular_row =
      state.status == Status::breakdown && state.first_singular < rows ? state.first_singular : -1;
}

}  // namespace decisions

}  // namespace heddle::detail
