// Plots as SVG: series over two axes, and bars for ratios.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "svg_drawing.hpp"
#include "svg_scale.hpp"

namespace heddle::report {

struct Axis {
  std::string label;  // with the unit, if `tick` does not name one
  bool logarithmic = false;
  std::function<std::string(double)> tick;
};

struct Point {
  double x = 0, y = 0;
  std::string hint;                 // shown under a resting pointer
  int number = 0;                   // written next to it, unless 0
  std::optional<double> joined_to;  // by an upright line, to this y
};

struct Series {
  std::string name;
  int colour = 0;  // any number; few are distinguishable
  int dashes = 0;  // likewise; 0 is a solid line
  bool line = true;
  Mark mark = Mark::none;
  std::vector<Point> points;
};

/// A horizontal line.
struct Limit {
  double y = 0;
  std::string label;
  bool label_below = false;
};

struct Chart {
  std::string title;  // for screen readers
  double width = 960, height = 480;
  Axis x, y;
  std::vector<Series> series;
  std::optional<Limit> limit;
};

/// Points that an axis cannot show (not finite, or not positive on a logarithmic axis) are left
/// out; a chart without any point is empty.
std::string svg(const Chart& chart);

/// A line of a bar chart of ratios.
struct RatioBar {
  std::string label;
  std::optional<double> ratio;          // the bar
  std::optional<double> ring, diamond;  // marks on the same line
  std::string hint;
};

struct RatioGroup {
  std::string name;
  std::vector<RatioBar> bars;
};

/// Horizontal bars from 1 to the right (above 1) and to the left (below) on a logarithmic axis;
/// `without` is the text where there is no ratio.
std::string svg(const std::string& title, const std::string& axis, const std::string& without,
                const std::vector<RatioGroup>& groups);

}  // namespace heddle::report
