#include "svg_chart.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "amounts.hpp"
#include "text_table.hpp"

namespace heddle::report {

namespace {

/// The legend's lines, each with as many names as fit.
std::vector<std::vector<const Series*>> legend_of(const Chart& chart, double width) {
  std::vector<std::vector<const Series*>> lines;
  double used = width;
  for (const Series& series : chart.series) {
    if (series.points.empty()) continue;
    const double needed = 44 + text_width(series.name);
    if (lines.empty() || used + needed > width) {
      lines.emplace_back();
      used = 0;
    }
    lines.back().push_back(&series);
    used += needed;
  }
  return lines;
}

void draw_sample(const Series& series, Place p, Drawing& drawing) {
  const int k = class_of(series.colour);
  if (series.line) {
    drawing.line({p.x, p.y}, {p.x + 26, p.y}, "line s" + std::to_string(k),
                 pattern_of(series.dashes));
  }
  drawing.mark(series.mark, {p.x + 13, p.y}, k, "");
}

/// Draws the numbers of points in free space: next to the point, or farther away with a line to it.
void draw_numbers(const std::vector<Point>& points, const std::vector<Place>& places,
                  const Box& plot, std::vector<Box> taken, Drawing& drawing) {
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (points[i].number == 0) continue;
    const std::string number = std::to_string(points[i].number);
    const double half = text_width(number, small_character) / 2 + 1;
    bool placed = false;
    for (const double distance : {11.0, 15.0, 22.0, 30.0, 40.0, 52.0, 66.0, 82.0, 100.0}) {
      for (int turn = 0; turn < 16 && !placed; ++turn) {
        // Above first, then alternately to both sides.
        const int eighths = (turn % 2 == 0 ? 1 : -1) * ((turn + 1) / 2);
        const double angle = eighths * std::numbers::pi / 8;
        const Place p = {places[i].x + distance * std::sin(angle),
                         places[i].y - distance * std::cos(angle)};
        const Box box = {p.x - half, p.y - 6, p.x + half, p.y + 6};
        if (box.left < plot.left || box.right > plot.right || box.top < plot.top ||
            box.bottom > plot.bottom ||
            std::any_of(taken.begin(), taken.end(), [&](const Box& b) { return b.meets(box); })) {
          continue;
        }
        if (distance > 20) {
          const double toward = 1 - 8 / distance;
          drawing.line(places[i],
                       {places[i].x + (p.x - places[i].x) * toward,
                        places[i].y + (p.y - places[i].y) * toward},
                       "grid");
        }
        drawing.text({p.x, p.y + 4}, number, "small ink", "middle");
        taken.push_back(box);
        placed = true;
      }
      if (placed) break;
    }
  }
}

bool fits(const Axis& axis, double value) {
  return std::isfinite(value) && (!axis.logarithmic || value > 0);
}

/// The scales of a chart, with room for all of its points; none if it has no points.
struct Scales {
  Scale x, y;
};
std::optional<Scales> scales_of(const Chart& chart) {
  std::vector<double> xs, ys;
  for (const Series& series : chart.series) {
    for (const Point& point : series.points) {
      if (!fits(chart.x, point.x) || !fits(chart.y, point.y)) continue;
      xs.push_back(point.x);
      ys.push_back(point.y);
    }
  }
  if (xs.empty()) return {};
  if (chart.limit && fits(chart.y, chart.limit->y)) {
    ys.push_back(chart.limit->y);
    // Makes room for its label.
    if (chart.limit->label_below && chart.y.logarithmic) {
      const double highest = *std::max_element(ys.begin(), ys.end());
      ys.push_back(chart.limit->y * std::pow(chart.limit->y / highest, 0.06));
    }
  }
  const auto [x_low, x_high] = std::minmax_element(xs.begin(), xs.end());
  const auto [y_low, y_high] = std::minmax_element(ys.begin(), ys.end());
  return Scales{{chart.x.logarithmic, *x_low, *x_high}, {chart.y.logarithmic, *y_low, *y_high}};
}

void draw_legend(const std::vector<std::vector<const Series*>>& legend, Drawing& drawing) {
  for (std::size_t i = 0; i < legend.size(); ++i) {
    double at = 10;
    for (const Series* series : legend[i]) {
      const double middle = 8 + line_height * (static_cast<double>(i) + 0.5);
      draw_sample(*series, {at, middle}, drawing);
      drawing.text({at + 32, middle + 4}, series->name, "ink", "start");
      at += 44 + text_width(series->name);
    }
  }
}

/// Draws the lines and numbers of both axes, and their labels.
void draw_axes(const Chart& chart, const Scale& x, const Scale& y,
               const std::vector<double>& y_ticks, const Box& plot, Drawing& drawing) {
  for (const double tick : y_ticks) {
    drawing.line({plot.left, y.at(tick)}, {plot.right, y.at(tick)}, "grid");
    drawing.text({plot.left - 6, y.at(tick) + 4}, chart.y.tick(tick), "ink", "end");
  }
  double free_from = 0;  // right end of the last text below the axis
  for (const double tick : x.ticks(static_cast<int>((plot.right - plot.left) / 70))) {
    const std::string text = chart.x.tick(tick);
    drawing.line({x.at(tick), plot.top}, {x.at(tick), plot.bottom}, "grid");
    if (x.at(tick) - text_width(text) / 2 < free_from) continue;
    drawing.text({x.at(tick), plot.bottom + 17}, text, "ink", "middle");
    free_from = x.at(tick) + text_width(text) / 2 + 6;
  }
  drawing.line({plot.left, plot.bottom}, {plot.right, plot.bottom}, "axis");
  drawing.line({plot.left, plot.top}, {plot.left, plot.bottom}, "axis");
  drawing.text({(plot.left + plot.right) / 2, chart.height - 8}, chart.x.label, "faint", "middle");
  drawing.text({14, (plot.top + plot.bottom) / 2}, chart.y.label, "faint", "middle", true);
}

/// Adds the areas of the line and its label to `taken`.
void draw_limit(const Limit& limit, const Scale& y, const Box& plot, std::vector<Box>& taken,
                Drawing& drawing) {
  const double at = y.at(limit.y);
  drawing.line({plot.left, at}, {plot.right, at}, "limit");
  const double baseline = limit.label_below ? at + 14 : at - 5;
  drawing.text({plot.left + 8, baseline}, limit.label, "ink", "start");
  taken.push_back(
      {plot.left, baseline - 12, plot.left + 8 + text_width(limit.label), baseline + 3});
  taken.push_back({plot.left, at - 1, plot.right, at + 1});
}

}  // namespace

