#include "record_groups.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <sstream>

#include "amounts.hpp"
#include "plan_names.hpp"

namespace heddle::bench {

using namespace report;

namespace {

struct SuiteTitle {
  std::string_view name, title;
};
constexpr std::array<SuiteTitle, 10> suite_titles = {{{"product", "Products"},
                                                      {"solver", "Solvers"},
                                                      {"right-hand-sides", "Right-hand sides"},
                                                      {"layouts", "Layouts"},
                                                      {"setup", "Setting up"},
                                                      {"scaling", "Scaling"},
                                                      {"assembly", "Assembly"},
                                                      {"hierarchical", "Hierarchical storage"},
                                                      {"pjds", "ELLPACK-R and pJDS"},
                                                      {"primitives", "Primitives of a GPU"}}};

/// The position of `value` in `values`; appends it where it is missing.
std::size_t place_of(const std::string& value, std::vector<std::string>& values) {
  const auto found = std::find(values.begin(), values.end(), value);
  const auto place = static_cast<std::size_t>(found - values.begin());
  if (found == values.end()) values.push_back(value);
  return place;
}

/// The column of a candidate among others of the same suite.
std::string column_of(const Candidate& candidate) {
  return candidate.role == Role::peer ? who(candidate) : short_method(candidate);
}

/// The fault of a candidate; empty where there is none.
std::string what_is_wrong(const Record& record, const Candidate& candidate) {
  if (candidate.failure) return *candidate.failure;
  if (is_right(record, candidate)) return "";
  if (!candidate.status || *candidate.status == "converged") {
    return "wrong result: error " + readable_error(*candidate.error);
  }
  std::string what = "ended as " + *candidate.status;
  if (candidate.iterations) {
    what += " after " + readable_count(*candidate.iterations) + " iterations";
  }
  if (candidate.residual) what += ", residual " + readable_error(*candidate.residual);
  return what;
}

}  // namespace

std::vector<Suite> suites(const Run& run) {
  std::vector<Suite> found;
  found.reserve(suite_titles.size());
  for (const SuiteTitle& suite : suite_titles) found.push_back({std::string(suite.name), {}});
  for (const Record& record : run.records) {
    auto at = std::find_if(found.begin(), found.end(),
                           [&](const Suite& suite) { return suite.name == record.suite; });
    if (at == found.end()) at = found.insert(at, Suite{record.suite, {}});
    at->records.push_back(&record);
  }
  std::erase_if(found, [](const Suite& suite) { return suite.records.empty(); });
  return found;
}

std::string title(const Suite& suite) {
  for (const SuiteTitle& known : suite_titles) {
    if (known.name == suite.name) return std::string(known.title);
  }
  return suite.name;
}

std::vector<RecordGroup> groups(const std::vector<const Record*>& records) {
  std::vector<RecordGroup> found;
  for (const Record* record : records) {
    const std::string name =
        record->quantity + ", " + record->entry + (record->precision == "single" ? ", single" : "");
    auto at = std::find_if(found.begin(), found.end(),
                           [&](const RecordGroup& group) { return group.name == name; });
    if (at == found.end()) at = found.insert(at, RecordGroup{name, {}});
    at->records.push_back(record);
  }
  return found;
}

std::string precision_suffix(const Record& record) {
  return record.precision != "single" || record.problem.ends_with("single") ? "" : ", single";
}

std::string problem_of(const Record& record) {
  return record.problem + ", " + record.entry + precision_suffix(record);
}

const Candidate* timed(const Record& record, Role role) {
  const Candidate* found = record.find(role);
  return found && found->seconds && is_right(record, *found) ? found : nullptr;
}

const Candidate* own(const Record& record) { return timed(record, Role::chosen); }

std::optional<double> median_of(const Record& record, Role role) {
  const Candidate* candidate = timed(record, role);
  return candidate ? std::optional(candidate->seconds->median) : std::nullopt;
}

double row_length(const Record& record) {
  if (record.rows == 0) return 0;
  return static_cast<double>(record.entries) / static_cast<double>(record.rows);
}

std::string short_method(const Candidate& candidate) {
  // A plan in full, whichever keys plans had when it was written.
  const bool is_plan = candidate.role != Role::peer && candidate.method.starts_with("C=");
  return is_plan ? short_plan(candidate.method) : candidate.method;
}

std::string who(const Candidate& candidate) {
  std::string text = candidate.library;
  if (candidate.role != Role::peer) text += " " + std::string(name(candidate.role));
  const std::string method = short_method(candidate);
  return method.empty() ? text : text + " " + method;
}

std::vector<Fault> faults(const std::vector<const Record*>& records) {
  std::vector<Fault> found;
  for (const Record* record : records) {
    for (const Candidate& candidate : record->candidates) {
      const std::string what = what_is_wrong(*record, candidate);
      if (what.empty()) continue;
      const std::string whose = who(candidate);
      auto at = std::find_if(found.begin(), found.end(), [&](const Fault& fault) {
        return fault.who == whose && fault.what == what;
      });
      if (at == found.end()) at = found.insert(at, Fault{whose, what, {}});
      at->records.push_back(record);
    }
  }
  return found;
}

std::string where(const Fault& fault) {
  std::string text;
  for (const Record* record : fault.records) {
    text += (text.empty() ? "" : "; ") + problem_of(*record) + ", " + record->quantity;
  }
  return text;
}

void Matrix::put(const std::string& line, const std::string& column, const std::string& cell) {
  const std::size_t i = place_of(line, lines), j = place_of(column, columns);
  fill();
  std::string& place = cells[i][j];
  place = place.empty() || place == cell ? cell : place + "; " + cell;
}

void Matrix::put_line(const std::string& line) {
  place_of(line, lines);
  fill();
}

void Matrix::fill() {
  cells.resize(lines.size());
  for (auto& row : cells) row.resize(columns.size());
}

Matrix memory_matrix(const std::vector<const Record*>& records) {
  Matrix matrix;
  for (const Record* record : records) {
    matrix.put_line(problem_of(*record));
    for (const Candidate& candidate : record->candidates) {
      if (!candidate.memory_ratio && !candidate.memory_bytes) continue;
      matrix.put(problem_of(*record), column_of(candidate),
                 candidate.memory_ratio
                     ? readable_ratio(*candidate.memory_ratio)
                     : readable_bytes(static_cast<double>(*candidate.memory_bytes)));
    }
  }
  return matrix;
}

Matrix time_matrix(const std::vector<const Record*>& records) {
  Matrix matrix;
  for (const Record* record : records) {
    matrix.put_line(problem_of(*record));
    for (const Candidate& candidate : record->candidates) {
      if (!candidate.seconds) continue;
      matrix.put(problem_of(*record), column_of(candidate),
                 readable_seconds(candidate.seconds->median));
    }
  }
  return matrix;
}

Matrix step_matrix(const std::vector<const Record*>& records) {
  Matrix matrix;
  for (const Record* record : records) {
    for (const Candidate& candidate : record->candidates) {
      std::string text = text_or_nothing(
          candidate.seconds, [](const Timing& timing) { return readable_seconds(timing.median); });
      if (candidate.of_product) text += ", " + readable_ratio(*candidate.of_product);
      if (candidate.products_to_pay) {
        text += ", pays after " + readable_ratio(*candidate.products_to_pay);
      }
      matrix.put(problem_of(*record) + ": " + who(candidate), record->quantity, text);
    }
  }
  return matrix;
}

Matrix primitives_matrix(const std::vector<const Record*>& records) {
  Matrix matrix;
  for (const Record* record : records) {
    const std::string line = problem_of(*record) + ": " + record->quantity;
    matrix.put_line(line);
    for (const Candidate& candidate : record->candidates) {
      if (!candidate.seconds) continue;
      std::string text = readable_seconds(candidate.seconds->median);
      if (candidate.role == Role::peer) text += " " + candidate.method;
      if (!candidate.repeats.value_or(true)) text += ", bits vary";
      matrix.put(line, candidate.library, text);
    }
  }
  return matrix;
}

}  // namespace heddle::bench
