// What a search measures with: plans of one matrix on one device, or in a test a table of times.
#pragma once

#include <memory>
#include <vector>

#include "heddle/plan.hpp"

namespace heddle {

/// A plan that can run. What it holds is given back with it.
class PreparedPlan {
 public:
  virtual ~PreparedPlan() = default;
  /// Runs once, or often enough to be timed; seconds of one product or iteration.
  virtual double run() = 0;
};

class Trials {
 public:
  virtual ~Trials() = default;

  /// Plans that `prepare` will be asked for, soonest first: what takes long of them may be done
  /// beside the measuring.
  virtual void announce(const std::vector<Plan>& /*plans*/) {}

  /// Bytes of a product's matrix over those of CSR, known before anything is allocated.
  virtual double memory_ratio(const Plan& plan) = 0;

  /// Builds what the plan needs and compares one result with the reference. Throws `Error` where it
  /// cannot run here, or its result is wrong.
  virtual std::unique_ptr<PreparedPlan> prepare(const Plan& plan) = 0;

  /// Seconds since some moment, of the clock by which a search keeps its limits.
  virtual double now() = 0;
};

}  // namespace heddle
