// What a solve keeps in mind of runs over something narrower than its own matrix and fields.
#pragma once

#include <algorithm>

#include "heddle/plan.hpp"

namespace heddle::detail {

/// Runs over other fields than the solver's own, until these come no further: refined_solver.cpp.
struct OtherRuns {
  StoredScalar copy;  // what they read, as decisions take it
  bool continues;     // see methods/continued_conjugate_gradient.hpp
  long long bytes_per_iteration;
};

/// The bytes that iterations moved, where they were of several kinds.
class MovedBytes {
 public:
  long long of_iteration = 0;  // of the last run

  /// After so many iterations in all others follow.
  void leave(long long iterations) {
    before_ +=
        static_cast<double>(iterations - iterations_before_) * static_cast<double>(of_iteration);
    iterations_before_ = iterations;
  }
  /// On average.
  long long mean(long long iterations) const {
    const double others =
        static_cast<double>(iterations - iterations_before_) * static_cast<double>(of_iteration);
    return static_cast<long long>((before_ + others) /
                                  static_cast<double>(std::max(1LL, iterations)));
  }

 private:
  double before_ = 0;
  long long iterations_before_ = 0;
};

}  // namespace heddle::detail
