// Tuning profiles: which plan was the best for which matrix on one device. Data; JSON in files
// (docs/profiles.md, docs/profile-schema.json).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heddle/device_properties.hpp"
#include "heddle/pattern_features.hpp"
#include "heddle/plan.hpp"
#include "heddle/predict.hpp"
#include "heddle/search_space.hpp"
#include "heddle/statistics.hpp"

namespace heddle {

/// What was found for one matrix.
struct ProfileRecord {
  std::string matrix;     // what people call it
  std::string entry;      // as `--entry`; the name in a definition
  std::string precision;  // single, double
  std::string structure = "sliced";
  Objective objective = Objective::cg;
  std::string fingerprint;  // of the pattern
  PatternFeatures features;
  Plan plan;
  Statistics seconds;       // of one product or iteration
  double memory_ratio = 1;  // to CSR
  Plan natural;             // CSR-AoS-AoS under its best schedule
  Statistics natural_seconds;
  double speedup = 1;  // natural's median over the plan's
  std::string search;  // full, pruned
  std::string date;    // 2026-11-21

  bool operator==(const ProfileRecord&) const = default;
};

/// The plan that is best over a set of matrices of one domain, for others of it.
struct DomainRecord {
  std::string domain;
  std::string entry;
  std::string precision;
  Objective objective = Objective::cg;
  Plan plan;
  double regret = 0;                      // geometric mean over the set of time / best time, less 1
  std::vector<std::string> fingerprints;  // of the set, whose records are in the same profile

  bool operator==(const DomainRecord&) const = default;
};

struct Profile {
  static constexpr int schema = 1;

  DeviceProperties device;
  Ceilings ceilings;    // as they were measured there
  std::string version;  // of Heddle
  std::string kernels;  // hash of the sources that kernels are compiled of
  std::vector<ProfileRecord> records;
  std::vector<DomainRecord> domains;

  /// An empty one for a device and this library; its ceilings are typical ones.
  static Profile of(const Device& device);

  /// Throws `Error` (bad_plan) that names the file and the path of the first fault, such as
  /// records[3].plan.C; (io) where there is none to read. `from_json` names `source`.
  static Profile load(const std::string& path);
  static Profile from_json(std::string_view json, const std::string& source);
  std::string to_json() const;
  /// Written under another name and renamed.
  void save(const std::string& path) const;

  /// Takes over what the other has; of a matrix (fingerprint), entry, precision and objective that
  /// both have, the other's. Throws `Error` (bad_plan) for one of another device.
  void merge(const Profile& other);

  bool operator==(const Profile&) const = default;
};

/// What a plan is wanted for.
struct PlanQuery {
  std::string entry;
  std::string precision;
  Objective objective = Objective::cg;
  std::string fingerprint;
  PatternFeatures features;
};

/// How a profile answers. Records of the query's own objective come before those of another.
struct ProfileMatch {
  enum class Kind { same_pattern, domain, nearest };
  Kind kind;
  Plan plan;
  std::string matrix;   // the record's, or the domain
  double distance = 0;  // of the features
};

/// Beyond it a record tells nothing of a matrix: about four times as many rows, or a quarter.
inline constexpr double farthest_record = 2.0;

/// The record of the same pattern; else the plan of a domain that has a record within
/// `farthest_record`; else the nearest record within that; else none.
std::optional<ProfileMatch> find(const Profile& profile, const PlanQuery& query);

}  // namespace heddle
