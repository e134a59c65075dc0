// The order of a solve's decisions (solve_decisions.hpp) and of the operations on fields between
// them, for all that execute it: a solve that the host drives (host_solve.hpp), a column of block
// conjugate gradients, least squares, and a graph that is being captured
// (enqueued_solve_cuda.cu). An executor has
//   decide<decision>()      takes that decision
//   when(question, body)    executes body(executor) if the state's `question` is not 0
// and the operations that are named where they are called.
#pragma once

#include "solve_decisions.hpp"

namespace heddle::detail {

/// The decisions that a walk takes between two operations.
enum class Decision {
  choose_scale,
  look_at_scaled_right_hand_side,
  judge_direction,
  choose_iterate,
  look_at_iterate,
  judge_iterate,
  judge_unscaled
};

template <Decision decision, class T>
HEDDLE_INLINE void take_decision(SolveState<T>& state, const SolveGoal<T>& goal) {
  if constexpr (decision == Decision::choose_scale) decisions::choose_scale(state, goal);
  if constexpr (decision == Decision::look_at_scaled_right_hand_side) {
    decisions::look_at_scaled_right_hand_side(state);
  }
  if constexpr (decision == Decision::judge_direction) decisions::judge_direction(state, goal);
  if constexpr (decision == Decision::choose_iterate) decisions::choose_iterate(state);
  if constexpr (decision == Decision::look_at_iterate) decisions::look_at_iterate(state, goal);
  if constexpr (decision == Decision::judge_iterate) decisions::judge_iterate(state, goal);
  if constexpr (decision == Decision::judge_unscaled) decisions::judge_unscaled(state);
}

namespace walk {

/// For a b whose squares are `out_of_range`.
template <class On>
void scale(On& on) {
  on.find_largest();  // `largest_b`
  on.template decide<Decision::choose_scale>();
  on.scale_right_hand_side();  // by the state's `scale`; then `squared_b`
  on.template decide<Decision::look_at_scaled_right_hand_side>();
}

/// After `take_run` and the true `squared_residual` of the x that the run left: x stays, or becomes
/// an earlier iterate, and the solve ends or goes on from it.
template <class On, class T = typename On::Sum>
void judge_run(On& on) {
  on.when(&SolveState<T>::not_positive, [](auto& along) {
    along.look_at_direction();  // `p_q`, `squared_p`, `squared_image`; leaves b - A x as it was
    along.template decide<Decision::judge_direction>();
  });
  // An executor that saw more of the run than its end may take an earlier x: true if no other x is
  // to be considered.
  if (!on.takes_earlier_iterate()) {
    on.template decide<Decision::choose_iterate>();
    on.when(&SolveState<T>::take_kept, [](auto& kept) {
      kept.take_kept();  // x = the best one so far; then `squared_residual`
    });
  }
  on.template decide<Decision::look_at_iterate>();
  on.when(&SolveState<T>::in_doubt, [](auto& of_x) {
    of_x.look_at_rounding();  // `squared_rounding`; leaves b - A x as it was
  });
  on.template decide<Decision::judge_iterate>();
}

/// At the end of a solve that was `scaled`: x in the caller's scale, which may lose digits.
template <class On, class T = typename On::Sum>
void unscale(On& on) {
  on.unscale_solution();  // x in the caller's scale; then its `squared_residual`
  on.template decide<Decision::judge_unscaled>();
  on.when(&SolveState<T>::lost, [](auto& lost) {
    lost.forget_solution();  // x = 0
  });
  on.unscale_residual();  // b - A x, where the caller may see it
}

}  // namespace walk

}  // namespace heddle::detail
