// What tuning found of multigrid for one matrix: the smoother, its steps, the cycle and the
// strength of connections that solve fastest.
#pragma once

#include <string>
#include <string_view>

#include "heddle/export.hpp"
#include "heddle/tuning/pattern_features.hpp"
#include "heddle/tuning/statistics.hpp"

namespace heddle {

struct MultigridChoice;

/// Where its candidates come from: constant, rigid-body, adaptive or given.
HEDDLE_EXPORT std::string_view origin_of_candidates(const MultigridChoice& choice);

struct HEDDLE_EXPORT MultigridRecord {
  std::string matrix;     // its name for people
  std::string entry;      // as `--entry`
  std::string precision;  // single, double
  std::string fingerprint;
  PatternFeatures features;
  std::string candidates;      // their origin: with others other settings may be the fastest
  std::string preconditioner;  // multigrid:2:w:jacobi, as `ComposedChoice::parse` takes it
  double strength = 0;
  long long iterations = 0;  // of conjugate gradient, to the usual tolerance
  Statistics seconds;        // of set-up and solve together
  Statistics usual_seconds;  // of the same with the default settings
  std::string date;          // 2026-11-27

  bool operator==(const MultigridRecord&) const = default;
};

}  // namespace heddle
