#include "heat_map.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "amounts.hpp"
#include "svg_drawing.hpp"

namespace heddle::report {

namespace {

constexpr double cell_width = 48, cell_height = 26, gap_of_panels = 36, legend_width = 104;
constexpr double above = 44;  // space above the cells, below two lines

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = 0;

  bool empty() const { return !(high > 0); }
  int class_of(double value) const {
    if (!(high > low)) return 1;
    // The quotient could overflow a double.
    const double share = (std::log(value) - std::log(low)) / (std::log(high) - std::log(low));
    return std::clamp(static_cast<int>(share * heat_colours) + 1, 1, heat_colours);
  }
  /// The value at that share of the range.
  double at(double share) const {
    return std::exp((1 - share) * std::log(low) + share * std::log(high));
  }
};

Range range_of(const HeatMap& map) {
  Range range;
  for (const auto& panel : map.panels) {
    for (const auto& row : panel.cells) {
      for (const auto& cell : row) {
        if (!cell || !(cell->value > 0) || !std::isfinite(cell->value)) continue;
        range.low = std::min(range.low, cell->value);
        range.high = std::max(range.high, cell->value);
      }
    }
  }
  return range;
}

double labels_width(const HeatMap::Panel& panel) {
  double widest = 0;
  for (const std::string& label : panel.y) widest = std::max(widest, text_width(label));
  return widest + 10;
}

/// The width of its cells and its words.
double panel_width(const HeatMap::Panel& panel) {
  const double cells = cell_width * static_cast<double>(panel.x.size());
  return std::max({labels_width(panel) + std::max(cells, text_width(panel.x_label)),
                   text_width(panel.name), text_width(panel.y_label)});
}

void draw_panel(const HeatMap::Panel& panel, const Range& range, double left, Drawing& drawing) {
  const double first = left + labels_width(panel);
  const auto rows = static_cast<double>(panel.y.size());
  const double bottom = above + cell_height * rows;
  const double right = first + cell_width * static_cast<double>(panel.x.size());
  drawing.text({left, above - 28}, panel.name, "strong ink", "start");
  drawing.text({left, above - 9}, panel.y_label, "faint", "start");
  for (std::size_t r = 0; r < panel.y.size(); ++r) {
    const double upper = bottom - cell_height * static_cast<double>(r + 1);
    drawing.text({first - 6, upper + cell_height / 2 + 4}, panel.y[r], "ink", "end");
    for (std::size_t c = 0; c < panel.x.size(); ++c) {
      const double at = first + cell_width * static_cast<double>(c);
      const Box box = {at + 1, upper + 1, at + cell_width - 1, upper + cell_height - 1};
      const auto& cell = panel.cells[r][c];
      if (!cell || !(cell->value > 0) || !std::isfinite(cell->value)) {
        drawing.rectangle(box, "none", cell ? cell->hint : "");
        continue;
      }
      const std::string k = std::to_string(range.class_of(cell->value));
      const bool best = cell->value == range.low;
      drawing.rectangle(box, "q" + k, cell->hint);
      if (best) {
        drawing.rectangle({box.left + 2, box.top + 2, box.right - 2, box.bottom - 2}, "frame",
                          cell->hint);
      }
      drawing.text({at + cell_width / 2, upper + cell_height / 2 + 4}, cell->label,
                   std::string(best ? "strong " : "") + "cell t" + k, "middle");
    }
  }
  for (std::size_t c = 0; c < panel.x.size(); ++c) {
    const double at = first + cell_width * (static_cast<double>(c) + 0.5);
    drawing.text({at, bottom + 16}, panel.x[c], "ink", "middle");
  }
  const double middle = std::max((first + right) / 2, first + text_width(panel.x_label) / 2);
  drawing.text({middle, bottom + 34}, panel.x_label, "faint", "middle");
}

void draw_legend(const HeatMap& map, const Range& range, double left, double height,
                 Drawing& drawing) {
  drawing.text({left, above - 9}, map.value_label, "faint", "start");
  const int steps = range.high > range.low ? heat_colours : 1;
  const double step = std::min(18.0, height / steps);
  for (int k = 0; k < steps; ++k) {
    const double lower = above + step * (steps - k);
    drawing.rectangle({left, lower - step, left + 18, lower}, "q" + std::to_string(k + 1), "");
  }
  const int marks = steps == 1 ? 1 : steps * step >= 90 ? 4 : 3;
  for (int i = 0; i < marks; ++i) {
    const double share = marks == 1 ? 0 : double(i) / (marks - 1);
    const double value = range.at(share);
    const double at = above + step * steps * (1 - share);
    drawing.text({left + 24, at + 4}, readable_seconds(value), "ink", "start");
  }
}

}  // namespace

std::string svg(const HeatMap& map) {
  const Range range = range_of(map);
  if (range.empty()) return "";
  double rows = 0, left = 0;
  Drawing drawing;
  for (const auto& panel : map.panels) {
    rows = std::max(rows, static_cast<double>(panel.y.size()));
  }
  const double cells = cell_height * rows;
  for (const auto& panel : map.panels) {
    draw_panel(panel, range, left, drawing);
    left += panel_width(panel) + gap_of_panels;
  }
  draw_legend(map, range, left, std::max(cells, 90.0), drawing);
  const double height = above + std::max(cells, 108.0) + 44;
  return drawing.finished(map.title, left + std::max(legend_width, text_width(map.value_label)) + 8,
                          height);
}

}  // namespace heddle::report
