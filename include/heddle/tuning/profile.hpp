// Tuning profiles: which plan was best for which matrix on one device. They are data, stored as
// JSON in files (docs/reference/profiles.md, docs/reference/profile-schema.json).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heddle/error.hpp"
#include "heddle/export.hpp"
#include "heddle/plan.hpp"
#include "heddle/tuning/device_properties.hpp"
#include "heddle/tuning/multigrid_record.hpp"
#include "heddle/tuning/pattern_features.hpp"
#include "heddle/tuning/predict.hpp"
#include "heddle/tuning/search_space.hpp"
#include "heddle/tuning/statistics.hpp"
#include "heddle/tuning/tree_record.hpp"

namespace heddle {

/// The tuning result of one matrix.
struct HEDDLE_EXPORT ProfileRecord {
  std::string matrix;     // name for display
  std::string entry;      // name in `--entry`; the name in a definition
  std::string precision;  // single, double
  std::string structure = "sliced";
  Objective objective;
  std::string fingerprint;  // fingerprint of the pattern
  PatternFeatures features;
  Plan plan;
  Statistics seconds;       // time of one product or iteration
  double memory_ratio = 1;  // relative to CSR
  Plan natural;             // CSR-AoS-AoS under its best schedule
  Statistics natural_seconds;
  std::optional<double> speedup;  // natural's median over the plan's; empty: unknown
  std::string search;             // full, pruned, predict
  std::string date;               // 2026-11-21

  bool operator==(const ProfileRecord&) const = default;
};

/// The parts of a domain's plan that transfer to its other matrices, the least first.
enum class DomainUse {
  predicted,  // nothing: predictions for each matrix are better than one plan for all
  order,      // the order of rows and columns; the rest is predicted
  storage,    // the order, and the layout of values and vectors
  plan        // all of it
};

HEDDLE_EXPORT std::string_view name(DomainUse use);
/// Throws `Error` (usage) for another name.
HEDDLE_EXPORT DomainUse parse_domain_use(std::string_view text);

/// The plan that is best over a set of matrices of one domain, for other matrices of the domain.
struct HEDDLE_EXPORT DomainRecord {
  std::string domain;
  std::string entry;
  std::string precision;
  Objective objective;
  Plan plan;
  DomainUse use = DomainUse::plan;
  /// Geometric mean, over the set, of the time under the plan as used over the best time, minus 1.
  double regret = 0;
  std::vector<std::string> fingerprints;  // the matrices of the set; the profile has their records
  /// The loss of each of these under the plan of a domain without it, time / best time minus 1;
  /// empty if one of these is unknown.
  std::vector<double> left_out;

  bool operator==(const DomainRecord&) const = default;
};

/// The settings that transfer, in the form that `parse_plan` accepts; empty if none does.
HEDDLE_EXPORT std::string plan_for_others(const Plan& plan, DomainUse use);

/// A domain's plan for a matrix with the given prediction.
HEDDLE_EXPORT Plan plan_of_domain(const Plan& plan, DomainUse use, const Plan& predicted);

/// The error of a profile that is intact but intended for another version of Heddle: it has another
/// schema, or an unknown plan.
class HEDDLE_EXPORT OtherVersion : public Error {
 public:
  explicit OtherVersion(const std::string& message) : Error(ErrorKind::bad_plan, message) {}
};

struct HEDDLE_EXPORT Profile {
  static constexpr int schema = 1;

  DeviceProperties device;
  Ceilings ceilings;    // measured there
  std::string version;  // version of Heddle
  std::string kernels;  // hash of the sources that kernels are compiled from
  std::vector<ProfileRecord> records;
  std::vector<DomainRecord> domains;
  std::vector<TreeRecord> trees;  // hierarchical storage
  std::vector<MultigridRecord> multigrids;

  /// An empty profile for a device and this library; its ceilings are typical ones.
  static Profile of(const Device& device);

  /// Throws `Error` (bad_plan) that names the file and the path of the first fault, such as
  /// records[3].plan; `OtherVersion` if that is the only fault; (io) for an unreadable file;
  /// (malformed_file) for more than 16 MiB. `from_json` names `source`.
  static Profile load(const std::string& path);
  static Profile from_json(std::string_view json, const std::string& source);
  /// Writes records in the order of entry, precision, objective and matrix, whatever their order
  /// here; one key per line. Throws `Error` (not_finite) that names the number.
  std::string to_json() const;
  /// Writes under another name and renames.
  void save(const std::string& path) const;
  /// Merges this profile into the file's current content, if it exists. Any number of processes may
  /// do so at once: each finds everything that earlier ones have added. Throws as `load`, `merge`
  /// and `save` do.
  void merge_into(const std::string& path) const;

  /// Takes over the content of the other, newer profile. If both have a matrix (fingerprint),
  /// entry, precision, structure and objective, or a tree or a multigrid of a matrix, or a domain,
  /// the other's wins. Device, version and kernels become the other's. Throws `Error` (bad_plan)
  /// for a profile of another device.
  void merge(const Profile& other);

  bool operator==(const Profile&) const = default;
};

/// The matrix and purpose for which a plan is requested.
struct HEDDLE_EXPORT PlanQuery {
  std::string entry;
  std::string precision;
  Objective objective;
  std::string fingerprint;  // empty: no search for the same pattern
  PatternFeatures features;
  /// The predicted plan. If it is known, records of other matrices answer only within a distance of
  /// half a doubling, since plans depend on the size. Domains whose plan transfers only in part
  /// answer only if it is known.
  std::optional<Plan> predicted = {};
};

/// A profile's answer.
struct HEDDLE_EXPORT ProfileMatch {
  enum class Kind { same_pattern, domain, nearest };
  Kind kind = Kind::nearest;
  Plan plan;
  std::string matrix;               // name of the record's matrix, or of the domain
  Objective objective;              // objective of the record
  double distance = 0;              // distance of the features
  DomainUse use = DomainUse::plan;  // use of a domain's plan
};

/// The distance of useful records: about four times as many rows, or a quarter.
inline constexpr double farthest_record = 2.0;

/// The record of the same pattern; else the plan of a domain that has a record within
/// `farthest_record`; else the nearest record within that distance, or within half a doubling if a
/// prediction is known; else none. Among several of a kind, those of the query's own objective come
/// first, then the nearest.
HEDDLE_EXPORT std::optional<ProfileMatch> find(const Profile& profile, const PlanQuery& query);
/// The first of these steps, for which the query needs no features, and the remaining steps.
HEDDLE_EXPORT std::optional<ProfileMatch> find_same_pattern(const Profile& profile,
                                                            const PlanQuery& query);
HEDDLE_EXPORT std::optional<ProfileMatch> find_similar(const Profile& profile,
                                                       const PlanQuery& query);
/// True if `find` prefers `a` to `b`.
HEDDLE_EXPORT bool is_better(const ProfileMatch& a, const ProfileMatch& b, const PlanQuery& query);

}  // namespace heddle