std::string svg(const Chart& chart) {
  std::optional<Scales> scales = scales_of(chart);
  if (!scales) return "";
  auto& [x, y] = *scales;

  const auto legend = legend_of(chart, chart.width - 20);
  const double top = 8 + line_height * static_cast<double>(legend.size()) + 8;
  const double bottom = chart.height - 44;
  const auto y_ticks = y.ticks(static_cast<int>((bottom - top) / 30));
  double widest = 0;
  for (const double tick : y_ticks) widest = std::max(widest, text_width(chart.y.tick(tick)));
  const Box plot = {widest + 34, top, chart.width - 16, bottom};
  x.map_to(plot.left, plot.right);
  y.map_to(plot.bottom, plot.top);

  Drawing drawing;
  draw_legend(legend, drawing);
  draw_axes(chart, x, y, y_ticks, plot, drawing);
  std::vector<Box> taken;
  if (chart.limit && y.shows(chart.limit->y)) draw_limit(*chart.limit, y, plot, taken, drawing);

  std::vector<std::vector<Point>> points(chart.series.size());
  std::vector<std::vector<Place>> places(chart.series.size());
  for (std::size_t s = 0; s < chart.series.size(); ++s) {
    for (const Point& point : chart.series[s].points) {
      if (!x.shows(point.x) || !y.shows(point.y)) continue;
      const Place p = {x.at(point.x), y.at(point.y)};
      points[s].push_back(point);
      places[s].push_back(p);
      if (chart.series[s].mark != Mark::none) taken.push_back({p.x - 5, p.y - 5, p.x + 5, p.y + 5});
    }
  }
  for (std::size_t s = 0; s < chart.series.size(); ++s) {
    for (std::size_t i = 0; i < points[s].size(); ++i) {
      const std::optional<double> other = points[s][i].joined_to;
      if (!other || !y.shows(*other)) continue;
      const Place p = places[s][i];
      const double end = y.at(*other);
      drawing.line(p, {p.x, end}, "thin s" + std::to_string(class_of(chart.series[s].colour)));
      taken.push_back({p.x - 1, std::min(p.y, end), p.x + 1, std::max(p.y, end)});
    }
  }
  for (std::size_t s = 0; s < chart.series.size(); ++s) {
    const Series& series = chart.series[s];
    const int k = class_of(series.colour);
    if (series.line && places[s].size() > 1) {
      drawing.path(places[s], "line s" + std::to_string(k), pattern_of(series.dashes));
    }
    for (std::size_t i = 0; i < places[s].size(); ++i) {
      drawing.mark(series.mark, places[s][i], k, points[s][i].hint);
    }
  }
  for (std::size_t s = 0; s < chart.series.size(); ++s) {
    draw_numbers(points[s], places[s], plot, taken, drawing);
  }
  return drawing.finished(chart.title, chart.width, chart.height);
}

