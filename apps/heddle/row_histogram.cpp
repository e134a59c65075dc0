#include "row_histogram.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

#include "output_path.hpp"
#include "readable.hpp"
#include "svg_picture.hpp"

namespace heddle::cli {

namespace {

using RowsOfLength = std::map<Index, long long>;

RowsOfLength rows_of_length(const PatternView& pattern) {
  RowsOfLength rows;
  for (Index row = 0; row < pattern.rows; ++row) ++rows[pattern.length(row)];
  return rows;
}

std::string general(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", number);
  return text;
}
std::string whole_tick(double length) {
  return length == std::floor(length) ? readable_count(std::llround(length)) : "";
}

/// A line upright from the least share to each share.
report::Chart chart_of(const RowsOfLength& rows, long long all) {
  report::Chart chart;
  chart.x = {"entries of a row", false, whole_tick};
  chart.y = {"share of the rows", true, general};
  long long fewest = all;
  for (const auto& [length, count] : rows) fewest = std::min(fewest, count);
  const auto share = [&](long long count) {
    return static_cast<double>(count) / static_cast<double>(all);
  };
  report::Series series{"rows of that length", 0, 0, false, report::Mark::dot, {}};
  for (const auto& [length, count] : rows) {
    const std::string hint = readable_count(count) + (count == 1 ? " row of " : " rows of ") +
                             readable_count(length) + ", " + general(100 * share(count)) + "%";
    series.points.push_back({static_cast<double>(length), share(count), hint, 0, share(fewest)});
  }
  chart.series.push_back(std::move(series));
  return chart;
}

}  // namespace

void HistogramOption::add_to(CLI::App& command) {
  command
      .add_option("--histogram", picture_, "where to draw the share of rows of each length (.svg)")
      ->type_name("FILE");
}

void HistogramOption::add_outputs(RunFiles& files) const {
  files.writes("--histogram", picture_);
  check_ending("--histogram", picture_, ".svg", "the picture is written as");
}

void HistogramOption::draw(const PatternView& pattern, const std::string& name) const {
  if (!picture_) return;
  const RowsOfLength rows = rows_of_length(pattern);
  report::Chart chart = chart_of(rows, pattern.rows);
  chart.title = name + ": lengths of rows";
  std::string words = readable_count(pattern.rows) + " rows";
  if (!rows.empty()) {
    const double mean = static_cast<double>(pattern.entries()) / pattern.rows;
    words += " of " + readable_count(rows.begin()->first) + " to " +
             readable_count(rows.rbegin()->first) + " entries, mean " + general(mean);
  }
  write_file(*picture_, report::picture_of(chart, words));
}

}  // namespace heddle::cli
