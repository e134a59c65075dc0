// Records in the order and under the names that all ways of showing them share.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "record.hpp"

namespace heddle::bench {

/// Of one suite, in the order of the run.
struct Suite {
  std::string name;
  std::vector<const Record*> records;
};

/// In the order of `suite_names` where there are any, then others as they come.
std::vector<Suite> suites(const Run& run);

/// "Products", "Solvers", ...; other names as they are.
std::string title(const Suite& suite);

/// Of the same quantity, entry and precision.
struct RecordGroup {
  std::string name;  // "product, block3", "cg, quaternion, single"
  std::vector<const Record*> records;
};
std::vector<RecordGroup> groups(const std::vector<const Record*>& records);

/// ", single" in that precision, unless the problem's name says so.
std::string precision_suffix(const Record& record);

/// The problem and its entry, with that suffix.
std::string problem_of(const Record& record);

/// The first candidate of that role; null where it has no time or is not right.
const Candidate* timed(const Record& record, Role role);
/// What Heddle is judged by: its chosen plan.
const Candidate* own(const Record& record);

/// The median of `timed`.
std::optional<double> median_of(const Record& record, Role role);

/// Entries a row, 0 without rows.
double row_length(const Record& record);

/// What differs from the plan CSR where the method is the canonical text of a plan; otherwise the
/// method.
std::string short_method(const Candidate& candidate);
/// Library, role where it is Heddle, and method: "Heddle chosen K1rs", "cuSPARSE BSR 2x2".
std::string who(const Candidate& candidate);

/// Why figures of a candidate are not there or do not count, and where that is so.
struct Fault {
  std::string who;
  std::string what;  // one line
  std::vector<const Record*> records;
};
std::vector<Fault> faults(const std::vector<const Record*>& records);
/// The problem, quantity and entry of those records, separated by commas and semicolons.
std::string where(const Fault& fault);

/// A table of one value for each pair: lines and columns in the order of their first appearance.
struct Matrix {
  std::vector<std::string> lines;
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> cells;  // [line][column], empty where there is none

  void put(const std::string& line, const std::string& column, const std::string& cell);
  void put_line(const std::string& line);  // without cells, unless it is there

 private:
  void fill();
};

/// Layouts: memory over that of CSR, or bytes where no ratio is known; a line a problem.
Matrix memory_matrix(const std::vector<const Record*>& records);
/// Medians, a column a method.
Matrix time_matrix(const std::vector<const Record*>& records);
/// Setup: medians, a line for each problem and candidate, a column a step.
Matrix step_matrix(const std::vector<const Record*>& records);

}  // namespace heddle::bench
