// A page of results of runs: every record, including those that other libraries win.
#include "amounts.hpp"
#include "markdown_table.hpp"
#include "output.hpp"
#include "records/hierarchical_tables.hpp"
#include "records/pjds_table.hpp"
#include "records/record_groups.hpp"

namespace heddle::bench {

using namespace report;

namespace {

std::string ratio_text(const std::optional<double>& ratio) {
  return text_or_nothing(ratio, readable_ratio);
}

std::string time_of(const Candidate* candidate) {
  if (!candidate || !candidate->seconds) return "";
  return readable_seconds(candidate->seconds->median);
}

std::string time_and_name(const Candidate* candidate) {
  if (!candidate) return "";
  return time_of(candidate) + ", " + who(*candidate);
}

std::string cold_of(const Candidate* candidate) {
  if (!candidate || !candidate->cold) return "";
  return readable_seconds(candidate->cold->median);
}

std::string share(const std::optional<double>& of) { return text_or_nothing(of, readable_percent); }

/// The fastest candidate of that library with a right result.
const Candidate* fastest_of(const Record& record, std::string_view library) {
  const Candidate* fastest = nullptr;
  for (const Candidate& candidate : record.candidates) {
    if (candidate.library != library || !candidate.seconds || !is_right(record, candidate))
      continue;
    if (!fastest || candidate.seconds->median < fastest->seconds->median) fastest = &candidate;
  }
  return fastest;
}

std::string iterations_and_time(const Candidate* candidate) {
  if (!candidate || !candidate->iterations) return "";
  std::string text = readable_count(*candidate->iterations);
  if (candidate->solve_seconds) text += " in " + readable_seconds(*candidate->solve_seconds);
  return text;
}

/// The record's tolerance where it differs from the run's.
std::string own_tolerance(const Record& record) {
  return text_or_nothing(record.tolerance, readable_error);
}

std::string products(const Suite& suite, const Run& run) {
  MarkdownTable table({"product", "rows", "warm", "of " + run.bandwidth_name, "best other library",
                       "times as fast", "under CSR", "under the best plan", "cold",
                       "cold, of " + run.bandwidth_name});
  for (const Record* record : suite.records) {
    const Candidate* ours = own(*record);
    const std::string quantity = record->quantity == "product" ? "" : ", " + record->quantity;
    table.add({problem_of(*record) + quantity, readable_count(record->rows), time_of(ours),
               ours ? share(ours->of_bandwidth) : "", time_and_name(record->best_peer()),
               ratio_text(record->speedup(Role::chosen)),
               ratio_text(record->speedup(Role::natural)), ratio_text(record->speedup(Role::best)),
               cold_of(ours), ours ? share(ours->cold_of_bandwidth) : ""});
  }
  return "Warm and cold: medians of a product under the chosen plan. Times as fast as the best "
         "other library: under the chosen plan, under CSR, under the best known plan, each with "
         "warm caches.\n\n" +
         table.text();
}

std::string solvers(const Suite& suite, const Run& run) {
  MarkdownTable table({"solve", "rows", "iteration", "best other library", "textbook",
                       "times as fast as the best",
                       "iterations and time to " + readable_error(run.tolerance), "or to",
                       "the best other's", "residual"});
  for (const Record* record : suite.records) {
    const Candidate* ours = own(*record);
    const Candidate* peer = record->best_peer();
    table.add({problem_of(*record) + ", " + record->quantity, readable_count(record->rows),
               time_of(ours), time_and_name(peer), time_of(fastest_of(*record, "textbook")),
               ratio_text(record->speedup(Role::chosen)), iterations_and_time(ours),
               own_tolerance(*record), iterations_and_time(peer),
               ours ? text_or_nothing(ours->residual, readable_error) : ""});
  }
  return "Medians of an iteration under the chosen plan; textbook: a loop of the vendor's library "
         "calls.\n\n" +
         table.text();
}

std::string right_hand_sides(const Suite& suite, const Run& run) {
  MarkdownTable table({"problem", "rows", "systems", "one by one", "side by side", "times as fast",
                       "of " + run.bandwidth_name, "as a block",
                       "all to " + readable_error(run.tolerance) + ": one by one", "side by side",
                       "as a block", "or to", "residual"});
  for (const Record* record : suite.records) {
    const Candidate *const one = timed(*record, Role::natural), *const all = own(*record),
                           *const block = timed(*record, Role::tried);
    table.add({problem_of(*record), readable_count(record->rows), record->quantity, time_of(one),
               time_of(all),
               one && all ? readable_ratio(one->seconds->median / all->seconds->median) : "",
               all ? share(all->of_bandwidth) : "", time_of(block), iterations_and_time(one),
               iterations_and_time(all), iterations_and_time(block), own_tolerance(*record),
               all ? text_or_nothing(all->residual, readable_error) : ""});
  }
  return "Medians of an iteration of one system under the chosen plan: one system after the other, "
         "side by side, and by block conjugate gradient; then the iterations of the slowest system "
         "and the time of all.\n\n" +
         table.text();
}

std::string scaling(const Suite& suite, const Run& run) {
  MarkdownTable table({"problem", "rows", "entries a row", "warm", "of " + run.bandwidth_name,
                       "best other library", "times as fast", "cold"});
  for (const Record* record : suite.records) {
    const Candidate* ours = own(*record);
    const std::string quantity = record->quantity == "product" ? "" : ", " + record->quantity;
    table.add({problem_of(*record) + quantity, readable_count(record->rows),
               readable_ratio(row_length(*record)), time_of(ours),
               ours ? share(ours->of_bandwidth) : "", time_and_name(record->best_peer()),
               ratio_text(record->speedup(Role::chosen)), cold_of(ours)});
  }
  return table.text();
}

std::string markdown_of(const std::string& corner, const Matrix& matrix) {
  std::vector<std::string> titles = {corner};
  titles.insert(titles.end(), matrix.columns.begin(), matrix.columns.end());
  MarkdownTable table(std::move(titles));
  for (std::size_t i = 0; i < matrix.lines.size(); ++i) {
    std::vector<std::string> cells = {matrix.lines[i]};
    cells.insert(cells.end(), matrix.cells[i].begin(), matrix.cells[i].end());
    table.add(std::move(cells));
  }
  return table.text();
}

std::string layouts_section(const Suite& suite) {
  const Matrix memory = memory_matrix(suite.records), seconds = time_matrix(suite.records);
  std::string text;
  if (!memory.columns.empty() || seconds.columns.empty()) {
    text += "Memory over that of CSR.\n\n" + markdown_of("layout", memory);
  }
  if (!seconds.columns.empty()) {
    text += (text.empty() ? "" : "\n") + std::string("Median time.\n\n") +
            markdown_of("layout", seconds);
  }
  return text;
}

std::string faults_section(const Suite& suite) {
  std::string text;
  for (const Fault& fault : faults(suite.records)) {
    text += "- " + escaped_markdown(fault.who + ": " + fault.what) + " (" +
            escaped_markdown(where(fault)) + ")\n";
  }
  return text.empty() ? "" : "\nWithout a valid result:\n\n" + text;
}

std::string section(const Run& run) {
  std::string text = "\n## " + escaped_markdown(run.name.empty() ? run.device : run.name) + "\n\n";
  const auto line = [&](const std::string& label, const std::string& words) {
    if (!words.empty()) text += "- " + label + ": " + escaped_markdown(words) + "\n";
  };
  line("machine", run.machine);
  line("device", run.device);
  line("date", run.date);
  line("heddle", described(run));
  text += "- command: `" + run.command + "`\n";
  line(run.bandwidth_name, readable_bandwidth(run.bandwidth) + "; figures are medians of " +
                               std::to_string(run.repetitions) + " interleaved repetitions");
  for (const PeerPresence& peer : run.peers) {
    const std::string detail = peer.detail.empty() ? "" : ": " + peer.detail;
    line(peer.present ? "library" : "absent",
         peer.name + (peer.version.empty() ? "" : " " + peer.version) + detail);
  }
  for (const Suite& suite : suites(run)) {
    text += "\n### " + escaped_markdown(title(suite)) + "\n\n";
    if (suite.name == "solver") {
      text += solvers(suite, run);
    } else if (suite.name == "right-hand-sides") {
      text += right_hand_sides(suite, run);
    } else if (suite.name == "layouts") {
      text += layouts_section(suite);
    } else if (suite.name == "setup") {
      text += "Median of each step.\n\n" + markdown_of("step", step_matrix(suite.records));
    } else if (suite.name == "assembly") {
      text += "Median of each; for `reorder` also over that of a product.\n\n" +
              markdown_of("assembly", step_matrix(suite.records));
    } else if (suite.name == "hierarchical") {
      for (const TitledMatrix& table : hierarchical_tables(suite.records)) {
        text += "\n" + table.title + ".\n\n" + markdown_of(table.corner, table.matrix);
      }
    } else if (suite.name == "pjds") {
      text +=
          std::string(pjds_columns) + ".\n\n" + markdown_of("problem", pjds_table(suite.records));
    } else if (suite.name == "primitives") {
      text += std::string(primitives_columns) + ".\n\n" +
              markdown_of("primitive", primitives_matrix(suite.records));
    } else if (suite.name == "scaling") {
      text += scaling(suite, run);
    } else {
      text += products(suite, run);
    }
    text += faults_section(suite);
  }
  return text;
}

}  // namespace

std::string results_page(const std::vector<Run>& runs) {
  std::string page =
      "# Results\n\nMeasured by `heddle bench` as docs/guide/benchmarks.md of Heddle describes. "
      "Every record of a run is here, including those that other libraries win.\n";
  for (const Run& run : runs) page += section(run);
  return page;
}

}  // namespace heddle::bench
