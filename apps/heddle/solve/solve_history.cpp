#include "solve_history.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "heddle/error.hpp"
#include "heddle/tools/output_file.hpp"
#include "output_path.hpp"
#include "page.hpp"
#include "readable.hpp"
#include "svg_picture.hpp"

namespace heddle::cli {

namespace {

void write_table(const std::string& path, const std::vector<HistoryCurve>& curves) {
  OutputFile file(path);
  file.write("iteration");
  for (const HistoryCurve& curve : curves) file.write("," + curve.column);
  file.write("\n");
  char number[64];
  for (std::size_t i = 0; i < curves.front().values->size(); ++i) {
    std::string line = std::to_string(i);
    for (const HistoryCurve& curve : curves) {
      std::snprintf(number, sizeof number, ",%.17g", curve.values->at(i));
      line += number;
    }
    file.write(line + "\n");
  }
  file.commit();
}

/// All points, or the minimum and maximum of each piece, to keep a picture small.
std::vector<report::Point> points_of(const std::vector<double>& history) {
  constexpr std::size_t max_pieces = 1000;  // about one pixel each
  const std::size_t piece = (history.size() + 2 * max_pieces - 1) / (2 * max_pieces);
  std::vector<report::Point> points;
  const auto add = [&](std::size_t i) {
    report::Point point;
    point.x = static_cast<double>(i);
    point.y = history[i];
    points.push_back(point);
  };
  if (piece <= 1) {
    for (std::size_t i = 0; i < history.size(); ++i) add(i);
    return points;
  }
  for (std::size_t from = 0; from < history.size(); from += 2 * piece) {
    const auto begin = history.begin() + static_cast<std::ptrdiff_t>(from);
    const auto end =
        history.begin() + static_cast<std::ptrdiff_t>(std::min(from + 2 * piece, history.size()));
    const auto [least, greatest] = std::minmax_element(begin, end);
    const auto first = static_cast<std::size_t>(std::min(least, greatest) - history.begin());
    const auto second = static_cast<std::size_t>(std::max(least, greatest) - history.begin());
    add(first);
    if (second != first) add(second);
  }
  if (points.back().x != static_cast<double>(history.size() - 1)) add(history.size() - 1);
  return points;
}

std::string iteration_tick(double iteration) {
  const double whole = std::round(iteration);
  return std::abs(iteration - whole) < 1e-6 ? readable_count(std::llround(whole)) : "";
}

std::string shown(double residual) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2e", residual);
  return text;
}

report::Chart chart_of(const SolveHistory& history) {
  constexpr int line_colours[] = {0, 2}, end_colours[] = {3, 4};
  report::Chart chart;
  chart.width = 960;
  chart.height = 500;
  chart.x = {"iterations", false, iteration_tick};
  chart.y = {history.axis, true, report::power_tick};
  const auto last = static_cast<double>(history.iterations);
  const auto mark = [&](const std::string& name, int colour, report::Mark kind, double value) {
    report::Point point;
    point.x = last;
    point.y = value;
    point.hint = name;
    chart.series.push_back({name, colour, 0, false, kind, {point}});
  };
  for (std::size_t k = 0; k < history.curves.size(); ++k) {
    const HistoryCurve& curve = history.curves[k];
    chart.series.push_back(
        {curve.name, line_colours[k], 0, true, report::Mark::none, points_of(*curve.values)});
    if (std::isfinite(curve.end) && curve.end > 0) {
      mark(curve.computed + " computed from x: " + shown(curve.end), end_colours[k],
           report::Mark::diamond, curve.end);
    }
  }
  // Drawn last, so that nothing covers it.
  const std::vector<double>& first = *history.curves.front().values;
  if (!first.empty()) {
    mark(std::string(name(history.status)) + " after " + readable_count(history.iterations) +
             (history.iterations == 1 ? " iteration" : " iterations"),
         1, report::Mark::disc, first.back());
  }
  if (history.tolerance > 0) {
    chart.limit = {history.tolerance, "tolerance " + report::power_tick(history.tolerance), true};
  }
  return chart;
}

}  // namespace

SolveHistory history_of(const std::vector<double>& residuals, const Report& report,
                        double tolerance) {
  return {{{"relative_residual", "residual of the recurrence", &residuals, "|b - A x| / |b|",
            report.residual}},
          "relative residual |r| / |b|",
          tolerance,
          report.status,
          report.iterations};
}

void HistoryOptions::add_to(CLI::App& command) {
  command.add_option("--history", table_, "where to write the residuals as CSV")->type_name("FILE");
  command
      .add_option(
          "--plot", picture_,
          "where to draw the residuals over the iterations (.svg), those of the last repetition")
      ->type_name("FILE");
}

void HistoryOptions::add_outputs(RunFiles& files) const {
  files.writes("--history", table_);
  files.writes("--plot", picture_);
  if (picture_ && !ends_with(*picture_, ".svg") && named_descriptor(*picture_) < 0) {
    throw Error(ErrorKind::usage, "--plot " + *picture_ + ": the picture is written as .svg");
  }
}

void HistoryOptions::write(const SolveHistory& history, const std::string& title,
                           const std::string& words) const {
  if (table_) write_table(*table_, history.curves);
  if (!picture_) return;
  report::Chart chart = chart_of(history);
  chart.title = title;
  write_file(*picture_, report::picture_of(chart, words));
}

}  // namespace heddle::cli
