// A run of a method: it goes from a residual until something ends it.
#pragma once

#include <array>
#include <functional>
#include <span>

#include "heddle/detail/reduction.hpp"
#include "heddle/field.hpp"
#include "heddle/kernels/loop_state.hpp"

namespace heddle::detail {

/// The limits of a run; T is the type in which scalars are summed.
template <class T>
struct RunLimits {
  T target = 0;                                     // |r|^2 that is small enough
  T growth = 0;                                     // |r|^2 that is too much
  T squared_norm = 0;                               // |r|^2 where the run begins
  long long iterations = 0;                         // at most
  double seconds = 0;                               // infinity for no limit
  long long unwatched = device::usually_unwatched;  // see device::LoopLimits
  std::array<T, device::max_given> given{};         // the method's first coefficients
  /// Called with the iteration of this run and |r|^2, for a run on a GPU only now and then; returns
  /// why the run has to end, if it does. May be empty.
  std::function<device::LoopEnd(long long, T)> observe;
};

template <class T>
struct RunResult {
  int end = 0;  // a device::LoopEnd
  long long iterations = 0;
  std::span<const T> history;  // |r|^2 after each iteration; valid until the next run
};

/// A system that a loop runs, from r = b - A x.
template <class S>
struct RunOf {
  int place = 0;  // which of the loop's vectors it takes
  FieldView<S> x, r;
  const RunLimits<sum_t<S>>* limits = nullptr;
};

/// A method over one operator, ready to run.
template <class S>
class MethodLoop {
 public:
  virtual ~MethodLoop() = default;

  /// Runs systems side by side, at ascending places: each ends by itself, with the bits that it has
  /// alone. The preconditioner is up to date. `results`: one for each system.
  virtual void run(std::span<const RunOf<S>> systems, std::span<RunResult<sum_t<S>>> results) = 0;

  /// For a loop on a GPU: queues a run from the limits that `*state` has by then, on a stream that
  /// is being captured. The graph may be launched any number of times, one at a time and not
  /// concurrently with `run`.
  virtual void capture_run(const FieldView<S>&, const FieldView<S>&, device::LoopState*,
                           const Stream&) {}
  /// True if such a run leaves x unchanged and costs little when `*state` says to `skip`.
  virtual bool can_be_skipped() const { return false; }
};

}  // namespace heddle::detail
