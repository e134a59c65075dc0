// The tuning result of multigrid for one matrix: the smoother, its steps, the cycle and the
// strength of connections that solve fastest.
#pragma once

#include <string>
#include <string_view>

#include "heddle/export.hpp"
#include "heddle/tuning/pattern_features.hpp"
#include "heddle/tuning/statistics.hpp"

namespace heddle {

struct MultigridChoice;

/// The origin of its candidates: constant, rigid-body, adaptive or given.
HEDDLE_EXPORT std::string_view origin_of_candidates(const MultigridChoice& choice);

struct HEDDLE_EXPORT MultigridRecord {
  std::string matrix;     // name for display
  std::string entry;      // name in `--entry`
  std::string precision;  // single, double
  std::string fingerprint;
  PatternFeatures features;
  std::string candidates;      // their origin: with other candidates, other settings may be fastest
  std::string preconditioner;  // multigrid:2:w:jacobi, as for `ComposedChoice::parse`
  double strength = 0;
  long long iterations = 0;  // iterations of conjugate gradient, to the usual tolerance
  Statistics seconds;        // time of set-up and solve together
  Statistics usual_seconds;  // the same with the default settings
  std::string date;          // 2026-11-27

  bool operator==(const MultigridRecord&) const = default;
};

}  // namespace heddle
