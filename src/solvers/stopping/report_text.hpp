// The report of a solve, made from what its decisions found.
#pragma once

#include <string_view>

#include "heddle/kernels/loop_state.hpp"
#include "heddle/method_info.hpp"
#include "solve_decisions.hpp"

namespace heddle::detail {

/// The name of a copy in `Report::stored`.
inline std::string_view text_of_copy(StoredScalar kept) {
  return kept == StoredScalar::own ? "own" : kept == StoredScalar::single ? "float" : name(kept);
}

/// The detail for a solve that left its copy, or its fields in floats, if the status alone does not
/// say so.
inline std::string_view text_of_end_of_copy(StoredScalar kept, StoredScalar at_the_end,
                                            bool fields_in_floats) {
  if (fields_in_floats && at_the_end == StoredScalar::own) {
    return "floats got no further, the last iterations ran in double";
  }
  if (kept == StoredScalar::single) {
    return "the copy in float did not suffice, the last iterations read the matrix itself";
  }
  return at_the_end == StoredScalar::single
             ? "the copy in 16 bits did not suffice, the last iterations read one in float"
             : "the copy in 16 bits did not suffice, the last iterations read the matrix itself";
}

/// The detail if an exact copy holds older values than the matrix.
inline std::string_view text_of_refused_copy(StoredScalar kept) {
  return kept == StoredScalar::unit
             ? "iteration-precision=unit refuses the newest values, iterations read the matrix"
             : "iteration-precision=dictionary refuses the newest values, iterations read the "
               "matrix";
}

/// Writes everything except times, bytes, the loop's form, and details.
template <class T>
void tell(const SolveState<T>& state, Index rows, Report& report) {
  DeviceReport found;
  decisions::report(state, rows, found);
  report.status = found.status;
  report.stored = text_of_copy(found.stored);
  report.restarts = found.restarts;
  report.returned = found.returned;
  report.iterations = found.iterations;
  report.residual = found.residual;
  report.residual_norm = found.residual_norm;
  report.baseline_norm = found.baseline_norm;
  report.target_norm = found.target_norm;
  report.backward_error = found.backward_error;
}

/// Words for an x that grows while its residual does not shrink.
inline constexpr std::string_view text_of_growth_in_vain =
    "x grows and its residual does not shrink: the system is probably singular or inconsistent; "
    "give a null space, or use lsmr";

// Words that all solves share.
inline constexpr std::string_view text_of_refused_b = "the right-hand side is not finite";
inline constexpr std::string_view text_of_refused_guess =
    "the residual of the guess is not finite, or too large";
inline constexpr std::string_view text_of_overflow = "the iteration overflowed";
inline constexpr std::string_view text_of_accuracy_limit = "x is as good as its precision allows";
inline constexpr std::string_view text_of_stagnation =
    "the true residual does not follow the recurrence";
inline constexpr std::string_view text_of_loss_in_scale =
    "the solution is too large or too small for these numbers";

/// The end of a solve, as far as its details depend on it.
struct EndOfSolve {
  const MethodInfo& info;
  int end_of_run = device::loop_runs;  // a device::LoopEnd
  bool is_complex_symmetric = false;
  bool is_worse = false;        // x is worse than an earlier one
  bool grew_in_vain = false;    // x grew, and its residual did not shrink
  bool is_positive_pq = false;  // p* A p of the last direction
};

inline std::string_view text_of_end_of_recurrence(const EndOfSolve& seen) {
  if (seen.grew_in_vain) return text_of_growth_in_vain;
  switch (seen.end_of_run) {
    case device::loop_reached:
      return text_of_stagnation;
    case device::loop_grew:
      return seen.info.grew;
    case device::loop_lost:
      return seen.info.lost;
    case device::loop_orthogonal:
      return seen.info.orthogonal;
    case device::loop_not_positive:
      return seen.is_positive_pq
                 ? "the recurrence has no digits left"
                 : "p* A p vanishes: the matrix is singular, or beyond the range of squares";
    case device::loop_cycle:
      return "restarts hardly reduce the residual: use a longer restart, or lsmr if the system "
             "has no solution";
    default:
      return "";
  }
}

/// The detail of a report; empty if the status alone says it.
inline std::string_view text_of_end(Status status, const EndOfSolve& seen) {
  switch (status) {
    case Status::not_hermitian:
      return seen.is_complex_symmetric
                 ? "the matrix is complex symmetric, not Hermitian: use COCR or COCG"
                 : seen.info.not_hermitian;
    case Status::not_symmetric:
      return seen.info.not_hermitian;
    case Status::accuracy_limit:
      return text_of_accuracy_limit;
    case Status::out_of_range:
      return text_of_loss_in_scale;
    case Status::not_finite:
      if (seen.end_of_run == device::loop_runs) return text_of_refused_guess;
      return seen.end_of_run == device::loop_not_finite ? text_of_overflow
                                                        : "the residual is not finite";
    case Status::indefinite:
      if (seen.info.takes_interval) {
        return "the matrix or preconditioner is not positive definite: the Ritz values that "
               "estimate the interval have both signs";
      }
      return seen.end_of_run == device::loop_not_definite
                 ? "r* M^-1 r is negative: the preconditioner is not positive definite"
                 : "p* A p is negative: the matrix is not positive definite";
    case Status::iteration_limit:
      if (seen.grew_in_vain) return text_of_growth_in_vain;
      return seen.info.takes_interval && seen.is_worse ? seen.info.grew : "";
    case Status::stagnated:
    case Status::breakdown:
      return text_of_end_of_recurrence(seen);
    default:
      return "";
  }
}

}  // namespace heddle::detail
