#include "run_report.hpp"

#include <cmath>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "../command/json_report.hpp"
#include "../command/readable.hpp"
#include "heddle/tools/text.hpp"

namespace heddle::heart {

using cli::number_or_null;
using cli::readable_count;
using cli::readable_seconds;
using io::printable;
using nlohmann::ordered_json;
using simulation::print_file;

namespace {

const char* name(Splitting splitting) {
  return splitting == Splitting::godunov ? "godunov" : "strang";
}
const char* name(Mass mass) { return mass == Mass::consistent ? "consistent" : "lumped"; }
const char* name(CurrentPlace place) {
  return place == CurrentPlace::nodes ? "nodes" : "integration-points";
}
const char* name(Guess guess) { return guess == Guess::last ? "last" : "extrapolated"; }

std::string status_of(const Outcome& outcome) {
  if (outcome.failure) {
    const Failure& failure = *outcome.failure;
    if (failure.of_solve) return std::string(heddle::name(*failure.of_solve));
    return std::string(heddle::name(failure.is_finite ? Status::out_of_range : Status::not_finite));
  }
  return outcome.is_interrupted ? "interrupted" : "done";
}

double iterations_a_step(const Outcome& outcome) {
  const long long solves = outcome.solves.solves;
  return solves > 0 ? static_cast<double>(outcome.solves.iterations) / static_cast<double>(solves)
                    : 0;
}

/// The parts of a step by their names in JSON, or in words; none on a GPU under splitting.
std::vector<std::pair<const char*, double>> parts_of(const Outcome& outcome, bool in_words) {
  const StepTimes& steps = outcome.times.steps;
  if (outcome.is_newton()) {
    return {{"assembly", steps.assembly},
            {in_words ? "products" : "product", steps.product},
            {in_words ? "rest of the solves" : "rest_of_solve", steps.solve - steps.product},
            {"other", steps.all - steps.assembly - steps.solve}};
  }
  if (outcome.on_gpu) return {};
  return {{"membranes", steps.membranes},
          {in_words ? "iterations" : "iterate", steps.iterate},
          {in_words ? "vectors" : "fields", steps.fields}};
}

ordered_json times_of(const Outcome& outcome) {
  const PhaseTimes& times = outcome.times;
  ordered_json json = {{"read", times.read}, {"setup", times.setup}};
  for (const auto& [name, seconds] : parts_of(outcome, false)) json[name] = seconds;
  if (!outcome.is_newton() && outcome.on_gpu) {
    for (const char* const name : {"membranes", "iterate", "fields"}) json[name] = nullptr;
  }
  json["steps"] = times.steps.all;
  json["output"] = times.output;
  json["wall"] = outcome.wall;
  return json;
}

ordered_json failure_json(const Failure& failure) {
  return {{"time", failure.time},
          {"vertex", failure.vertex + 1},
          {"finite", failure.is_finite},
          {"potential", number_or_null(failure.potential)},
          {"text", failure_text(failure)}};
}

ordered_json adaptive_json(const Outcome& outcome) {
  const StepCounts& counts = *outcome.adaptive;
  const double step = outcome.given.time.step;
  return {{"tolerance", outcome.given.time.adaptive->tolerance},
          {"taken", counts.taken},
          {"rejected", counts.rejected},
          {"shortest", static_cast<double>(counts.shortest) * step},
          {"longest", static_cast<double>(counts.longest) * step}};
}

std::string bands_text(const Outcome& outcome) {
  if (outcome.activated == 0) return "grey: nothing was activated";
  char text[96];
  std::snprintf(text, sizeof text, "bands of %.3g ms from %.4g ms (blue) to %.4g ms (red)",
                (outcome.last_activation - outcome.first_activation) / picture_bands,
                outcome.first_activation, outcome.last_activation);
  return text;
}

void print_written(const RunOptions& options, const Outcome& outcome) {
  if (outcome.frames > 0) {
    print_file(options.output, ", " + readable_count(outcome.frames) + " states");
  }
  print_file(options.traces);
  if (outcome.states_kept > 0) print_file(options.restart);
  print_file(options.activation);
  print_file(options.picture, ", " + bands_text(outcome));
}

void print_steps(const Outcome& outcome) {
  const TimeCase& time = outcome.given.time;
  if (time.scheme == Scheme::newton) {
    std::printf("scheme     backward Euler, %s iterations of Newton's method, ",
                readable_count(outcome.newton_iterations).c_str());
  } else {
    const bool is_at_nodes = time.ionic_current == CurrentPlace::nodes;
    std::printf("scheme     %s splitting, theta %g, %s mass, ionic current at %s, ",
                name(time.splitting), time.theta, name(time.mass),
                is_at_nodes ? "nodes" : "integration points");
  }
  if (outcome.adaptive) {
    const StepCounts& counts = *outcome.adaptive;
    std::printf("%s steps of %g to %g ms, %s rejected\n", readable_count(counts.taken).c_str(),
                static_cast<double>(counts.shortest) * time.step,
                static_cast<double>(counts.longest) * time.step,
                readable_count(counts.rejected).c_str());
  } else {
    std::printf("%s steps of %g ms\n", readable_count(time.steps).c_str(), time.step);
  }
  std::printf("status     %s at %g ms after %s iterations (%.1f a step)\n",
              status_of(outcome).c_str(), outcome.time(),
              readable_count(outcome.solves.iterations).c_str(), iterations_a_step(outcome));
  std::printf("residual   %s = %.1e at worst (asked for %.1e)\n",
              time.scheme == Scheme::newton ? "|b - A x| / |b|" : "|b - A c| / |M 80 mV|",
              outcome.solves.worst_residual, outcome.given.solver.tolerance);
  std::printf("activated  %s of %s vertices", readable_count(outcome.activated).c_str(),
              readable_count(outcome.vertices).c_str());
  if (outcome.activated > 0) {
    std::printf(", from %.4g to %.4g ms", outcome.first_activation, outcome.last_activation);
  }
  std::printf("\n");
  if (std::isfinite(outcome.speed.median)) {
    std::printf("speed      %.3g m/s in the median tetrahedron, from %.3g to %.3g in nine of ten\n",
                outcome.speed.median, outcome.speed.low, outcome.speed.high);
  }
  for (std::size_t i = 0; i < outcome.activation_of_points.size(); ++i) {
    const auto& [label, p] = outcome.given.points[i];
    const double time = outcome.activation_of_points[i];
    std::printf("point      %s (%g, %g, %g): ", label.c_str(), p[0], p[1], p[2]);
    if (std::isnan(time)) {
      std::printf("not activated\n");
    } else {
      std::printf("activated at %.4f ms\n", time);
    }
  }
}

}  // namespace

ordered_json to_json(const RunOptions& options, const Outcome& outcome) {
  const TimeCase& time = outcome.given.time;
  ordered_json json = cli::begin_report();
  json["status"] = status_of(outcome);
  if (outcome.failure) json["failure"] = failure_json(*outcome.failure);
  json["mesh"] = options.mesh.empty() ? ordered_json() : ordered_json(options.mesh);
  outcome.add_mesh_to(json);
  outcome.add_matrix_to(json);
  json["membranes"] = outcome.membranes;
  json["largest_step"] = number_or_null(outcome.largest_step);
  json["scheme"] = time.scheme == Scheme::newton ? "newton" : "splitting";
  if (time.scheme == Scheme::newton) {
    json["newton_iterations"] = outcome.newton_iterations;
    if (outcome.adaptive) json["adaptive"] = adaptive_json(outcome);
  } else {
    json["splitting"] = name(time.splitting);
    json["theta"] = time.theta;
    json["mass"] = name(time.mass);
    json["ionic_current"] = name(time.ionic_current);
    json["guess"] = name(outcome.given.solver.guess);
    json["tables"] = outcome.is_tabulated;
  }
  json["time_step"] = time.step;
  json["first_step"] = outcome.first_step;
  json["steps"] = outcome.steps;
  json["time"] = outcome.time();
  json["tolerance"] = outcome.given.solver.tolerance;
  json["iterations"] = outcome.solves.iterations;
  json["iterations_a_step"] = iterations_a_step(outcome);
  json["at_accuracy_limit"] = outcome.solves.at_accuracy_limit;
  json["residual"] = number_or_null(outcome.solves.worst_residual);
  json["activated"] = outcome.activated;
  json["first_activation"] = number_or_null(outcome.first_activation);
  json["last_activation"] = number_or_null(outcome.last_activation);
  json["speed"] = {{"low", number_or_null(outcome.speed.low)},
                   {"median", number_or_null(outcome.speed.median)},
                   {"high", number_or_null(outcome.speed.high)}};
  json["points"] = ordered_json::array();
  for (std::size_t i = 0; i < outcome.activation_of_points.size(); ++i) {
    const auto& [label, point] = outcome.given.points[i];
    json["points"].push_back({{"name", label},
                              {"point", point},
                              {"activation", number_or_null(outcome.activation_of_points[i])}});
  }
  json["frames"] = outcome.frames;
  json["warnings"] = outcome.warnings;
  json["times"] = times_of(outcome);
  return json;
}

void print(const RunOptions& options, const Outcome& outcome) {
  const PhaseTimes& times = outcome.times;
  outcome.print_mesh(options.mesh.empty() ? "slab" : options.mesh, " mm");
  std::printf("membranes  %s\n", printable(outcome.membranes).c_str());
  std::printf("matrix     %s entries\n", readable_count(outcome.entries).c_str());
  outcome.print_matrix();
  print_steps(outcome);
  std::string parts;
  for (const auto& [name, seconds] : parts_of(outcome, true)) {
    parts += (parts.empty() ? " (" : ", ") + std::string(name) + " " + readable_seconds(seconds);
  }
  if (!parts.empty()) parts += ")";
  std::printf("time       read %s, setup %s, steps %s%s, output %s\n",
              readable_seconds(times.read).c_str(), readable_seconds(times.setup).c_str(),
              readable_seconds(times.steps.all).c_str(), parts.c_str(),
              readable_seconds(times.output).c_str());
  print_written(options, outcome);
}

}  // namespace heddle::heart
