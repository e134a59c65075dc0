// The measurements of a search: plans of one matrix on one device, or a table of times in a test.
#pragma once

#include <memory>
#include <vector>

#include "heddle/error.hpp"
#include "heddle/export.hpp"
#include "heddle/plan.hpp"

namespace heddle {

/// The result of a plan differs from the reference's.
class HEDDLE_EXPORT WrongResult final : public Error {
 public:
  explicit WrongResult(const std::string& message) : Error(ErrorKind::internal, message) {}
};

/// A plan that is ready to run. Its destruction releases its resources.
class HEDDLE_EXPORT PreparedPlan {
 public:
  virtual ~PreparedPlan() = default;
  /// Runs once, or often enough to be timed; returns the seconds of one product or iteration. Other
  /// plans run in between; the time excludes reloading this plan's data into caches.
  virtual double run() = 0;
};

class HEDDLE_EXPORT Trials {
 public:
  virtual ~Trials() = default;

  /// Announces plans that `prepare` will or may be asked for next, soonest first, so that slow work
  /// for them may run during the measuring. Replaces all earlier announcements.
  virtual void announce(const std::vector<Plan>& /*plans*/) {}
  /// Announces plans that may follow those.
  virtual void announce_later(const std::vector<Plan>& /*plans*/) {}

  /// Bytes of a product's matrix over those of CSR, known before any allocation.
  virtual double memory_ratio(const Plan& plan) = 0;

  /// Builds the plan and compares one result with the reference. Throws `WrongResult` if they
  /// differ; `Error` of kind memory if it does not fit, of another kind if it cannot run here. At
  /// most two prepared plans exist at a time.
  virtual std::unique_ptr<PreparedPlan> prepare(const Plan& plan) = 0;

  /// The time of the search's clock, in seconds since some moment.
  virtual double now() = 0;
};

}  // namespace heddle
