// A run of `heddle tune` as one page that stands alone.
#include <algorithm>
#include <iterator>
#include <limits>

#include "amounts.hpp"
#include "box_plot.hpp"
#include "layout_maps.hpp"
#include "page.hpp"
#include "plan_names.hpp"
#include "summary.hpp"
#include "svg_chart.hpp"
#include "tune_output.hpp"

namespace heddle::tuning {

using report::definition;
using report::element;
using report::escaped;
using report::layout_name;
using report::readable_count;
using report::readable_seconds;

namespace {

using Outcome = Trial::Outcome;

// ---- header ----

std::string header(const TuneReport& run) {
  std::string html = element("h1", "heddle tune: " + run.device) + "\n<dl>\n";
  html += definition("date", run.date);
  html += definition("heddle", run.version + ", commit " + run.commit);
  html += definition("entries", run.entry + ", " + run.precision + " precision");
  html += definition("search", search_text(run));
  html += definition("each plan", "measured until its median is known to " +
                                      report::readable_percent(run.tightness) + " with " +
                                      report::readable_percent(run.confidence) + " confidence");
  if (run.cancelled) html += definition("cancelled", "shows what was measured until then");
  html += element("dt", "command") + "<dd>" + element("code", run.command) + "</dd>\n";
  return html + "</dl>\n";
}

std::string anchor(std::size_t matrix) { return "matrix-" + std::to_string(matrix + 1); }

std::string navigation(const TuneReport& run) {
  std::string html = "<nav><a href=\"#plans\">Best plans</a>";
  for (std::size_t i = 0; i < run.matrices.size(); ++i) {
    html += "<a href=\"#" + anchor(i) + "\">" + escaped(run.matrices[i].name) + "</a>";
  }
  return html + "<a href=\"#matrices\">Matrices</a></nav>\n";
}

// ---- tables ----

struct Cell {
  std::string words;
  bool left = false;
  bool breaks = false;  // into lines
};

std::string row(const std::string& head, const std::vector<Cell>& cells) {
  std::string html = "<tr><th class=\"l\">" + escaped(head) + "</th>";
  for (const Cell& cell : cells) {
    html += (cell.breaks ? "<td class=\"m\">"
             : cell.left ? "<td class=\"l\">"
                         : "<td>") +
            escaped(cell.words) + "</td>";
  }
  return html + "</tr>\n";
}

std::string table(const std::vector<Cell>& titles, const std::string& rows) {
  std::string html = "<div class=\"wide\"><table>\n<thead><tr>";
  for (const Cell& title : titles) {
    html += (title.left ? "<th class=\"l\">" : "<th>") + escaped(title.words) + "</th>";
  }
  return html + "</tr></thead>\n<tbody>\n" + rows + "</tbody>\n</table></div>\n";
}

/// Lines break between settings, not within one.
std::string plan_code(const Plan& plan) {
  std::string html;
  for (const std::string& setting : report::settings_of(to_full_string(plan))) {
    html += (html.empty() ? "" : ",</span><wbr/>") + ("<span class=\"n\">" + escaped(setting));
  }
  return "<code>" + html + "</span></code>";
}

std::string best_plans(const TuneReport& run) {
  std::string rows, plans;
  for (const MatrixReport& matrix : run.matrices) {
    std::vector<Cell> cells;
    if (matrix.record) {
      const ProfileRecord& record = *matrix.record;
      const bool measured = was_measured(record);
      cells.insert(cells.end(),
                   {{layout_name(record.plan), true},
                    {record.speedup ? times(*record.speedup) : ""},
                    {measured ? readable_seconds(record.seconds.median) : "predicted"},
                    {measured ? report::readable_span(record.seconds.lower_quartile,
                                                      record.seconds.upper_quartile)
                              : ""},
                    {record.speedup ? readable_seconds(record.natural_seconds.median) : ""},
                    {preferred_schedule(matrix), true},
                    {times(record.memory_ratio)}});
      plans += element("dt", matrix.name) + "<dd>" + plan_code(record.plan) + "</dd>\n";
    } else {
      cells.insert(cells.end(), {{"no plan was measured", true}, {}, {}, {}, {}, {}, {}});
    }
    rows += row(matrix.name, cells);
  }
  std::string html =
      "<h2 id=\"plans\">Best plans</h2>\n<p>Layouts are outer-inner-vector. The speed-up is over "
      "the natural layout, CSR-AoS-AoS, under its own best schedule. Memory is that of a product's "
      "matrix over that of CSR.</p>\n";
  html += table({{"matrix", true},
                 {"layout", true},
                 {"speed-up"},
                 {"median of one " + timed_work(run.objective)},
                 {"quartiles"},
                 {"natural layout"},
                 {"schedule", true},
                 {"memory"}},
                rows);
  if (!plans.empty()) html += "<h3>Their plans in full</h3>\n<dl>\n" + plans + "</dl>\n";
  if (run.domain) {
    html += "<h3>One plan for the domain " + escaped(run.domain->domain) + "</h3>\n" +
            element("p", domain_text(*run.domain) + ".") + "\n";
    if (run.domain->use == DomainUse::plan) {
      html += "<p>" + plan_code(run.domain->plan) + "</p>\n";
    }
  }
  return html;
}

std::string plan_counts(const TuneReport& run) {
  std::string rows;
  for (const MatrixReport& matrix : run.matrices) {
    const auto count = [&](Outcome outcome) { return readable_count(matrix.count(outcome)); };
    rows += row(matrix.name, {{readable_count(matrix.features.rows)},
                              {readable_count(matrix.features.entries)},
                              {count(Outcome::measured)},
                              {count(Outcome::too_large)},
                              {count(Outcome::refused)},
                              {count(Outcome::wrong)},
                              {readable_seconds(matrix.seconds)}});
  }
  return "<h3>What was tried</h3>\n" + table({{"matrix", true},
                                              {"rows"},
                                              {"entries"},
                                              {"plans measured"},
                                              {"too large"},
                                              {"refused"},
                                              {"wrong"},
                                              {"the search took"}},
                                             rows);
}

/// The fastest plan of each layout.
std::string layouts_table(const std::vector<LayoutMap>& maps) {
  std::string rows;
  for (const LayoutMap& map : maps) {
    if (map.best == nullptr) {
      const Trial& first = *map.first;
      const std::string why = first.reason.empty() ? "" : ": " + first.reason;
      rows += row(layout_name(first.plan), {{},
                                            {},
                                            {},
                                            {times(first.memory_ratio)},
                                            {"0"},
                                            {std::string(name(first.outcome)) + why, true, true}});
      continue;
    }
    const Trial& best = *map.best;
    rows += row(layout_name(best.plan),
                {{readable_seconds(best.seconds.median)},
                 {report::readable_span(best.seconds.lower_quartile, best.seconds.upper_quartile)},
                 {times(best.seconds.median / maps.front().best->seconds.median)},
                 {times(best.memory_ratio)},
                 {std::to_string(map.measured)},
                 {to_string(best.plan), true, true}});
  }
  return table({{"layout", true},
                {"median"},
                {"quartiles"},
                {"over the first"},
                {"memory"},
                {"plans measured"},
                {"its best plan, where it differs from CSR's", true}},
               rows);
}

// ---- figures ----

std::string whole_tick(double count) { return readable_count(static_cast<long long>(count)); }

std::string heat_map(const LayoutMap& map) {
  return "<figure>\n<figcaption>" + escaped(layout_name(map.best->plan)) + ": " +
         escaped(readable_seconds(map.best->seconds.median)) + " at best</figcaption>\n" +
         svg(map.map) + "</figure>\n";
}

std::string heat_maps(const std::vector<LayoutMap>& all) {
  std::vector<LayoutMap> maps;
  std::copy_if(all.begin(), all.end(), std::back_inserter(maps),
               [](const LayoutMap& map) { return map.best != nullptr; });
  if (maps.empty()) return "";
  const auto natural = std::find_if(maps.begin(), maps.end(), [](const LayoutMap& map) {
    return map.best->plan.layout == natural_layout(map.best->plan).layout;
  });
  std::string html =
      "<h3>Times over schedules</h3>\n<p>The natural layout, where it was tried, and that of the "
      "best plan. Brighter is faster, the fastest is framed; a cell is the fastest of its plans. "
      "Outlines are plans that could not be measured or were not tried: hover over them for the "
      "reason. Figures are from the search; its best plans were measured again side by side, which "
      "decided the best plan.</p>\n";
  if (natural != maps.end() && natural != maps.begin()) html += heat_map(*natural);
  html += heat_map(maps.front());
  std::string others;
  int count = 0;
  for (auto map = maps.begin() + 1; map != maps.end(); ++map) {
    if (map == natural) continue;
    others += heat_map(*map);
    ++count;
  }
  if (count > 0) {
    const std::string which =
        count == 1 ? "The other layout" : "The other " + std::to_string(count) + " layouts";
    html += "<details><summary>" + which + "</summary>\n" + others + "</details>\n";
  }
  return html;
}

/// Every trial in order, and the least median so far.
std::string search_chart(const MatrixReport& matrix) {
  constexpr std::size_t few = 100;
  const auto mark = matrix.trials.size() > few ? report::Mark::dot : report::Mark::disc;
  report::Series tried{"measured plan", 0, 0, false, mark, {}};
  report::Series best{"best so far", 1, 0, true, report::Mark::none, {}};
  double min_score = std::numeric_limits<double>::infinity(), seconds = 0;
  double number = 0;
  for (const Trial& trial : matrix.trials) {
    ++number;
    if (trial.outcome != Outcome::measured) continue;
    const double median = trial.seconds.median;
    tried.points.push_back(
        {number, median, to_string(trial.plan) + "\n" + readable_seconds(median), 0, {}});
    if (trial.score < min_score) {
      if (!best.points.empty()) best.points.push_back({number, seconds, "", 0, {}});
      min_score = trial.score;
      seconds = median;
      best.points.push_back({number, seconds, "", 0, {}});
    }
  }
  if (!best.points.empty()) best.points.push_back({number, seconds, "", 0, {}});
  report::Chart chart;
  chart.title = "Medians of the trials of " + matrix.name + " in their order";
  chart.height = 360;
  chart.x = {"trial", false, whole_tick};
  chart.y = {"median time", true, report::seconds_tick};
  chart.series = {tried, best};
  const std::string figure = svg(chart);
  if (figure.empty()) return "";
  return "<h3>How the search went</h3>\n" + figure;
}

std::string matrix_section(const TuneReport& run, std::size_t i) {
  const MatrixReport& matrix = run.matrices[i];
  const std::vector<LayoutMap> maps = layout_maps(matrix, run.gpu);
  std::string html = "<h2 id=\"" + anchor(i) + "\">" + escaped(matrix.name) + "</h2>\n";
  if (maps.empty()) return html + "<p>No plan was tried.</p>\n";
  html += heat_maps(maps) + search_chart(matrix);
  return html + "<h3>The best schedule of each layout</h3>\n" + layouts_table(maps);
}

// ---- properties of the matrices ----

report::BoxPlot box_plot(const TuneReport& run, const std::string& title, report::Axis axis,
                         report::FiveNumbers MatrixReport::* numbers) {
  report::BoxPlot plot{title, std::move(axis), {}};
  for (const MatrixReport& matrix : run.matrices) {
    plot.lines.push_back({matrix.name, matrix.*numbers});
  }
  return plot;
}

std::string distributions(const TuneReport& run) {
  double least = std::numeric_limits<double>::infinity(), greatest = 0;
  for (const MatrixReport& matrix : run.matrices) {
    least = std::min(least, matrix.row_lengths.least);
    greatest = std::max(greatest, matrix.row_lengths.greatest);
  }
  constexpr double wide = 20;
  const bool logarithmic = least > 0 && greatest > wide * least;
  const auto share = [](double value) {
    return value > 0 && value < 0.0995 ? report::short_amount(100 * value, {""}) + "%"
                                       : report::readable_percent(value);
  };
  return "<p>Boxes reach from the lower to the upper quartile, the line in them is the median, "
         "whiskers end at the minimum and the maximum; the figures are these "
         "five.</p>\n<h3>Entries of a row</h3>\n" +
         svg(box_plot(run, "Distribution of row lengths",
                      {logarithmic ? "entries of a row (logarithmic)" : "entries of a row",
                       logarithmic, whole_tick},
                      &MatrixReport::row_lengths)) +
         "<h3>Bandwidth of a row</h3>\n<p>Largest minus smallest column of a row, over the number "
         "of columns.</p>\n" +
         svg(box_plot(run, "Distribution of row bandwidths",
                      {"bandwidth of a row, per cent of the columns", false, share},
                      &MatrixReport::row_bandwidths));
}

std::string memory_table(const TuneReport& run) {
  std::vector<Cell> titles = {{"matrix", true}};
  for (const MatrixReport& matrix : run.matrices) {
    for (const LayoutSize& layout : matrix.layouts) {
      const bool known = std::any_of(titles.begin() + 1, titles.end(), [&](const Cell& title) {
        return title.words == layout.layout;
      });
      if (!known) titles.push_back({layout.layout});
    }
  }
  if (titles.size() == 1) return "";
  std::string rows;
  for (const MatrixReport& matrix : run.matrices) {
    std::vector<Cell> cells;
    for (std::size_t t = 1; t < titles.size(); ++t) {
      const auto at =
          std::find_if(matrix.layouts.begin(), matrix.layouts.end(),
                       [&](const LayoutSize& layout) { return layout.layout == titles[t].words; });
      if (at == matrix.layouts.end()) {
        cells.push_back({""});
      } else {
        cells.push_back(
            {at == matrix.layouts.begin() ? report::readable_bytes(at->bytes) : times(at->of_csr)});
      }
    }
    rows += row(matrix.name, cells);
  }
  return "<h3>Memory of layouts</h3>\n<p>The part of the matrix that a product reads: for CSR in "
         "bytes, for the others relative to CSR. Inner and vector layout do not change it. The "
         "last is the expansion to real numbers.</p>\n" +
         table(titles, rows);
}

}  // namespace

std::string html_page(const TuneReport& run) {
  std::string body = header(run) + navigation(run) + best_plans(run) + plan_counts(run);
  for (std::size_t i = 0; i < run.matrices.size(); ++i) body += matrix_section(run, i);
  body += "<h2 id=\"matrices\">Matrices</h2>\n" + distributions(run) + memory_table(run);
  return report::page("heddle tune: " + run.device, body);
}

}  // namespace heddle::tuning
