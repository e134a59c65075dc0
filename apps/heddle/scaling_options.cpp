#include "scaling_options.hpp"

#include <algorithm>
#include <cstdio>

#include "heddle/detail/reduction.hpp"
#include "output_path.hpp"
#include "rank_options.hpp"
#include "readable.hpp"
#include "svg_picture.hpp"
#include "whole_number.hpp"

namespace heddle::cli {

void ScalingOptions::add_to(CLI::App& command) {
  given_ =
      command
          .add_option("--scaling", network_,
                      "predict products and iterations on ranks of this network: nvlink, ndr, hdr, "
                      "qdr, ethernet, or the microseconds of a message and GB/s")
          ->type_name("NETWORK");
  others_ = {
      command
          .add_option("--ranks", ranks_,
                      "of --scaling: numbers of ranks with commas between them [1,2,4 and so on up "
                      "to 1024, or the groups of 256 rows]")
          ->delimiter(',')
          ->transform(whole_number(1, 1024))
          ->type_name("N,..."),
      command.add_option("--partition", partition_, "of --scaling: the rows of each rank")
          ->capture_default_str()
          ->check(CLI::IsMember({"entries", "rows", "metis", "scotch"}))
          ->type_name("NAME"),
      command
          .add_option("--rates", rates_,
                      "of --scaling: how fast a device is: h100, h200, c2050, or the microseconds "
                      "and GB/s of an iteration without ranks, and of one on ranks")
          ->capture_default_str()
          ->type_name("RATES"),
      command
          .add_option("--unknowns", unknowns_,
                      "of --scaling: predict for blocks of so many rows and columns in place of "
                      "the entries")
          ->transform(whole_number(1, 64))
          ->type_name("N"),
      command.add_option("--plot", picture_, "of --scaling: where to draw the speedups (.svg)")
          ->type_name("FILE")};
}

void ScalingOptions::check() const {
  if (is_given()) {
    (void)detail::parse_network(network_);
    (void)detail::parse_device_rates(rates_);
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

detail::ModelBytes entry_bytes_of(const AnyMatrix& matrix) {
  return {matrix.entry_bytes() + static_cast<int>(sizeof(Index)), row_bytes_of(matrix)};
}

Scaling ScalingOptions::predict(const AnyMatrix& matrix, const CodeBalance& balance) const {
  if (matrix.rows() != matrix.columns()) {
    throw Error(ErrorKind::unsupported, "--scaling: ranks share square matrices, not one of " +
                                            std::to_string(matrix.rows()) + " rows and " +
                                            std::to_string(matrix.columns()) + " columns");
  }
  Scaling made;
  made.network = detail::parse_network(network_);
  made.rates = detail::parse_device_rates(rates_);
  made.partition = partition_;
  made.unknowns = unknowns_;
  detail::ModelBytes bytes = entry_bytes_of(matrix);
  int flops = balance.flops;
  if (unknowns_ > 0) {
    const int scalar = matrix.precision() == Precision::double_precision ? 8 : 4;
    bytes = {unknowns_ * unknowns_ * scalar + static_cast<int>(sizeof(Index)), unknowns_ * scalar};
    flops = 2 * unknowns_ * unknowns_;
  }
  const detail::ScalingModel model(made.rates, made.network, bytes);
  const Offset rows = matrix.rows(), entries = matrix.entries();
  made.alone = model.iteration_alone(rows, entries);
  made.product_alone = model.product_alone(rows, entries);
  made.flops = static_cast<double>(flops) * static_cast<double>(entries);
  std::vector<int> counts = ranks_;
  if (counts.empty()) {
    for (int count = 1; count <= std::clamp<Offset>(groups_of(matrix.rows()), 1, 1024);
         count *= 2) {
      counts.push_back(count);
    }
  }
  std::sort(counts.begin(), counts.end());
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  RankOptions ranks;
  ranks.partition = partition_;
  for (const int count : counts) {
    made.points.push_back(model.predict(matrix.pattern(), ranks.make_partition(matrix, count)));
  }
  made.weak = detail::weak_scaling(model, rows, entries, made.points);
  made.best = detail::best_number_of_ranks(made.alone, made.points);
  return made;
}

void ScalingOptions::draw(const Scaling& scaling, const std::string& title,
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
