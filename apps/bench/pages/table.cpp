// A run on the terminal.
#include <algorithm>
#include <functional>

#include "amounts.hpp"
#include "output.hpp"
#include "records/hierarchical_tables.hpp"
#include "records/pjds_table.hpp"
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

/// The largest error among Heddle's candidates.
std::optional<double> largest_error(const Record& record) {
  std::optional<double> largest;
  for (const Candidate& candidate : record.candidates) {
    if (candidate.role == Role::peer || !candidate.error) continue;
    if (!largest || !(*candidate.error <= *largest)) largest = candidate.error;
  }
  return largest;
}

/// A column and its text for a record.
struct RecordColumn {
  TextTable::Column head;
  std::function<std::string(const Record&)> cell;
};
using Columns = std::vector<RecordColumn>;

RecordColumn ratio(const char* title, Role role) {
  return {{title}, [role](const Record& record) { return times(record.speedup(role)); }};
}
/// A column with the text of `tell` for Heddle's chosen plan, if that plan counts.
template <class F>
RecordColumn of_own(const char* title, F tell) {
  return {{title}, [tell](const Record& record) {
            const Candidate* const ours = own(record);
            return ours ? tell(*ours) : std::string();
          }};
}
template <class F>
RecordColumn of_peer(const char* title, F tell) {
  return {{title}, [tell](const Record& record) {
            const Candidate* const peer = record.best_peer();
            return peer ? tell(*peer) : std::string();
          }};
}
std::string iterations(const Candidate& candidate) {
  return text_or_nothing(candidate.iterations, readable_count);
}
std::string solve(const Candidate& candidate) { return median(candidate.solve_seconds); }
std::string warm(const Candidate& candidate) {
  return text_or_nothing(candidate.of_bandwidth, readable_percent);
}
std::string cold(const Candidate& candidate) {
  return text_or_nothing(candidate.cold_of_bandwidth, readable_percent);
}

std::string seconds_of(const Candidate* candidate) {
  return candidate ? readable_seconds(candidate->seconds->median) : "";
}

/// Prints problem and size, the best peer and all times, then the columns of the suite.
void print_columns(const Suite& suite, std::size_t width_of_problem, const Columns& sizes,
                   const Columns& rest, std::ostream& out) {
  Columns columns = {{{"  problem", true, width_of_problem},
                      [](const Record& record) { return "  " + record.problem; }},
                     {{"rows"}, [](const Record& record) { return readable_count(record.rows); }}};
  columns.insert(columns.end(), sizes.begin(), sizes.end());
  columns.push_back(of_peer("best peer", who));
  columns.back().head = {"best peer", true, 8};
  columns.push_back(of_peer(
      "time", [](const Candidate& peer) { return readable_seconds(peer.seconds->median); }));
  for (const Role role : {Role::natural, Role::chosen, Role::best}) {
    columns.push_back({{std::string(name(role))},
                       [role](const Record& record) { return median(median_of(record, role)); }});
  }
  columns.insert(columns.end(), rest.begin(), rest.end());

  std::vector<TextTable::Column> heads;
  for (const RecordColumn& column : columns) heads.push_back(column.head);
  TextTable table(std::move(heads));
  for (const RecordGroup& group : groups(suite.records)) {
    table.add_heading(group.name);
    for (const Record* record : group.records) {
      std::vector<std::string> cells;
      for (const RecordColumn& column : columns) cells.push_back(column.cell(*record));
      table.add(std::move(cells));
    }
  }
  table.print(out);
}

void print_products(const Suite& suite, std::ostream& out) {
  print_columns(suite, 20, {},
                {ratio("x nat.", Role::natural),
                 ratio("x ch.", Role::chosen),
                 ratio("x best", Role::best),
                 of_own("warm", warm),
                 of_own("cold", cold),
                 {{"error"},
                  [](const Record& record) {
                    return text_or_nothing(largest_error(record), readable_error);
                  }}},
                out);
}

void print_solvers(const Suite& suite, std::ostream& out) {
  const auto residual = [](const Candidate& candidate) {
    return text_or_nothing(candidate.residual, readable_error);
  };
  print_columns(
      suite, 18, {},
      {ratio("x ch.", Role::chosen), of_own("iter.", iterations), of_own("solve", solve),
       of_own("resid.", residual), of_peer("peer's", iterations), of_peer("solve", solve)},
      out);
}

void print_scaling(const Suite& suite, std::ostream& out) {
  print_columns(
      suite, 20,
      {{{"a row"}, [](const Record& record) { return readable_ratio(row_length(record)); }}},
      {ratio("x ch.", Role::chosen), of_own("warm", warm), of_own("cold", cold)}, out);
}

