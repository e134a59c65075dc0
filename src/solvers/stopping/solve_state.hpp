// The state that the decisions of a solve know (solve_decisions.hpp): on the host, or on a GPU.
#pragma once

#include "accuracy_limit.hpp"
#include "copy_gain.hpp"
#include "growth_in_vain.hpp"
#include "heddle/field.hpp"
#include "heddle/plan.hpp"
#include "heddle/report.hpp"

namespace heddle::detail {

template <class T>
struct SolveState {
  // Results of operations on fields. The driver of the decisions fills them in before the decision
  // that needs them.
  T squared_b;
  T squared_residual;  // |b - A x|^2; placed after `squared_b`, since one walk may compute both
  T largest_b;         // magnitude of b's largest component
  T p_q, squared_p, squared_image;
  T squared_rounding;  // |A D x|^2 with random D
  GrowthInVain<T> growth;
  Index first_singular;

  // The next things to do; conditions of a graph are of type int.
  int out_of_range;  // the squares of b leave the range of a double, or b is zero or not finite
  int zero;          // b is zero: x = 0
  int scaled;        // b and x were multiplied by `scale`, and x has to be divided again
  int lost;          // x was lost by that: x = 0
  int not_positive;  // p* A p was not positive: look at the direction
  int keep_iterate;  // x is the best one so far
  int take_kept;     // x is worse than the kept one
  int in_doubt;      // x has not converged: see what rounding leaves to gain
  int in_question;   // one look at the true residual did not judge the run
  int end;           // the solve has ended
  int continues;     // the next run may continue along the direction of the previous one
  int has_history;   // this solve has a history, at least of the guess
  T scale, unscale;
  float scale_in_float, unscale_in_float;  // the same
  T squared_norm, baseline, target, best_norm, first_squared, kept_squared;
  unsigned long long deadline;
  long long iterations;
  T aim;  // the norm at which a run is over
  CopyGain<T> gain;
  AccuracyLimit<T> limit;
  T backward_error;
  StoredScalar copy;    // the copy that runs read; own: the matrix
  bool on_copy;         // runs read a copy of the matrix
  bool failed_on_copy;  // a copy's failure ended the solve, and says little about the matrix itself
  int restarts, fruitless;
  Status status;
  Returned returned;
  bool keeps_best;   // returns the best x if a limit ends the solve
  bool kept_guess;   // the best one so far is the guess
  bool in_vain;      // x has grown since its residual last shrank
  bool cycled;       // the run filled its basis
  bool verify;       // the recurrence says that it has come to its end: b - A x decides
  Status otherwise;  // the status if that does not help
};

}  // namespace heddle::detail
