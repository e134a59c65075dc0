#include "tune_report.hpp"

#include <algorithm>

#include "heddle/tuning/features.hpp"

namespace heddle::tuning {

namespace {

report::FiveNumbers five_numbers(const std::vector<double>& values) {
  if (values.empty()) return {};
  const Statistics s = statistics_of(values);
  return {s.least, s.lower_quartile, s.median, s.upper_quartile, s.greatest};
}

}  // namespace

int MatrixReport::count(Trial::Outcome outcome) const {
  return static_cast<int>(std::count_if(
      trials.begin(), trials.end(), [&](const Trial& trial) { return trial.outcome == outcome; }));
}

std::string timed_work(Objective objective) {
  const std::string work(name(objective));
  return objective.is_product() ? work : work + " iteration";
}

MatrixReport describe(const NamedMatrix& matrix, const Device& device) {
  const PatternView pattern = matrix.matrix->pattern();
  MatrixReport described;
  described.name = matrix.name;
  described.features = pattern_features(pattern, device);
  described.row_lengths = row_lengths(pattern);
  described.row_bandwidths = row_bandwidths(pattern);
  for (const LayoutMemory& layout : layout_memory(*matrix.matrix, device)) {
    described.layouts.push_back(
        {layout.plan, static_cast<double>(layout.use.product()), layout.of_csr});
  }
  return described;
}

report::FiveNumbers row_lengths(const PatternView& pattern) {
  std::vector<double> lengths(static_cast<std::size_t>(pattern.rows));
  for (Index row = 0; row < pattern.rows; ++row) {
    lengths[static_cast<std::size_t>(row)] = pattern.length(row);
  }
  return five_numbers(lengths);
}

report::FiveNumbers row_bandwidths(const PatternView& pattern) {
  std::vector<double> widths;
  widths.reserve(static_cast<std::size_t>(pattern.rows));
  for (Index row = 0; row < pattern.rows; ++row) {
    const Index* const first = pattern.column + pattern.offsets[row];
    const Index* const last = pattern.column + pattern.offsets[Offset(row) + 1];
    if (first == last) continue;
    // Rows need not be sorted.
    const auto [least, greatest] = std::minmax_element(first, last);
    widths.push_back(static_cast<double>(*greatest - *least) / pattern.columns);
  }
  return five_numbers(widths);
}

}  // namespace heddle::tuning
