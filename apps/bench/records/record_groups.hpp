// Records in the order and under the names that all presentations share.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "record.hpp"

namespace heddle::bench {

/// Records of one suite, in the order of the run.
struct Suite {
  std::string name;
  std::vector<const Record*> records;
};

/// Suites in the order of `suite_names`, then others in the order of the run.
std::vector<Suite> suites(const Run& run);

/// "Products", "Solvers", ...; other names are returned unchanged.
std::string title(const Suite& suite);

/// Records of the same quantity, entry and precision.
struct RecordGroup {
  std::string name;  // "product, block3", "cg, quaternion, single"
  std::vector<const Record*> records;
};
std::vector<RecordGroup> groups(const std::vector<const Record*>& records);

/// ", single" in that precision, unless the problem's name contains it.
std::string precision_suffix(const Record& record);

/// The problem and its entry, with that suffix.
std::string problem_of(const Record& record);

/// The first candidate of that role; null where it has no time or is not right.
const Candidate* timed(const Record& record, Role role);
/// The candidate that Heddle is judged by: its chosen plan.
const Candidate* own(const Record& record);

/// The median of `timed`.
std::optional<double> median_of(const Record& record, Role role);

/// Entries per row; 0 without rows.
double row_length(const Record& record);

/// The differences from plan CSR where the method is the canonical text of a plan; otherwise the
/// method.
std::string short_method(const Candidate& candidate);
/// Library, role for Heddle, and method: "Heddle chosen K1rs", "cuSPARSE BSR 2x2".
std::string who(const Candidate& candidate);

/// The reason why figures of a candidate are missing or do not count, and the records concerned.
struct Fault {
  std::string who;
  std::string what;  // one line
  std::vector<const Record*> records;
};
std::vector<Fault> faults(const std::vector<const Record*>& records);
/// The problem, quantity and entry of those records, separated by commas and semicolons.
std::string where(const Fault& fault);

/// A table with one value per pair: lines and columns in the order of their first appearance.
struct Matrix {
  std::vector<std::string> lines;
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> cells;  // [line][column], empty without a value

  void put(const std::string& line, const std::string& column, const std::string& cell);
  void put_line(const std::string& line);  // adds an empty line, unless it exists

 private:
  void fill();
};

/// Layouts: memory over that of CSR, or bytes where no ratio is known; a line per problem.
Matrix memory_matrix(const std::vector<const Record*>& records);
/// Medians, with a column per method.
Matrix time_matrix(const std::vector<const Record*>& records);
/// Setup: medians, with a line for each problem and candidate, and a column per step.
Matrix step_matrix(const std::vector<const Record*>& records);
/// Primitives: medians, with a line for each record and a column per library.
Matrix primitives_matrix(const std::vector<const Record*>& records);
inline constexpr const char* primitives_columns =
    "median of each; bits vary: further runs left other bits";

}  // namespace heddle::bench