std::string svg(const std::string& title, const std::string& axis, const std::string& without,
                const std::vector<RatioGroup>& groups) {
  constexpr double height_of_bar = 22, top = 28, whole_width = 960, width_for_text = 64;
  constexpr std::size_t longest_label = 56;
  const auto fits = [](const std::optional<double>& ratio) {
    return ratio && std::isfinite(*ratio) && *ratio > 0;
  };
  double low = 1, high = 1, labels = 0, bottom = top;
  for (const RatioGroup& group : groups) {
    bottom += height_of_bar * static_cast<double>(group.bars.size() + 1);
    for (const RatioBar& bar : group.bars) {
      labels = std::max(labels, text_width(cut(bar.label, longest_label)));
      for (const auto& ratio : {bar.ratio, bar.ring, bar.diamond}) {
        if (!fits(ratio)) continue;
        low = std::min(low, *ratio);
        high = std::max(high, *ratio);
      }
    }
  }
  // Covers at least 0.8 to 2, so that small differences look small.
  Scale x(true, std::min(low, 0.8), std::max(high, 2.0));
  const double left = labels + 20 + (low < 1 ? width_for_text : 0);
  const double right = whole_width - width_for_text;
  x.map_to(left, right);

  Drawing drawing;
  double free_from = 0;
  for (const double tick : {0.01, 0.02, 0.05, 0.1,  0.2,  0.3,  0.5,   0.7,   1.0,   1.5,   2.0,
                            3.0,  5.0,  7.0,  10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0}) {
    const double at = x.at(tick);
    if (at < left || at > right) continue;
    const std::string text = short_amount(tick, {""}) + " x";
    drawing.line({at, top - 4}, {at, bottom}, "grid");
    if (at - text_width(text) / 2 < free_from) continue;
    drawing.text({at, top - 10}, text, "ink", "middle");
    drawing.text({at, bottom + 17}, text, "ink", "middle");
    free_from = at + text_width(text) / 2 + 6;
  }
  double upper = top;
  for (const RatioGroup& group : groups) {
    drawing.text({labels + 12, upper + height_of_bar - 6}, group.name, "strong ink", "end");
    upper += height_of_bar;
    for (const RatioBar& bar : group.bars) {
      const double middle = upper + height_of_bar / 2;
      const Box box = {x.at(1), upper + 4, x.at(1), upper + height_of_bar - 4};
      upper += height_of_bar;
      drawing.text({labels + 12, middle + 4}, cut(bar.label, longest_label), "ink", "end");
      if (!fits(bar.ratio) && !fits(bar.ring) && !fits(bar.diamond)) {
        drawing.text({x.at(1) + 6, middle + 4}, without, "faint", "start");
        continue;
      }
      const double at = fits(bar.ratio) ? x.at(*bar.ratio) : x.at(1);
      if (fits(bar.ratio)) {
        drawing.rectangle({std::min(at, box.left), box.top, std::max(at, box.right), box.bottom},
                          *bar.ratio >= 1 ? "f1" : "f2", bar.hint);
      }
      double first = at, last = at;  // extent of the drawing on the line
      const auto mark = [&](Mark kind, const std::optional<double>& ratio, int k) {
        if (!fits(ratio)) return;
        drawing.mark(kind, {x.at(*ratio), middle}, k, "");
        first = std::min(first, x.at(*ratio) - 6);
        last = std::max(last, x.at(*ratio) + 6);
      };
      mark(Mark::ring, bar.ring, 4);
      mark(Mark::diamond, bar.diamond, 3);
      if (!fits(bar.ratio)) continue;
      const bool faster = *bar.ratio >= 1;
      drawing.text({faster ? last + 5 : first - 5, middle + 4}, readable_ratio(*bar.ratio) + " x",
                   "ink", faster ? "start" : "end");
    }
  }
  drawing.line({x.at(1), top - 4}, {x.at(1), bottom}, "limit");
  drawing.text({(left + right) / 2, bottom + 36}, axis, "faint", "middle");
  return drawing.finished(title, whole_width, bottom + 44);
}

}  // namespace heddle::report
