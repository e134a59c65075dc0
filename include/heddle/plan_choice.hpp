// The plan for a matrix for which the user named none, and the reason: from profiles, or else from
// a prediction.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "heddle/export.hpp"
#include "heddle/hierarchical_memory.hpp"
#include "heddle/runtime/any_matrix.hpp"
#include "heddle/runtime/entry_kind.hpp"
#include "heddle/tuning/entry_size.hpp"
#include "heddle/tuning/profile.hpp"

namespace heddle {

namespace detail {
/// The name of an entry type, in either precision; empty for a type that is not built in.
template <class E>
std::string name_of_entry() {
  for (std::size_t k = 0; k < entry_kind_names.size(); ++k) {
    const auto kind = static_cast<EntryKind>(k);
    const bool is_it =
        visit_entry<vector_scalar_t<E>>(kind, []<class F> { return std::is_same_v<E, F>; });
    if (is_it) return std::string(name(kind));
  }
  return "";
}
}  // namespace detail

/// The properties of a matrix on which the choice of a plan depends.
struct HEDDLE_EXPORT PlanSubject {
  PatternView pattern;    // in the host's memory
  std::string entry;      // name in profiles; empty for a type without a name there
  std::string precision;  // precision of the stored numbers
  int entry_bytes = 0;
  int result_bytes = 0;  // bytes of a row of y, and of solvers' vectors

  EntrySize size() const {
    const bool single = precision == precision_names[0];
    return {entry_bytes, result_bytes, single ? 4 : 8};
  }
};
HEDDLE_EXPORT PlanSubject subject_of(const AnyMatrix& matrix);
template <class E>
PlanSubject subject_of(const CsrMatrix<E>& matrix) {
  constexpr bool single = sizeof(stored_scalar_t<E>) == sizeof(float);
  return {
      .pattern = matrix.view().pattern(),
      .entry = detail::name_of_entry<E>(),
      .precision = std::string(precision_names[single ? 0 : 1]),
      .entry_bytes = static_cast<int>(sizeof(E)),
      .result_bytes = result_entry_t<E>::components * static_cast<int>(sizeof(vector_scalar_t<E>))};
}

struct HEDDLE_EXPORT PlanChoice {
  Plan plan;
  std::string reason;    // "tuned for this pattern (profile gpu.json)", "predicted"
  bool tuned = false;    // from a profile
  std::string warning;   // one line, if a profile's plan cannot run; else empty
  bool in_full = false;  // true if reports name every key of the plan

  std::string text() const { return in_full ? to_full_string(plan) : to_string(plan); }
};

/// A tree's nodes, the reason, and the schedule of its products.
struct HEDDLE_EXPORT NodeChoice {
  NodeLayout nodes;
  std::string reason = "default";
  NodeSchedule schedule = NodeSchedule::kept;
};

/// The settings of multigrid, and the reason.
struct HEDDLE_EXPORT MultigridSettings {
  std::string preconditioner;  // in the form that `ComposedChoice::parse` accepts
  double strength = 0;
  std::string reason;
};

/// Profiles in the order of search: a named file, that of HEDDLE_PROFILE, those of the user's cache
/// folder (`profile_folder`), and those that come with the library. A record of the same pattern
/// precedes all others, wherever it is; otherwise the first file that has a similar one wins. The
/// files of one folder answer together, with their best.
class HEDDLE_EXPORT Profiles {
 public:
  /// Without profiles every plan is a prediction.
  Profiles() = default;

  /// Leaves out unusable files (for another device, with another schema, broken) with a warning;
  /// files for other devices in the two folders are left out without one. A named file that is
  /// missing or broken is an error (io, bad_plan). "none" in place of a name ends the list there:
  /// `--profile none` uses no profile, HEDDLE_PROFILE=none only the named file. A process reads a
  /// file once, and again when it has changed.
  static Profiles for_device(const Device& device, const std::optional<std::string>& path = {});
  /// The same with a given profile in place of a named file; `source` names it.
  static Profiles for_device(const Device& device, Profile profile, const std::string& source);
  /// Uses only the named file, in the same way.
  static Profiles of_file(const Device& device, const std::string& path);

