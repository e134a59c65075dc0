// The report of `heddle info --scaling`.
#include <cstdio>
#include <iostream>
#include <string>

#include "readable.hpp"
#include "scaling_options.hpp"
#include "text_table.hpp"

namespace heddle::cli {

namespace {

std::string with_two_digits(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", number);
  return text;
}

/// The three modes of Kreutzer et al. (2012, figure 5).
void print_modes(const detail::Scaling& scaling) {
  std::printf(
      "modes       GFlop/s of a product, rows of naive and task split into own and other "
      "columns\n");
  report::TextTable table(
      {{.title = "ranks"}, {.title = "vector"}, {.title = "naive"}, {.title = "task"}});
  const auto speed = [&](double seconds) {
    const double gigaflops = scaling.flops / seconds * 1e-9;
    char text[32];
    std::snprintf(text, sizeof text, "%.*f", gigaflops < 100 ? 1 : 0, gigaflops);
    return std::string(text);
  };
  for (const detail::ScalingPoint& point : scaling.points) {
    table.add({std::to_string(point.ranks), speed(point.product_vector), speed(point.split_naive),
               speed(point.split_task)});
  }
  std::cout.flush();
  table.print(std::cout);
  std::cout.flush();
}

}  // namespace

void print(const detail::Scaling& scaling) {
  std::printf("\nscaling     on %s at %s, messages of %s and %g GB/s; rows by %s%s\n",
              scaling.rates.name.c_str(), scaling.network.name.c_str(),
              readable_seconds(scaling.network.latency).c_str(), scaling.network.bandwidth * 1e-9,
              scaling.partition.c_str(),
              scaling.unknowns == 0
                  ? ""
                  : (", of " + std::to_string(scaling.unknowns) + " unknowns").c_str());
  std::printf("alone       a product %s, an iteration of conjugate gradient %s\n\n",
              readable_seconds(scaling.product_alone).c_str(),
              readable_seconds(scaling.alone).c_str());
  report::TextTable table({{.title = "ranks"},
                           {.title = "rows"},
                           {.title = "halo"},
                           {.title = "neighbours"},
                           {.title = "exchange"},
                           {.title = "product"},
                           {.title = "by task"},
                           {.title = "GFlop/s"},
                           {.title = "iteration"},
                           {.title = "speedup"},
                           {.title = "efficiency"},
                           {.title = "weak"}});
  for (const detail::ScalingPoint& point : scaling.points) {
    const double speedup = scaling.alone / point.iteration_task;
    const auto* weak = scaling.weak_point(point.ranks);
    table.add({std::to_string(point.ranks), readable_count(point.worst.rows),
               readable_count(point.worst.received), std::to_string(point.worst.senders),
               readable_seconds(point.exchange), readable_seconds(point.product_vector),
               readable_seconds(point.product_task),
               readable_count(static_cast<long long>(scaling.flops / point.product_task * 1e-9)),
               readable_seconds(point.iteration_task), with_two_digits(speedup),
               with_two_digits(speedup / point.ranks),
               weak ? with_two_digits(scaling.alone / weak->iteration_task) : ""});
  }
  std::cout.flush();
  table.print(std::cout);
  std::cout.flush();
  if (!scaling.weak.points.empty()) {
    std::printf(
        "weak        efficiency where each rank has all these rows: the halo grows as their number "
        "to the power %.2f\n",
        scaling.weak.exponent);
  }
  print_modes(scaling);
  std::printf("best        %s\n", scaling.best == 1
                                      ? "no ranks"
                                      : (std::to_string(scaling.best) + " of these ranks").c_str());
}

}  // namespace heddle::cli
