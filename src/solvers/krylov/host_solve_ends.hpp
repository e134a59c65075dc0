// The beginning and the end of a solve that the host drives: b and x are brought into the
// operator's basis and a scale, and back, and the report is written. host_solve.hpp includes this
// file.
#pragma once

#include "host_solve.hpp"

namespace heddle::detail {

template <class S>
void HostSolve<S>::bring_in() {
  const bool projects = !solver_.null_space_.vectors.empty();
  if (!solver_.fits_in_place(user_b_) || projects) bring_in_right_hand_side(S(1));
  state_.squared_b = squared_norm_of(b_);
  decisions::look_at_right_hand_side(state_, goal_);
  if (state_.out_of_range != 0) walk::scale(*this);
  if (!solver_.fits_in_place(user_x_) || state_.scaled != 0) {
    x_ = solver_.own(place_.own_x);
    permute<S>(user_x_, x_, scale(), stream());
  }
}

template <class S>
void HostSolve<S>::bring_in_right_hand_side(S factor) {
  const FieldView<S>& own = solver_.own(place_.own_b);
  permute<S>(user_b_, own, factor, stream());
  solver_.project(own);
  b_ = own;
}

template <class S>
void HostSolve<S>::forget_guess(sum& first) {
  copy<S>(x_, place_.verified, stream());
  if (state_.scaled != 0) permute<S>(user_x_, x_, S(1), stream());
  const sum largest = largest_magnitude<S>(x_, solver_.reduction_, stream());
  if (methods::is_finite(largest) && largest > 0) {
    fill<S>(S(0), x_, stream());
    state_.squared_residual = true_residual(x_);
    decisions::judge_guess_again(state_, goal_, rows(), &first);
    forgot_guess_ = methods::is_finite(state_.squared_residual);
  }
  if (!forgot_guess_) copy<S>(place_.verified, x_, stream());
}

template <class S>
void HostSolve<S>::bring_out() {
  if (state_.scaled == 0) {
    if (x_.data != user_x_.data) permute<S>(x_, user_x_, S(1), stream());
    return;
  }
  walk::unscale(*this);
  tell();
}

template <class S>
void HostSolve<S>::tell() {
  detail::tell(state_, rows(), report_);
  const MethodInfo& info = solver_.method_.info;
  const bool is_worse = state_.take_kept != 0 || state_.squared_residual > state_.kept_squared;
  // A wrong interval makes x grow too, and then the method reports it.
  const bool grew_in_vain = state_.in_vain && !info.takes_interval;
  report_.detail = text_of_end(report_.status, {info, end_of_run_, solver_.is_complex_symmetric_,
                                                is_worse, grew_in_vain, state_.p_q > 0});
  if (left_copy_ && report_.detail.empty()) {
    report_.detail = text_of_end_of_copy(copy_, state_.copy, others_ != nullptr);
  }
  if (forgot_guess_ && report_.detail.empty()) {
    report_.detail = "the guess was too large to square its residual: zero replaced it";
  }
  const LinearOperator<S>& matrix = solver_.matrix_;
  if (report_.detail.empty() && &matrix.iterated() == &matrix && is_exact(matrix.iterated_as())) {
    report_.detail = text_of_refused_copy(matrix.iterated_as());
  }
}

}  // namespace heddle::detail
