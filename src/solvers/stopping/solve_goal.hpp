// The goal of a solve, in the form that its decisions read.
#pragma once

#include <limits>
#include <type_traits>

#include "heddle/detail/reduction.hpp"
#include "heddle/kernels/loop_state.hpp"
#include "heddle/report.hpp"
#include "scale_range.hpp"

namespace heddle::detail {

/// The goal that the options set. T: the type in which scalars are summed.
template <class T>
struct SolveGoal {
  T tolerance = 0;
  T absolute_tolerance = 0;
  Baseline baseline = Baseline::right_hand_side;
  long long max_iterations = 0;
  unsigned long long nanoseconds = 0;  // the time limit
  bool has_time_limit = false;
  T epsilon = 0;  // epsilon of the scalars of fields
  T scalars = 0;  // number of scalars in a field
  bool checks = true;
  bool keeps_best = false;                // returns the best x if a limit ends the solve
  ScaleRange<T> range;                    // range of the scalars of fields
  long long history_capacity = 0;         // entries of the history of |r|^2, besides the guess
  bool keeps_all = false;                 // keeps all of that history, also across runs
  bool looks_at_direction = false;        // if p* A p is not positive; else it is a breakdown
  StoredScalar copy = StoredScalar::own;  // copy of the matrix; runs read it while it suffices
  bool continues_runs = false;  // over a copy, see methods/continued_conjugate_gradient.hpp
  long long unwatched = device::usually_unwatched;  // see device::LoopLimits
};

/// The goal for fields of S with `scalars` scalars.
template <class S>
SolveGoal<sum_t<S>> goal_of(const SolverOptions& options, Offset scalars, StoredScalar copy) {
  using T = sum_t<S>;
  SolveGoal<T> goal;
  const double of_precision = std::is_same_v<S, float> ? 1e-5 : 1e-10;
  goal.tolerance = static_cast<T>(
      options.tolerance != SolverOptions::by_precision ? options.tolerance : of_precision);
  goal.absolute_tolerance = static_cast<T>(options.absolute_tolerance);
  goal.baseline = options.baseline;
  goal.max_iterations = goal.history_capacity = options.max_iterations;
  goal.epsilon = static_cast<T>(std::numeric_limits<S>::epsilon());
  goal.scalars = static_cast<T>(scalars);
  goal.checks = options.checks;
  goal.keeps_best = options.keep == Keep::best;
  goal.range = scale_range<S, T>();
  goal.keeps_all = options.record_history;
  goal.copy = copy;
  return goal;
}

}  // namespace heddle::detail
