// What a search measures with: plans of one matrix on one device, or in a test a table of times.
#pragma once

#include <memory>
#include <vector>

#include "heddle/error.hpp"
#include "heddle/export.hpp"
#include "heddle/plan.hpp"

namespace heddle {

/// What a plan computes is not what the reference says.
class HEDDLE_EXPORT WrongResult final : public Error {
 public:
  explicit WrongResult(const std::string& message) : Error(ErrorKind::internal, message) {}
};

/// A plan that can run. What it holds is given back with it.
class HEDDLE_EXPORT PreparedPlan {
 public:
  virtual ~PreparedPlan() = default;
  /// Runs once, or often enough to be timed; seconds of one product or iteration. Other plans run
  /// in between: what caches take to hold this one's data again is no part of the time.
  virtual double run() = 0;
};

class HEDDLE_EXPORT Trials {
 public:
  virtual ~Trials() = default;

  /// Plans that `prepare` will be asked for next, soonest first, or may be: what takes long of them
  /// may be done beside the measuring. In place of all that were announced before.
  virtual void announce(const std::vector<Plan>& /*plans*/) {}
  /// Plans that it may be asked for after those.
  virtual void announce_later(const std::vector<Plan>& /*plans*/) {}

  /// Bytes of a product's matrix over those of CSR, known before anything is allocated.
  virtual double memory_ratio(const Plan& plan) = 0;

  /// Builds what the plan needs and compares one result with the reference. Throws `WrongResult`
  /// where they differ; `Error` of kind memory where it does not fit, of another kind where it
  /// cannot run here. At most two prepared plans are held at a time.
  virtual std::unique_ptr<PreparedPlan> prepare(const Plan& plan) = 0;

  /// Seconds since some moment, of the clock by which a search keeps its limits.
  virtual double now() = 0;
};

}  // namespace heddle
