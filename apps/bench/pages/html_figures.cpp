#include "html_figures.hpp"

#include <algorithm>
#include <map>

#include "amounts.hpp"
#include "page.hpp"
#include "records/hierarchical_tables.hpp"
#include "records/pjds_table.hpp"
#include "svg_chart.hpp"
#include "svg_drawing.hpp"

namespace heddle::bench {

using namespace report;

namespace {

std::string hint(const Record& record, const Candidate& candidate, double seconds) {
  std::string words = problem_of(record) + "\n" + who(candidate) + "\n" + readable_seconds(seconds);
  if (record.compulsory_bytes) {
    words += ", " + readable_bandwidth(static_cast<double>(*record.compulsory_bytes) / seconds);
  }
  return words;
}

std::string roofline(const Run& run, const Suite& suite) {
  Series warm{"Heddle's chosen plan, warm caches", 0, 0, false, Mark::disc, {}};
  Series cold{"the same, cold caches", 0, 0, false, Mark::ring, {}};
  Series peer{"best other library, warm caches", 1, 0, false, Mark::square, {}};
  int number = 0;
  for (const Record* record : suite.records) {
    ++number;
    if (!record->compulsory_bytes) continue;
    const auto bytes = static_cast<double>(*record->compulsory_bytes);
    const auto add = [&](Series& series, const Candidate& candidate, double seconds, int n) {
      series.points.push_back({bytes, bytes / seconds, hint(*record, candidate, seconds), n, {}});
    };
    if (const Candidate* ours = own(*record)) {
      add(warm, *ours, ours->seconds->median, number);
      if (ours->cold) {
        add(cold, *ours, ours->cold->median, 0);
        warm.points.back().joined_to = cold.points.back().y;
      }
    }
    if (const Candidate* best = record->best_peer()) add(peer, *best, best->seconds->median, 0);
  }
  Chart chart;
  chart.title = "Bandwidth reached against bytes of a product";
  chart.height = 560;
  chart.x = {"bytes that one product must move: entries, columns and row offsets, x and y once",
             true, bytes_tick};
  chart.y = {"those bytes over the median time", true, bandwidth_tick};
  chart.series = {warm, cold, peer};
  chart.limit =
      Limit{run.bandwidth, run.bandwidth_name + ": " + readable_bandwidth(run.bandwidth), false};
  const std::string figure = svg(chart);
  if (figure.empty()) return "";
  return "<h3>Bandwidth roofline</h3>\n<p>A product does two flops per number that it reads, so "
         "memory limits it: the line is what the device reaches in a plain " +
         escaped(run.bandwidth_name) +
         ". The numbers are those of the table below. A warm product follows the same product: "
         "what fits into the last cache stays there, so such points may lie above the line; cold "
         "ones find nothing of the matrix in caches, and their time includes the start of the "
         "kernel.</p>\n" +
         figure;
}

std::string speedups(const Suite& suite) {
  std::vector<RatioGroup> entries;
  bool any = false;
  for (const Record* record : suite.records) {
    auto at = std::find_if(entries.begin(), entries.end(),
                           [&](const RatioGroup& group) { return group.name == record->entry; });
    if (at == entries.end()) at = entries.insert(at, RatioGroup{record->entry, {}});
    RatioBar bar;
    bar.label = record->problem + precision_suffix(*record);
    if (record->quantity != "product") bar.label += ", " + record->quantity;
    bar.ratio = record->speedup(Role::chosen);
    bar.ring = record->speedup(Role::natural);
    bar.diamond = record->speedup(Role::best);
    any = any || bar.ratio;
    if (const Candidate* peer = record->best_peer()) {
      bar.hint = "against " + who(*peer) + ": " + readable_seconds(peer->seconds->median);
    }
    at->bars.push_back(std::move(bar));
  }
  if (!any) return "";
  return "<h3>Against the best other library</h3>\n<p>How many times as fast Heddle is under the "
         "plan that it chooses (bar, number), under CSR (ring) and under the best known plan "
         "(diamond). To the left of 1 the other library is faster.</p>\n" +
         svg("Times as fast as the best other library",
             "times as fast as the best other library (logarithmic)", "nothing to compare",
             entries);
}

/// Seconds of an iteration, which place a candidate's iterations on the time axis.
double seconds_an_iteration(const Candidate& candidate) {
  if (candidate.solve_seconds && candidate.iterations && *candidate.iterations > 0) {
    return *candidate.solve_seconds / static_cast<double>(*candidate.iterations);
  }
  return candidate.seconds ? candidate.seconds->median : 0;
}

/// Relative residuals against time; only the final one where the library reports no history.
Series convergence_of(const Candidate& candidate) {
  Series series;
  if (candidate.history.empty()) {
    series.line = false;
    series.mark = Mark::square;
    if (candidate.solve_seconds && candidate.residual) {
      series.points.push_back({*candidate.solve_seconds, *candidate.residual, "", 0, {}});
    }
    return series;
  }
  const double step = seconds_an_iteration(candidate);
  if (!(step > 0)) return series;
  for (std::size_t i = 0; i < candidate.history.size(); ++i) {
    const double iteration =
        i < candidate.history_at.size() ? candidate.history_at[i] : static_cast<double>(i);
    series.points.push_back({iteration * step, candidate.history[i], "", 0, {}});
  }
  return series;
}

Chart convergence_chart(const Run& run, const Record& record) {
  Chart chart;
  chart.title = "Convergence of " + record.quantity + " on " + problem_of(record);
  chart.width = 560;
  chart.height = 380;
  chart.x = {"time", false, seconds_tick};
  chart.y = {"relative residual", true, power_tick};
  chart.limit = Limit{record.tolerance.value_or(run.tolerance), "tolerance", true};
  // Heddle's three roles look the same in all charts; other libraries take the numbers in between.
  auto look_of = [peers = 0](Role role) mutable {
    if (role == Role::peer) return 2 * peers++ + 1;
    return role == Role::chosen ? 0 : role == Role::best ? 2 : 4;
  };
  std::map<std::string, std::size_t> series_of_plan;
  for (const Candidate& candidate : record.candidates) {
    if (candidate.role == Role::tried) continue;
    const bool peer = candidate.role == Role::peer;
    const std::string role(name(candidate.role));
    const auto known = series_of_plan.find(candidate.method);
    if (!peer && known != series_of_plan.end()) {
      Series& series = chart.series[known->second];
      series.name += ", " + role;
      if (candidate.role == Role::chosen) series.colour = series.dashes = 0;
      continue;
    }
    Series series = convergence_of(candidate);
    if (series.points.empty()) continue;
    series.name = peer ? who(candidate) : "Heddle, " + role;
    series.colour = series.dashes = look_of(candidate.role);
    if (!peer) series_of_plan[candidate.method] = chart.series.size();
    chart.series.push_back(std::move(series));
  }
  return chart;
}

std::string convergence(const Run& run, const Suite& suite) {
  std::string figures;
  for (const Record* record : suite.records) {
    const std::string figure = svg(convergence_chart(run, *record));
    if (figure.empty()) continue;
    figures += "<div><h4>" + escaped(problem_of(*record)) + ": " + escaped(record->quantity) +
               "</h4>\n" + figure + "</div>\n";
  }
  if (figures.empty()) return "";
  return "<h3>Convergence</h3>\n<p>Relative residuals of the recurrences against time, with all "
         "iterations taken as equally long. A square is the end of a solve whose library does not "
         "report them: |b - A x| / |b| of its x.</p>\n<div class=\"pair\">\n" +
         figures + "</div>\n";
}

/// Time against rows or row length, with a line for each entry and precision.
std::string scaling_chart(const Suite& suite, const std::string& quantity) {
  const bool against_length = quantity == "against row length";
  const auto x_of = [&](const Record* record) {
    return against_length ? row_length(*record) : static_cast<double>(record->rows);
  };
  Chart chart;
  chart.title = "Time " + quantity;
  chart.height = 460;
  chart.x = {against_length ? "entries a row" : "rows (k: thousands, M: millions)", true,
             count_tick};
  chart.y = {"median time of a product, warm caches", true, seconds_tick};
  int colour = 0;
  for (RecordGroup& group : groups(suite.records)) {
    if (group.records.front()->quantity != quantity) continue;
    std::stable_sort(group.records.begin(), group.records.end(),
                     [&](const Record* a, const Record* b) { return x_of(a) < x_of(b); });
    const Record& first = *group.records.front();
    std::string label = first.entry + (first.precision == "single" ? ", single" : "");
    if (against_length) {
      label += ", " + readable_count(first.rows) + " rows";
    } else {
      label += ", " + readable_ratio(row_length(*group.records.back())) + " entries a row";
    }
    Series ours{label, colour, 0, true, Mark::disc, {}};
    Series peers{"the same, best other library", colour, 1, true, Mark::square, {}};
    const auto add = [&](Series& series, const Record* record, const Candidate* candidate) {
      if (!candidate) return;
      const double seconds = candidate->seconds->median;
      series.points.push_back({x_of(record), seconds, hint(*record, *candidate, seconds), 0, {}});
    };
    for (const Record* record : group.records) {
      add(ours, record, own(*record));
      add(peers, record, record->best_peer());
    }
    chart.series.push_back(std::move(ours));
    chart.series.push_back(std::move(peers));
    ++colour;
  }
  const std::string figure = svg(chart);
  return figure.empty() ? "" : "<h3>" + escaped(chart.title) + "</h3>\n" + figure;
}

std::string scaling_charts(const Suite& suite) {
  std::string html;
  std::vector<std::string> shown;
  for (const Record* record : suite.records) {
    if (std::find(shown.begin(), shown.end(), record->quantity) != shown.end()) continue;
    shown.push_back(record->quantity);
    html += scaling_chart(suite, record->quantity);
  }
  return html;
}

std::string matrix_table(const std::string& caption, const Matrix& matrix) {
  if (matrix.columns.empty()) return "";
  std::string html = "<h3>" + escaped(caption) +
                     "</h3>\n<div class=\"wide\"><table>\n<thead><tr><th class=\"l\">problem</th>";
  for (const std::string& column : matrix.columns) html += element("th", column);
  html += "</tr></thead>\n<tbody>\n";
  for (std::size_t i = 0; i < matrix.lines.size(); ++i) {
    html += "<tr><th class=\"l\">" + escaped(matrix.lines[i]) + "</th>";
    for (const std::string& cell : matrix.cells[i]) html += element("td", cell);
    html += "</tr>\n";
  }
  return html + "</tbody>\n</table></div>\n";
}

}  // namespace

std::string figures_of(const Run& run, const Suite& suite) {
  if (suite.name == "solver") return speedups(suite) + convergence(run, suite);
  if (suite.name == "layouts") {
    return matrix_table("Memory over that of CSR", memory_matrix(suite.records)) +
           matrix_table("Median time", time_matrix(suite.records));
  }
  if (suite.name == "right-hand-sides") {
    return matrix_table("Median of an iteration and system", step_matrix(suite.records));
  }
  if (suite.name == "setup") return matrix_table("Median of each step", step_matrix(suite.records));
  if (suite.name == "assembly") return matrix_table("Median", step_matrix(suite.records));
  if (suite.name == "pjds") return matrix_table(pjds_columns, pjds_table(suite.records));
  if (suite.name == "primitives") {
    return matrix_table(primitives_columns, primitives_matrix(suite.records));
  }
  if (suite.name == "hierarchical") {
    std::string html;
    for (const TitledMatrix& table : hierarchical_tables(suite.records)) {
      html += matrix_table(table.title, table.matrix);
    }
    return html;
  }
  if (suite.name == "scaling") return scaling_charts(suite);
  return roofline(run, suite) + speedups(suite);
}

}  // namespace heddle::bench
