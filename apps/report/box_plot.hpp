// Distributions as boxes: quartiles as the box, the median as a line in it, least and greatest as
// the ends of the whiskers (Mueller-Roemer et al. 2020, figures 3 and 4).
#pragma once

#include <string>
#include <vector>

#include "svg_chart.hpp"

namespace heddle::report {

struct FiveNumbers {
  double least = 0, lower_quartile = 0, median = 0, upper_quartile = 0, greatest = 0;

  bool operator==(const FiveNumbers&) const = default;
};

struct BoxPlot {
  struct Line {
    std::string label;
    FiveNumbers numbers;
  };

  std::string title;  // for screen readers
  Axis axis;
  std::vector<Line> lines;  // from the top
};

/// A line that the axis cannot show says so; empty if there are no lines.
std::string svg(const BoxPlot& plot);

}  // namespace heddle::report
