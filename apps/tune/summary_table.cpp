// A run of `heddle tune` on the terminal.
#include "amounts.hpp"
#include "plan_names.hpp"
#include "summary.hpp"
#include "text_table.hpp"
#include "tune_output.hpp"

namespace heddle::tuning {

namespace {

using Outcome = Trial::Outcome;

std::string count(const MatrixReport& matrix, Outcome outcome) {
  return report::readable_count(matrix.count(outcome));
}

std::vector<std::string> cells_of(const MatrixReport& matrix) {
  std::vector<std::string> cells = {matrix.name};
  const bool searched = !matrix.trials.empty();
  if (!matrix.record) {
    cells.insert(cells.end(), {"no plan was measured", "", "", "", "", ""});
  } else {
    const ProfileRecord& record = *matrix.record;
    const bool measured = was_measured(record);
    cells.insert(cells.end(),
                 {report::layout_name(record.plan), record.speedup ? times(*record.speedup) : "",
                  measured ? report::readable_seconds(record.seconds.median) : "predicted",
                  measured ? report::readable_span(record.seconds.lower_quartile,
                                                   record.seconds.upper_quartile)
                           : "",
                  report::schedule_name(record.plan.schedule.kind), times(record.memory_ratio)});
  }
  if (searched) {
    cells.insert(cells.end(), {count(matrix, Outcome::measured), count(matrix, Outcome::too_large),
                               count(matrix, Outcome::refused), count(matrix, Outcome::wrong)});
  } else {
    cells.insert(cells.end(), {"", "", "", ""});
  }
  cells.push_back(report::readable_seconds(matrix.seconds));
  return cells;
}

}  // namespace

void print_table(const TuneReport& report, std::ostream& out) {
  using heddle::report::wrapped;
  constexpr std::size_t indent = 11;
  out << wrapped("device     " + report.device, indent)
      << wrapped("entries    " + report.entry + " (" + report.precision + ")", indent)
      << wrapped("search     " + search_text(report), indent);
  if (report.cancelled) out << "cancelled  shows what was measured until then\n";
  for (const MatrixReport& matrix : report.matrices) {
    if (!matrix.gain_left) continue;
    out << wrapped("ended      " + (report.matrices.size() > 1 ? matrix.name + ", " : "") +
                       "since other plans are predicted to gain " + loss_text(*matrix.gain_left) +
                       " at most, and less than 3% is not worth their time",
                   indent);
  }
  report::TextTable table({{"matrix", true, 12},
                           {"layout", true, 20},
                           {"speed-up"},
                           {"median"},
                           {"quartiles"},
                           {"schedule", true},
                           {"memory"},
                           {"plans"},
                           {"too large"},
                           {"refused"},
                           {"wrong"},
                           {"search"}});
  for (const MatrixReport& matrix : report.matrices) table.add(cells_of(matrix));
  out << "\n";
  table.print(out);
  out << "\n"
      << wrapped("median: seconds of one " + timed_work(report.objective) +
                     "; speed-up: over the natural layout CSR-AoS-AoS under its best schedule; "
                     "memory: of a product's matrix, over CSR's",
                 0);
  for (const MatrixReport& matrix : report.matrices) {
    if (!matrix.record) continue;
    out << "\nplan of " << report::printable(matrix.name) << "\n"
        << to_string(matrix.record->plan) << "\n";
  }
  if (report.domain) {
    out << "\n"
        << wrapped("domain " + report.domain->domain + ": " + domain_text(*report.domain), 2);
    if (report.domain->use == DomainUse::plan) out << to_string(report.domain->plan) << "\n";
  }
}

}  // namespace heddle::tuning
