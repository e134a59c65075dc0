#include "pjds_table.hpp"

#include <algorithm>
#include <cstdio>
#include <string>

#include "amounts.hpp"
#include "description/code_balance.hpp"
#include "heddle/error.hpp"
#include "heddle/plan.hpp"

namespace heddle::bench {

using namespace report;

namespace {

bool is_under(const Candidate& candidate, const Plan& plan) {
  if (candidate.role == Role::peer) return false;
  try {
    return parse_plan(candidate.method) == plan;
  } catch (const Error&) {
    return false;  // a plan that was refused
  }
}

/// The first candidate under that plan, or null.
const Candidate* under(const Record& record, const char* plan) {
  const auto found = std::find_if(record.candidates.begin(), record.candidates.end(),
                                  [wanted = parse_plan(plan)](const Candidate& candidate) {
                                    return is_under(candidate, wanted);
                                  });
  return found == record.candidates.end() ? nullptr : &*found;
}

std::string speed_of(const Record& record, const Candidate* candidate) {
  if (candidate == nullptr || !candidate->seconds || !is_right(record, *candidate)) return "";
  const double flops =
      static_cast<double>(record.entries) * detail::flops_of(parse_entry_kind(record.entry));
  return readable_ratio(flops / candidate->seconds->median * 1e-9);
}

}  // namespace

Matrix pjds_table(const std::vector<const Record*>& records) {
  Matrix matrix;
  for (const Record* record : records) {
    const std::string line = problem_of(*record);
    matrix.put_line(line);
    const auto put = [&](const char* column, const std::string& cell) {
      if (!cell.empty()) matrix.put(line, column, cell);
    };
    put("a row", readable_ratio(row_length(*record)));
    const Candidate *const ellpack = under(*record, "ELL"), *const jagged = under(*record, "pJDS");
    if (ellpack && jagged && ellpack->memory_bytes && jagged->memory_bytes) {
      const double rest =
          static_cast<double>(*jagged->memory_bytes) / static_cast<double>(*ellpack->memory_bytes);
      char text[32];
      std::snprintf(text, sizeof text, "%.1f%%", 100 * (1 - rest));
      put("saved", text);
    }
    put("ELLPACK-R", speed_of(*record, ellpack));
    put("pJDS", speed_of(*record, jagged));
    put("CSR", speed_of(*record, record->find(Role::natural)));
    put("best peer", speed_of(*record, record->best_peer()));
  }
  return matrix;
}

}  // namespace heddle::bench
