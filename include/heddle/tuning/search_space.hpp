// The plans that a tuner searches: axes of choices, each a part of a plan's text.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "heddle/export.hpp"
#include "heddle/plan.hpp"
#include "heddle/tuning/device_properties.hpp"
#include "heddle/tuning/objective.hpp"

namespace heddle {

class AnyMatrix;

/// The conditions of the choices, in addition to the device.
struct HEDDLE_EXPORT TuningSubject {
  Index rows = 0;
  Index columns = 0;
  Offset entries = 0;
  int entry_bytes = 0;
  int scalar_bytes = 8;
  Objective objective;
  std::vector<StoredScalar> exact = {};  // copies that iterations may read: dictionary, unit
};
/// For iterations the matrix is built once for each exact copy that it may have.
HEDDLE_EXPORT TuningSubject tuning_subject(const AnyMatrix& matrix, Objective objective,
                                           int threads);

struct HEDDLE_EXPORT Axis {
  std::string name;                  // "outer layout"
  std::vector<std::string> choices;  // "C=32,sigma=n": keys that are set together
  bool ordered = false;              // a quantity, from the least on: neighbours take similar times
};

/// A choice of an axis, by their indices.
struct HEDDLE_EXPORT Setting {
  std::size_t axis = 0;
  int choice = 0;
};

class HEDDLE_EXPORT SearchSpace {
 public:
  /// The space of Mueller-Roemer et al. (2020, section 4.3), whose plans are all measured: outer
  /// layout, inner layout, vector layout, static or dynamic; on a GPU threads per block and blocks
  /// per multiprocessor within its bounds, on a CPU chunk and prefetch distances instead.
  static SearchSpace papers(const TuningSubject& subject, const DeviceProperties& device);
  /// Every setting of a plan that keeps a solve's accuracy: also windows of the sort, orders,
  /// threads per row and thresholds, unrolling, loads, exact copies that the subject has, and for
  /// iterations the loop.
  static SearchSpace whole(const TuningSubject& subject, const DeviceProperties& device);

  /// `base` holds the settings that no axis sets. Combinations that `check_plan`, the device or the
  /// subject refuses are not plans of the space.
  SearchSpace(Plan base, std::vector<Axis> axes, const TuningSubject& subject,
              const DeviceProperties& device);

  const std::vector<Axis>& axes() const { return axes_; }
  const Plan& base() const { return base_; }
  const TuningSubject& subject() const { return subject_; }
  const DeviceProperties& device() const { return device_; }

  /// The plan with one choice per axis; none if the choices exclude each other, or if a choice
  /// means nothing together with the others and is not the base's (chunks of a static schedule).
  std::optional<Plan> plan(const std::vector<int>& choices) const;
  /// `plan` with some of its axes set. Settings that cannot stay together with those (T that does
  /// not divide C; a persistent loop with C=n), or then mean nothing, become the base's. None if
  /// the settings exclude each other, here or in general.
  std::optional<Plan> with(const Plan& plan, const std::vector<Setting>& settings) const;
  std::optional<Plan> with(const Plan& plan, std::size_t axis, int choice) const {
    return with(plan, std::vector<Setting>{{axis, choice}});
  }
  /// `plan` with the settings that mean nothing in it, for this subject and device, as in the base:
  /// plans that become equal run the same way.
  Plan reduced(const Plan& plan) const;
  /// Every plan, once; neighbours in this list share a layout. For spaces small enough to
  /// enumerate.
  std::vector<Plan> plans() const;
  /// Combinations of choices, valid or not.
  double combinations() const;

 private:
  bool runs(const Plan& plan) const;
  Plan adapted(Plan plan) const;
  std::optional<Plan> plan_with(const std::string& settings, const Plan& others) const;

  Plan base_;
  std::vector<Axis> axes_;
  TuningSubject subject_;
  DeviceProperties device_;
};

/// CSR-AoS-AoS with the other settings of `plan`, including `stored`, which changes the
/// computation: the reference of speed-ups.
HEDDLE_EXPORT Plan natural_layout(const Plan& plan);

}  // namespace heddle
