#include "box_plot.hpp"

#include <algorithm>
#include <cmath>

#include "text_table.hpp"

namespace heddle::report {

namespace {

constexpr double whole_width = 960, height_of_line = 30, top = 12, half_box = 9;
constexpr std::size_t longest_label = 40;

std::string words_of(const FiveNumbers& numbers, const Axis& axis) {
  return axis.tick(numbers.least) + " | " + axis.tick(numbers.lower_quartile) + " | " +
         axis.tick(numbers.median) + " | " + axis.tick(numbers.upper_quartile) + " | " +
         axis.tick(numbers.greatest);
}

}  // namespace

std::string svg(const BoxPlot& plot) {
  if (plot.lines.empty()) return "";
  const auto fits = [&](const FiveNumbers& numbers) {
    return std::isfinite(numbers.least) && std::isfinite(numbers.greatest) &&
           (!plot.axis.logarithmic || numbers.least > 0);
  };
  double low = plot.axis.logarithmic ? HUGE_VAL : 0, high = 0, labels = 0, figures = 0;
  for (const auto& line : plot.lines) {
    labels = std::max(labels, text_width(cut(line.label, longest_label)));
    if (!fits(line.numbers)) continue;
    figures = std::max(figures, text_width(words_of(line.numbers, plot.axis), small_character));
    low = std::min(low, line.numbers.least);
    high = std::max(high, line.numbers.greatest);
  }
  if (!(high > 0)) low = high = 1;
  Scale x(plot.axis.logarithmic, low, high);
  const double left = labels + 20, right = whole_width - figures - 20;
  const double bottom = top + height_of_line * static_cast<double>(plot.lines.size());
  x.map_to(left, right);

  Drawing drawing;
  double free_from = 0;
  for (const double tick : x.ticks(static_cast<int>((right - left) / 60))) {
    const std::string text = plot.axis.tick(tick);
    drawing.line({x.at(tick), top}, {x.at(tick), bottom}, "grid");
    if (x.at(tick) - text_width(text) / 2 < free_from) continue;
    drawing.text({x.at(tick), bottom + 17}, text, "ink", "middle");
    free_from = x.at(tick) + text_width(text) / 2 + 6;
  }
  drawing.line({left, bottom}, {right, bottom}, "axis");
  double middle = top + height_of_line / 2;
  for (const auto& line : plot.lines) {
    drawing.text({labels + 10, middle + 4}, cut(line.label, longest_label), "ink", "end");
    if (!fits(line.numbers)) {
      drawing.text({left + 8, middle + 4}, "not on this axis", "faint", "start");
    } else {
      const FiveNumbers& n = line.numbers;
      const std::string words = words_of(n, plot.axis);
      drawing.line({x.at(n.least), middle}, {x.at(n.lower_quartile), middle}, "line s1");
      drawing.line({x.at(n.upper_quartile), middle}, {x.at(n.greatest), middle}, "line s1");
      for (const double end : {n.least, n.greatest}) {
        drawing.line({x.at(end), middle - half_box / 2}, {x.at(end), middle + half_box / 2},
                     "line s1");
      }
      drawing.rectangle(
          {x.at(n.lower_quartile), middle - half_box, x.at(n.upper_quartile), middle + half_box},
          "h1", line.label + ": " + words);
      drawing.line({x.at(n.median), middle - half_box}, {x.at(n.median), middle + half_box},
                   "median");
      drawing.text({right + 14, middle + 4}, words, "small ink", "start");
    }
    middle += height_of_line;
  }
  drawing.text({(left + right) / 2, bottom + 36}, plot.axis.label, "faint", "middle");
  return drawing.finished(plot.title, whole_width, bottom + 44);
}

}  // namespace heddle::report
