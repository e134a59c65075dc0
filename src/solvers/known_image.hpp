// Guesses whose image, A times them, the caller knows: nothing converges by that alone.
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

/// Whether a guess has ended the solve, whose residual was not found by a product.
template <class T>
HEDDLE_INLINE bool seems_solved(const SolveState<T>& state) {
  return state.end != 0 && state.status == Status::converged && state.out_of_range == 0 &&
         state.iterations == 0;
}
/// After its true `squared_residual`.
template <class T>
HEDDLE_INLINE void judge_guess_again(SolveState<T>& state, const SolveGoal<T>& goal, Index rows,
                                     T* history) {
  state.end = 0;
  judge_guess(state, goal, rows, history, false);
}

}  // namespace decisions

}  // namespace heddle::detail