  /// Costs as much as a prediction, plus two passes over the pattern if a profile has the entry and
  /// precision. A prediction replaces a plan that cannot run here.
  PlanChoice choose(const PlanSubject& subject, const Device& device, Objective objective) const;
  /// The same for the values of a matrix: if they refuse the exact copy of a tuned plan, it is left
  /// out with a warning. This takes a pass over the values if a plan has such a copy. Units are
  /// tested in the matrix's order: an operator may still refuse some in the order of its slots.
  PlanChoice choose(const AnyMatrix& matrix, const Device& device, Objective objective) const {
    return choose(subject_of(matrix), matrix.values(), device, objective);
  }
  template <class E>
  PlanChoice choose(const CsrMatrix<E>& matrix, const Device& device, Objective objective) const {
    return choose(subject_of(matrix), std::as_bytes(matrix.values().span()), device, objective);
  }
  /// `values` are all the entries' scalars in the host's memory, in the order of the pattern.
  PlanChoice choose(const PlanSubject& subject, std::span<const std::byte> values,
                    const Device& device, Objective objective) const;

  /// The nodes that were fastest for the matrix's products of this use, or for those of the nearest
  /// matrix within half a doubling; else the default. Only products by `schedule` count, of either
  /// if there is none (`TreeRecord::best`). Costs as much as `choose` without its prediction.
  NodeChoice choose_node(const PlanSubject& subject, const Device& device, TreeUse use,
                         std::optional<NodeSchedule> schedule = NodeSchedule::kept) const;

  /// The settings of multigrid with these candidates (`MultigridRecord`) that solve fastest for the
  /// matrix, or for the nearest one within half a doubling; none if no profile has any.
  std::optional<MultigridSettings> choose_multigrid(const PlanSubject& subject,
                                                    const Device& device,
                                                    std::string_view candidates) const;

  /// One line each.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  struct Source {
    int rank;  // files of one rank answer together
    std::string path;
    std::shared_ptr<const Profile> profile;
  };
  struct Answer {
    ProfileMatch match;
    const Source* source;
  };
  class Reader;

  /// The best answer of the first rank that has one; `ask(profile)` returns a match or none.
  template <class Ask>
  std::optional<Answer> first(const PlanQuery& query, Ask&& ask) const;
  std::optional<Answer> ask(const PlanSubject& subject, const Device& device, Objective objective,
                            const Plan& predicted) const;

  /// Among the records accepted by `is_wanted`, the one with the same pattern, else the nearest
  /// within half a doubling, and the reason; null if there is none.
  template <class Record, class IsWanted>
  std::pair<const Record*, std::string> nearest(std::vector<Record> Profile::* records,
                                                const PlanSubject& subject, const Device& device,
                                                const IsWanted& is_wanted) const;

  DeviceProperties here_;
  std::vector<Source> sources_;
  std::vector<std::string> warnings_;
};

/// The plan chosen by `profiles.choose`.
template <class E>
Plan choose_plan(const CsrMatrix<E>& matrix, const Device& device, const Profiles& profiles,
                 Objective objective = {}) {
  return profiles.choose(matrix, device, objective).plan;
}
inline Plan choose_plan(const AnyMatrix& matrix, const Device& device, const Profiles& profiles,
                        Objective objective = {}) {
  return profiles.choose(matrix, device, objective).plan;
}

/// $XDG_CACHE_HOME/heddle/profiles or ~/.cache/heddle/profiles, where `tune` writes by default;
/// empty if neither is set.
HEDDLE_EXPORT std::string profile_folder();

/// The files of that folder and those that come with the library, which `Profiles::for_device`
/// reads by default.
std::vector<std::string> profiles_in_folders();

}  // namespace heddle
