#include "scaling_options.hpp"

#include <cstdio>

#include "output_path.hpp"
#include "readable.hpp"
#include "setting_options.hpp"
#include "svg_picture.hpp"

namespace heddle::cli {

void ScalingOptions::add_to(CLI::App& command) {
  add_settings(command, SettingUse::description,
               {"scaling", "ranks", "partition", "rates", "unknowns"}, settings_);
  command.add_option("--plot", picture_, "scaling: where to draw the speedups (.svg)")
      ->type_name("FILE");
}

void ScalingOptions::check() const {
  if (const auto asked = question()) {
    asked->check();
    return;
  }
  if (picture_) throw Error(ErrorKind::usage, "--plot is for --scaling: give that too");
  if (settings_.given().empty()) return;
  throw Error(ErrorKind::usage,
              settings_.given().front().spelling + " is for --scaling: give that too");
}

void ScalingOptions::add_outputs(RunFiles& files) const {
  files.writes("--plot", picture_);
  if (picture_ && !ends_with(*picture_, ".svg")) {
    throw Error(ErrorKind::usage, "--plot " + *picture_ + ": the picture is written as .svg");
  }
}

std::optional<detail::ScalingQuestion> ScalingOptions::question() const {
  if (!settings_.has("scaling")) return std::nullopt;
  return detail::question_of(with_settings(DescriptionSettings(), settings_));
}

void ScalingOptions::draw(const detail::Scaling& scaling, const std::string& title,
                          const std::string& words) const {
  if (!picture_) return;
  report::Chart chart;
  chart.title = title;
  const auto tick = [](double number) {
    char text[32];
    std::snprintf(text, sizeof text, "%g", number);
    return std::string(text);
  };
  chart.x = {"ranks", true, tick};
  chart.y = {"times as fast as one device without ranks", true, tick};
  const auto add = [&](const char* name, report::Mark mark, int dashes,
                       const std::vector<detail::ScalingPoint>& points, const auto& speedup) {
    report::Series series;
    series.name = name;
    series.colour = static_cast<int>(chart.series.size());
    series.dashes = dashes;
    series.mark = mark;
    for (const detail::ScalingPoint& of : points) {
      report::Point point;
      point.x = of.ranks;
      point.y = speedup(of);
      series.points.push_back(point);
    }
    if (!points.empty()) chart.series.push_back(series);
  };
  using report::Mark;
  using Of = const detail::ScalingPoint&;
  add("ideal", Mark::none, 1, scaling.points, [](Of of) { return double(of.ranks); });
  add("product, task", Mark::disc, 0, scaling.points,
      [&](Of of) { return scaling.product_alone / of.product_task; });
  add("product, vector", Mark::ring, 2, scaling.points,
      [&](Of of) { return scaling.product_alone / of.product_vector; });
  add("iteration, task", Mark::disc, 0, scaling.points,
      [&](Of of) { return scaling.alone / of.iteration_task; });
  add("iteration, rows grow with ranks", Mark::ring, 0, scaling.weak.points,
      [&](Of of) { return of.ranks * scaling.alone / of.iteration_task; });
  write_file(*picture_, report::picture_of(chart, words));
}

}  // namespace heddle::cli
