#include "scaling_options.hpp"

#include <cstdio>

#include "any_case.hpp"
#include "output_path.hpp"
#include "readable.hpp"
#include "svg_picture.hpp"
#include "whole_number.hpp"

namespace heddle::cli {

void ScalingOptions::add_to(CLI::App& command) {
  given_ =
      command
          .add_option("--scaling", question_.network,
                      "predict products and iterations on ranks of this network: nvlink, nccl, "
                      "staged, ndr, hdr, qdr, ethernet, or the microseconds of a message and GB/s")
          ->transform(any_case())
          ->type_name("NETWORK");
  others_ = {
      command
          .add_option("--ranks", question_.ranks,
                      "of --scaling: numbers of ranks with commas between them [1,2,4 and so on up "
                      "to 1024, or the groups of 256 rows]")
          ->delimiter(',')
          ->transform(whole_number(1, 1024))
          ->type_name("N,..."),
      command.add_option("--partition", question_.partition, "of --scaling: the rows of each rank")
          ->capture_default_str()
          ->transform(CLI::IsMember({"entries", "rows", "metis", "scotch"}, CLI::ignore_case))
          ->type_name("NAME"),
      command
          .add_option("--rates", question_.rates,
                      "of --scaling: how fast a device is: h100, h200, c2050, device for that of "
                      "--device, or the microseconds and GB/s of an iteration without ranks, and "
                      "of one on ranks")
          ->capture_default_str()
          ->transform(any_case())
          ->type_name("RATES"),
      command
          .add_option("--unknowns", question_.unknowns,
                      "of --scaling: predict for blocks of so many rows and columns in place of "
                      "the entries")
          ->transform(whole_number(1, 64))
          ->type_name("N"),
      command.add_option("--plot", picture_, "of --scaling: where to draw the speedups (.svg)")
          ->type_name("FILE")};
}

void ScalingOptions::check() const {
  if (is_given()) {
    question_.check();
    return;
  }
  for (const CLI::Option* option : others_) {
    if (option->count() == 0) continue;
    throw Error(ErrorKind::usage, option->get_name() + " is for --scaling: give that too");
  }
}

void ScalingOptions::add_outputs(RunFiles& files) const {
  files.writes("--plot", picture_);
  if (picture_ && !ends_with(*picture_, ".svg")) {
    throw Error(ErrorKind::usage, "--plot " + *picture_ + ": the picture is written as .svg");
  }
}

std::optional<detail::ScalingQuestion> ScalingOptions::question() const {
  return is_given() ? std::optional(question_) : std::nullopt;
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
  add("as many times", Mark::none, 1, scaling.points, [](Of of) { return double(of.ranks); });
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
