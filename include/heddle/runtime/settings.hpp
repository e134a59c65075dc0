// Settings by name: options of the command line, keys of `heddle_settings_set`, keywords of Python.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heddle/export.hpp"
#include "heddle/hierarchical_memory.hpp"
#include "heddle/lobpcg.hpp"
#include "heddle/lsmr.hpp"
#include "heddle/method_info.hpp"
#include "heddle/report.hpp"
#include "heddle/runtime/preconditioner_choice.hpp"
#include "heddle/tune.hpp"

namespace heddle {

/// The parts of the library that take a setting.
enum class SettingUse {
  storage,
  ranks,
  solver,
  least_squares,
  multigrid,
  eigen,
  tuning,
  description
};

/// How a value is written in JSON and in Python; as text it is the same everywhere.
enum class ValueKind { text, name, yes_or_no, number, whole_number, numbers };

/// A row of the table. Several uses may have a setting with one name, with values of one kind.
struct HEDDLE_EXPORT SettingRow {
  std::string_view name;   // "max_iterations"; --max-iterations of the command line
  std::string_view alias;  // "maxiter" of SciPy, or empty
  SettingUse use;
  ValueKind kind;
  std::string_view value_name;  // placeholder of the value in help: "N", "last|best"
  std::string_view values;      // in words: "a whole number of at least 1"
  std::string_view by_default;  // in words; empty if there is no default
  std::string_view help;
  bool MethodInfo::* taken_by;  // the methods that take it; null: all
  bool of_programs;             // not an option of the command line, which has its own way
  bool (*is_value)(std::string_view text);
  /// Writes to the options of the use (`use_of`).
  void (*write)(void* options, std::string_view text);
};

/// Ordered by use.
HEDDLE_EXPORT std::span<const SettingRow> settings_table();
/// The first row with that name or alias, in the spellings of `Settings::set`; null for none.
HEDDLE_EXPORT const SettingRow* find_setting(std::string_view name);
/// True if this use also has a setting with that name.
HEDDLE_EXPORT bool has_setting(SettingUse use, std::string_view name);

/// Settings that were given, of any use. Every value is within its range.
class HEDDLE_EXPORT Settings {
 public:
  struct Given {
    const SettingRow* setting;  // the first of its name
    std::string value;
    std::string spelling;  // spelling of the name, in messages
  };

  /// `name` in any letter case, with - or _, with or without the -- of an option. Replaces the
  /// value that it had. Throws `Error` (usage) for a name that does not exist, with the nearest
  /// one, and for a value out of its range.
  void set(std::string_view name, std::string_view value);
  /// A JSON object of names and values. Throws `Error` (usage) likewise.
  void set_json(std::string_view text);
  void reset(std::string_view name);

  bool has(std::string_view name) const { return find(name) != nullptr; }
  /// Null if it was not given.
  const Given* find(std::string_view name) const;
  const std::vector<Given>& given() const { return given_; }

  /// The settings of the given uses, as one JSON object.
  std::string to_json(std::span<const SettingUse> uses) const;
  /// Writes the settings of the use to its options.
  void write(SettingUse use, void* options) const;

 private:
  std::vector<Given> given_;
};

/// Settings of a solve: the options of its method, and whether its iterations keep their fields in
/// floats.
struct HEDDLE_EXPORT SolveSettings {
  SolverOptions solver;
  bool has_narrow_fields = false;
};

/// How a matrix is stored on one device.
struct HEDDLE_EXPORT StorageSettings {
  std::string device = "cpu";
  int threads = 0;
  std::string plan;  // empty: chosen
  bool is_hierarchical = false;
  int node = 0;  // this and the rest are for hierarchical storage; 0 and empty: chosen
  std::string dense, launch;

  /// The nodes, with the defaults for settings left to be chosen. Throws `Error` (usage) for an
  /// invalid text.
  NodeLayout nodes() const;
};

/// How ranks share a matrix.
struct HEDDLE_EXPORT RankSettings {
  std::string partition = "entries";
  std::string exchange = "auto";
  std::string transfer = "auto";
  std::string boundary = "whole";
};

/// The objective of tuning, and its limits.
struct HEDDLE_EXPORT TuneSettings {
  TuneOptions options;
  std::string objective = "cg";  // or product, multigrid
  double seconds = 0;            // 0: the usual time
};

/// Assumptions of a description.
struct HEDDLE_EXPORT DescriptionSettings {
  long long cache = 0;
  double bandwidth = 3000, link = 50;
  std::string scaling, rates, partition;
  std::vector<int> ranks;
  int unknowns = 0;
  bool tries_multigrid = false;
};

template <class Options>
inline constexpr SettingUse use_of = SettingUse::solver;
template <>
inline constexpr SettingUse use_of<StorageSettings> = SettingUse::storage;
template <>
inline constexpr SettingUse use_of<RankSettings> = SettingUse::ranks;
template <>
inline constexpr SettingUse use_of<LeastSquaresOptions> = SettingUse::least_squares;
template <>
inline constexpr SettingUse use_of<MultigridChoice> = SettingUse::multigrid;
template <>
inline constexpr SettingUse use_of<EigenOptions> = SettingUse::eigen;
template <>
inline constexpr SettingUse use_of<TuneSettings> = SettingUse::tuning;
template <>
inline constexpr SettingUse use_of<DescriptionSettings> = SettingUse::description;

/// The options with the settings written to them.
template <class Options>
Options with_settings(Options options, const Settings& settings) {
  settings.write(use_of<Options>, &options);
  return options;
}

/// Throws `Error` (usage) for a setting of a solver that the method of this name (possibly one
/// without a listing, or auto) does not take, and for settings that exclude each other.
HEDDLE_EXPORT void check_for_method(const Settings& settings, std::string_view method);

}  // namespace heddle
