// Times works that time themselves, in turns, as `heddle::measure` does for works that do not.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "heddle/tuning/measure.hpp"

namespace heddle::bench {

/// Runs the work once more and returns the seconds that it took.
using TimedRun = std::function<double()>;

struct InterleaveOptions {
  int repetitions = 25;
  /// Fewer repetitions, but at least `min_repetitions`, where all would take longer than this.
  double seconds_in_all = 10;
  int min_repetitions = 3;
  /// In each turn a work first runs once untimed, so that it finds its own data in the caches and
  /// not another's, and then as often as fits into a millisecond.
  bool follows_itself = true;
  /// Called before each timed run, outside of its time.
  std::function<void()> before = {};
};

struct Interleaved {
  Timing timing;
  std::vector<double> seconds;  // one value for each repetition
  /// The error that a work threw; it is then left out of later turns, and has no timing.
  std::string failure;
};

/// Runs every work once to warm up, then all in turn, A B C A B C ..., so that a change of the
/// machine's speed affects all equally. A time that is not finite or is negative is a failure.
std::vector<Interleaved> interleave(const std::vector<TimedRun>& works,
                                    const InterleaveOptions& options);

}  // namespace heddle::bench
