// A run on the terminal.
#include <algorithm>

#include "amounts.hpp"
#include "output.hpp"
#include "records/record_groups.hpp"
#include "text_table.hpp"

namespace heddle::bench {

using namespace report;

namespace {

std::string median(const std::optional<double>& seconds) {
  return text_or_nothing(seconds, readable_seconds);
}

std::string times(const std::optional<double>& ratio) {
  return ratio ? readable_ratio(*ratio) + "x" : std::string();
}

/// Of Heddle's candidates the largest.
std::optional<double> largest_error(const Record& record) {
  std::optional<double> largest;
  for (const Candidate& candidate : record.candidates) {
    if (candidate.role == Role::peer || !candidate.error) continue;
    if (!largest || !(*candidate.error <= *largest)) largest = candidate.error;
  }
  return largest;
}

/// Cells that every suite with times begins with: best peer and its time, then Heddle's.
struct FirstCells {
  std::string peer, peer_time, natural, chosen, best;

  explicit FirstCells(const Record& record)
      : natural(median(median_of(record, Role::natural))),
        chosen(median(median_of(record, Role::chosen))),
        best(median(median_of(record, Role::best))) {
    if (const Candidate* candidate = record.best_peer()) {
      peer = who(*candidate);
      peer_time = readable_seconds(candidate->seconds->median);
    }
  }
};

template <class F>
void add_groups(const Suite& suite, TextTable& table, F&& cells) {
  for (const RecordGroup& group : groups(suite.records)) {
    table.add_heading(group.name);
    for (const Record* record : group.records) table.add(cells(*record));
  }
}

void print_products(const Suite& suite, std::ostream& out) {
  TextTable table({{"  problem", true, 20},
                   {"rows"},
                   {"best peer", true, 8},
                   {"time"},
                   {"natural"},
                   {"chosen"},
                   {"best"},
                   {"x nat."},
                   {"x ch."},
                   {"x best"},
                   {"warm"},
                   {"cold"},
                   {"error"}});
  add_groups(suite, table, [](const Record& record) -> std::vector<std::string> {
    const FirstCells t(record);
    const Candidate* ours = own(record);
    const auto share = [&](std::optional<double> Candidate::* of) {
      return ours ? text_or_nothing(ours->*of, readable_percent) : std::string();
    };
    return {"  " + record.problem,
            readable_count(record.rows),
            t.peer,
            t.peer_time,
            t.natural,
            t.chosen,
            t.best,
            times(record.speedup(Role::natural)),
            times(record.speedup(Role::chosen)),
            times(record.speedup(Role::best)),
            share(&Candidate::of_bandwidth),
            share(&Candidate::cold_of_bandwidth),
            text_or_nothing(largest_error(record), readable_error)};
  });
  table.print(out);
}

void print_solvers(const Suite& suite, std::ostream& out) {
  TextTable table({{"  problem", true, 18},
                   {"rows"},
                   {"best peer", true, 8},
                   {"time"},
                   {"natural"},
                   {"chosen"},
                   {"best"},
                   {"x ch."},
                   {"iter."},
                   {"solve"},
                   {"resid."},
                   {"peer's"},
                   {"solve"}});
  add_groups(suite, table, [](const Record& record) -> std::vector<std::string> {
    const FirstCells t(record);
    const Candidate* ours = own(record);
    const Candidate* peer = record.best_peer();
    const auto iterations = [](const Candidate* candidate) {
      return candidate ? text_or_nothing(candidate->iterations, readable_count) : std::string();
    };
    const auto solve = [](const Candidate* candidate) {
      return candidate ? median(candidate->solve_seconds) : std::string();
    };
    return {"  " + record.problem,
            readable_count(record.rows),
            t.peer,
            t.peer_time,
            t.natural,
            t.chosen,
            t.best,
            times(record.speedup(Role::chosen)),
            iterations(ours),
            solve(ours),
            ours ? text_or_nothing(ours->residual, readable_error) : std::string(),
            iterations(peer),
            solve(peer)};
  });
  table.print(out);
}

void print_scaling(const Suite& suite, std::ostream& out) {
  TextTable table({{"  problem", true, 20},
                   {"rows"},
                   {"a row"},
                   {"best peer", true, 8},
                   {"time"},
                   {"natural"},
                   {"chosen"},
                   {"best"},
                   {"x ch."},
                   {"warm"},
                   {"cold"}});
  add_groups(suite, table, [](const Record& record) -> std::vector<std::string> {
    const FirstCells t(record);
    const Candidate* ours = own(record);
    return {"  " + record.problem,
            readable_count(record.rows),
            readable_ratio(row_length(record)),
            t.peer,
            t.peer_time,
            t.natural,
            t.chosen,
            t.best,
            times(record.speedup(Role::chosen)),
            ours ? text_or_nothing(ours->of_bandwidth, readable_percent) : std::string(),
            ours ? text_or_nothing(ours->cold_of_bandwidth, readable_percent) : std::string()};
  });
  table.print(out);
}

/// As many columns side by side as fit; long titles become numbers that are told below.
void print_matrix(const std::string& corner, const Matrix& matrix, std::ostream& out) {
  constexpr std::size_t longest_title = 14;
  std::vector<std::string> titles, told;
  std::vector<std::size_t> widths;
  for (std::size_t j = 0; j < matrix.columns.size(); ++j) {
    std::string column = matrix.columns[j];
    if (width(column) > longest_title) {
      told.push_back(column);
      column = "[" + std::to_string(told.size()) + "]";
    }
    std::size_t widest = width(column);
    for (const auto& cells : matrix.cells) widest = std::max(widest, width(cells[j]));
    titles.push_back(std::move(column));
    widths.push_back(widest);
  }
  std::size_t first_width = width(corner);
  for (const std::string& line : matrix.lines) first_width = std::max(first_width, width(line) + 2);
  constexpr std::size_t widest_first = 48;
  first_width = std::min(first_width, widest_first);

  std::size_t first = 0;
  do {
    std::size_t end = first, total = first_width;
    while (end < titles.size() && (end == first || total + 2 + widths[end] <= terminal_width)) {
      total += 2 + widths[end++];
    }
    std::vector<TextTable::Column> columns = {{corner, true, first_width}};
    for (std::size_t j = first; j < end; ++j) columns.push_back({titles[j]});
    TextTable table(std::move(columns));
    for (std::size_t i = 0; i < matrix.lines.size(); ++i) {
      std::vector<std::string> cells = {"  " + matrix.lines[i]};
      for (std::size_t j = first; j < end; ++j) {
        cells.push_back(matrix.cells[i][j].empty() ? "-" : matrix.cells[i][j]);
      }
      table.add(std::move(cells));
    }
    table.print(out);
    first = end;
  } while (first < titles.size());
  for (std::size_t k = 0; k < told.size(); ++k) {
    out << wrapped("  [" + std::to_string(k + 1) + "] " + told[k], 6);
  }
}

void print_layouts(const Suite& suite, std::ostream& out) {
  const Matrix memory = memory_matrix(suite.records), seconds = time_matrix(suite.records);
  if (!memory.columns.empty() || seconds.columns.empty()) print_matrix("  memory", memory, out);
  if (!seconds.columns.empty()) print_matrix("  time", seconds, out);
}

void print_faults(const Suite& suite, std::ostream& out) {
  const std::vector<Fault> found = faults(suite.records);
  if (found.empty()) return;
  out << "without a result that counts\n";
  for (const Fault& fault : found) {
    out << wrapped("  " + fault.who + ": " + fault.what, 4) << wrapped("    " + where(fault), 4);
  }
}

std::string what_columns_mean(const Suite& suite, const Run& run) {
  const std::string limit = run.bandwidth_name + " (" + readable_bandwidth(run.bandwidth) + ")";
  const std::string plans =
      "natural, chosen, best: median under CSR, the plan that is chosen, the best known";
  const std::string shares = "; warm, cold: % of " + limit + " under the chosen plan";
  if (suite.name == "layouts") return "memory over that of CSR";
  if (suite.name == "setup") return "median of each step";
  if (suite.name == "solver") {
    return "time of one iteration; " + plans +
           "; x: times as fast as the best peer; solve: iterations and time to the tolerance (" +
           readable_error(run.tolerance) +
           "; where that takes long a larger one), the chosen plan's and the peer's; resid.: "
           "|b - A x| / |b|";
  }
  if (suite.name == "scaling")
    return plans + "; a row: entries; x: times as fast as the best peer" + shares;
  return plans + "; x: times as fast as the best peer" + shares +
         "; error: the largest of Heddle's";
}

}  // namespace

void print_table(const Run& run, std::ostream& out) {
  const auto line = [&](const std::string& label, const std::string& text) {
    if (!text.empty()) out << wrapped(label + std::string(11 - label.size(), ' ') + text, 11);
  };
  line("heddle",
       run.version + ", commit " + run.commit + (run.date.empty() ? "" : ", " + run.date));
  line("machine", run.machine);
  line("device", run.device);
  line(run.bandwidth_name, readable_bandwidth(run.bandwidth) + ", " +
                               std::to_string(run.repetitions) + " interleaved repetitions");
  line("command", run.command);
  for (const PeerPresence& peer : run.peers) {
    if (!peer.present) continue;
    line("library",
         peer.name + " " + peer.version + (peer.detail.empty() ? "" : ": " + peer.detail));
  }
  for (const PeerPresence& peer : run.peers) {
    if (!peer.present) line("absent", peer.name + (peer.detail.empty() ? "" : ": " + peer.detail));
  }
  for (const Suite& suite : suites(run)) {
    out << "\n" << printable(title(suite)) << "\n";
    out << wrapped(what_columns_mean(suite, run), 0);
    if (suite.name == "layouts") {
      print_layouts(suite, out);
    } else if (suite.name == "setup") {
      print_matrix("  step", step_matrix(suite.records), out);
    } else if (suite.name == "solver") {
      print_solvers(suite, out);
    } else if (suite.name == "scaling") {
      print_scaling(suite, out);
    } else {
      print_products(suite, out);
    }
    print_faults(suite, out);
  }
}

}  // namespace heddle::bench
