// A solve's records of runs over something narrower than its own matrix and fields.
#pragma once

#include <algorithm>

#include "heddle/plan.hpp"

namespace heddle::detail {

/// Runs over fields other than the solver's own, until these come no further: see
/// refined_solver.cpp.
struct OtherRuns {
  StoredScalar copy;  // the copy that they read, as decisions see it
  bool continues;     // see methods/continued_conjugate_gradient.hpp
  long long bytes_per_iteration;
};

/// The bytes moved by iterations of several kinds.
class MovedBytes {
 public:
  long long of_iteration = 0;  // in the last run

  /// After `iterations` iterations in total, another kind follows.
  void leave(long long iterations) {
    before_ +=
        static_cast<double>(iterations - iterations_before_) * static_cast<double>(of_iteration);
    iterations_before_ = iterations;
  }
  /// The average bytes of an iteration.
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
