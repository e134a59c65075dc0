// Guesses whose image (A times the guess) the caller knows: no solve converges by that alone.
#pragma once

#include "heddle/vector_operations.hpp"
#include "solve_decisions.hpp"

namespace heddle::detail {

/// r = b - image.
template <class S>
void subtract_image(const FieldView<const S>& b, const FieldView<const S>& image,
                    const FieldView<S>& r, const Stream& stream) {
  copy<S>(b, r, stream);
  axpby<S>(S(-1), image, S(1), r, stream);
}

namespace decisions {

/// After `judge_guess` by an image: that residual belongs to no iterate, so any x with a true
/// residual is better.
template <class T>
HEDDLE_INLINE void forget_guess(SolveState<T>& state) {
  constexpr T unknown = T(1e150);
  if (state.end != 0) return;
  state.best_norm = unknown;
  state.kept_squared = unknown * unknown;
}
/// True if the solve was ended by a guess whose residual was not computed by a product.
template <class T>
HEDDLE_INLINE bool ended_by_image(const SolveState<T>& state) {
  return state.end != 0 && state.status != Status::cancelled && state.out_of_range == 0 &&
         state.iterations == 0;
}
/// After the true `squared_residual` of the guess.
template <class T>
HEDDLE_INLINE void judge_guess_again(SolveState<T>& state, const SolveGoal<T>& goal, Index rows,
                                     T* history) {
  state.end = 0;
  judge_guess(state, goal, rows, history, false);
}

}  // namespace decisions

}  // namespace heddle::detail