/// Heddle alone, with a line for each problem and number of systems.
void print_right_hand_sides(const Suite& suite, std::ostream& out) {
  TextTable table({{"  problem", true, 20},
                   {"one by one"},
                   {"side by side"},
                   {"x"},
                   {"of limit"},
                   {"block"},
                   {"iter."},
                   {"solves"},
                   {"block's"},
                   {"solves"},
                   {"one by one"}});
  for (const RecordGroup& group : groups(suite.records)) {
    table.add_heading(group.name);
    for (const Record* record : group.records) {
      const Candidate *const one = timed(*record, Role::natural), *const all = own(*record),
                             *const block = timed(*record, Role::tried);
      table.add(
          {"  " + record->problem, seconds_of(one), seconds_of(all),
           one && all ? readable_ratio(one->seconds->median / all->seconds->median) + "x" : "",
           all ? warm(*all) : "", seconds_of(block), all ? iterations(*all) : "",
           all ? solve(*all) : "", block ? iterations(*block) : "", block ? solve(*block) : "",
           one ? solve(*one) : ""});
    }
  }
  table.print(out);
}

/// Prints as many columns side by side as fit; long titles become numbers, explained below.
void print_matrix(const std::string& corner, const Matrix& matrix, std::ostream& out) {
  constexpr std::size_t longest_title = 14;
  std::vector<std::string> titles, long_titles;
  std::vector<std::size_t> widths;
  for (std::size_t j = 0; j < matrix.columns.size(); ++j) {
    std::string column = matrix.columns[j];
    if (width(column) > longest_title) {
      long_titles.push_back(column);
      column = "[" + std::to_string(long_titles.size()) + "]";
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
  for (std::size_t k = 0; k < long_titles.size(); ++k) {
    out << wrapped("  [" + std::to_string(k + 1) + "] " + long_titles[k], 6);
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
  out << "without a valid result\n";
  for (const Fault& fault : found) {
    out << wrapped("  " + fault.who + ": " + fault.what, 4) << wrapped("    " + where(fault), 4);
  }
}

std::string what_columns_mean(const Suite& suite, const Run& run) {
  const std::string limit = run.bandwidth_name + " (" + readable_bandwidth(run.bandwidth) + ")";
  const std::string plans =
      "natural, chosen, best: median under CSR, the chosen plan, the best known plan";
  const std::string shares = "; warm, cold: % of " + limit + " under the chosen plan";
  if (suite.name == "layouts") return "memory over that of CSR";
  if (suite.name == "setup") return "median of each step";
  if (suite.name == "assembly") {
    return "median of each; reorder: also over that of a product, and the products that pay for it";
  }
  if (suite.name == "hierarchical") return "hisparse: a tree with nodes of d x d";
  if (suite.name == "pjds") return pjds_columns;
  if (suite.name == "primitives") return primitives_columns;
  if (suite.name == "solver") {
    return "time of one iteration; " + plans +
           "; x: times as fast as the best peer; solve: iterations and time to the tolerance (" +
           readable_error(run.tolerance) +
           ", or a larger one where that takes long), the chosen plan's and the peer's; resid.: |b "
           "- A x| / |b|";
  }
  if (suite.name == "right-hand-sides") {
    return "time of one iteration and system: one by one, side by side and as a block, under the "
           "chosen plan; x: times as fast side by side as one by one; of limit: what side by side "
           "has to move, in % of " +
           limit + "; iter., solves: iterations and time of all systems to the tolerance";
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
    } else if (suite.name == "setup" || suite.name == "assembly") {
      print_matrix(suite.name == "setup" ? "  step" : "  assembly", step_matrix(suite.records),
                   out);
    } else if (suite.name == "hierarchical") {
      for (const TitledMatrix& table : hierarchical_tables(suite.records)) {
        out << "\n" << wrapped(table.title, 0);
        print_matrix("  " + table.corner, table.matrix, out);
      }
    } else if (suite.name == "pjds") {
      print_matrix("  problem", pjds_table(suite.records), out);
    } else if (suite.name == "primitives") {
      print_matrix("  primitive", primitives_matrix(suite.records), out);
    } else if (suite.name == "solver") {
      print_solvers(suite, out);
    } else if (suite.name == "right-hand-sides") {
      print_right_hand_sides(suite, out);
    } else if (suite.name == "scaling") {
      print_scaling(suite, out);
    } else {
      print_products(suite, out);
    }
    print_faults(suite, out);
  }
}

}  // namespace heddle::bench
