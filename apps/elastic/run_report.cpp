#include "run_report.hpp"

#include <cstdio>

#include "../command/json_report.hpp"
#include "../command/multigrid_report.hpp"
#include "../command/readable.hpp"
#include "dump.hpp"
#include "heddle/tools/text.hpp"
#include "modes/modal_report.hpp"

namespace heddle::elastic {

using cli::number_or_null;
using cli::readable_count;
using cli::readable_seconds;
using io::printable;
using nlohmann::ordered_json;
using simulation::print_file;

namespace {

const char* name(AnalysisType type) {
  switch (type) {
    case AnalysisType::statics:
      return "static";
    case AnalysisType::dynamics:
      return "dynamic";
    case AnalysisType::corotational:
      return "corotational";
    default:
      return "modes";
  }
}

const char* name(Method method) { return method == Method::newmark ? "newmark" : "backward-euler"; }

ordered_json to_json(const StepRecord& step) {
  return {{"step", step.step},
          {"time", step.time},
          {"iterations", step.report.iterations},
          {"residual", number_or_null(step.report.residual)},
          {"backward_error", number_or_null(step.report.backward_error)},
          {"kinetic", number_or_null(step.energies.kinetic)},
          {"elastic", number_or_null(step.energies.elastic)},
          {"work", number_or_null(step.energies.work)},
          {"total", number_or_null(step.energies.total())}};
}

std::string analysis_text(const Outcome& outcome) {
  const AnalysisCase& analysis = outcome.given.analysis;
  std::string text = name(analysis.type);
  if (outcome.is_projected) text += ", rigid motions projected out";
  if (!analysis.is_stepped()) return text;
  char steps[128];
  if (analysis.method == Method::newmark) {
    std::snprintf(steps, sizeof steps, ", newmark (beta %g, gamma %g)", analysis.beta,
                  analysis.gamma);
  } else {
    std::snprintf(steps, sizeof steps, ", backward Euler");
  }
  text += steps;
  std::snprintf(steps, sizeof steps, ", %lld steps of %g", analysis.steps, analysis.time_step);
  return text + steps;
}

std::string status_text(const Outcome& outcome) {
  const Report& report = outcome.last_report();
  std::string text(name(report.status));
  if (!report.detail.empty()) text += " (" + std::string(report.detail) + ")";
  if (!outcome.given.analysis.is_stepped()) {
    return text + " after " + readable_count(outcome.iterations()) + " iterations";
  }
  const long long steps = outcome.steps.back().step;
  if (!outcome.solved()) text += " in step " + std::to_string(steps);
  text += " after " + readable_count(steps) + " steps, " + readable_count(outcome.iterations()) +
          " iterations";
  if (steps == 0) return text;
  const long long at_start = outcome.steps.front().report.iterations;
  char mean[48];
  std::snprintf(mean, sizeof mean, " (%.1f a step)",
                static_cast<double>(outcome.iterations() - at_start) / static_cast<double>(steps));
  return text + mean;
}

bool is_of_modes(const Outcome& outcome) {
  return outcome.given.analysis.type == AnalysisType::modes;
}

void add_solves(const Outcome& outcome, ordered_json& json) {
  const AnalysisCase& analysis = outcome.given.analysis;
  json["loop"] = outcome.last_report().loop;
  if (analysis.is_stepped()) json["method"] = name(analysis.method);
  json["projected"] = outcome.is_projected;
  json["earlier_solutions"] = cli::to_json(outcome.guesses);
  json["deflation"] = to_json(outcome.deflation);
  json["preconditioner"] = outcome.multigrid ? "multigrid" : "jacobi";
  if (outcome.hierarchy)
    json["multigrid"] = cli::to_json(*outcome.hierarchy, outcome.level_precision);
  json["largest_displacement"] = number_or_null(outcome.largest_displacement);
  json["steps"] = ordered_json::array();
  for (const StepRecord& step : outcome.steps) json["steps"].push_back(to_json(step));
  json["frames"] = outcome.frames;
}

void print_solves(const Outcome& outcome) {
  const Energies& energies = outcome.steps.back().energies;
  std::printf("status     %s\n", status_text(outcome).c_str());
  std::printf("residual   |b - A x| / |b| = %.1e at worst (asked for %.1e)\n",
              outcome.worst_residual(), outcome.given.solver.tolerance);
  if (outcome.guesses.count > 0) {
    std::printf("guesses    %s\n", cli::text_of(outcome.guesses).c_str());
  }
  if (outcome.deflation.systems > 0) {
    std::printf("deflation  %s\n", text_of(outcome.deflation).c_str());
  }
  if (outcome.hierarchy) {
    std::printf("levels     %s\n",
                cli::text_of(*outcome.hierarchy, outcome.level_precision).c_str());
  }
  std::printf("largest    displacement %.6g\n", outcome.largest_displacement);
  std::printf("energy     kinetic %.6g, elastic %.6g, work of loads %.6g\n", energies.kinetic,
              energies.elastic, energies.work);
}

void print_written(const RunOptions& options, const Outcome& outcome) {
  if (outcome.frames > 0) {
    print_file(options.output, ", " + readable_count(outcome.frames) + " states");
  }
  if (outcome.solved()) {
    if (is_of_modes(outcome)) {
      print_file(options.output, ", " + std::to_string(outcome.found.modes.size()) + " modes");
    }
    print_file(options.picture);
  }
  print_file(options.history);
  if (outcome.is_dumped) {
    print_file(dumped_matrix(*options.dump),
               ", " + printable(dumped_right_hand_side(*options.dump)));
  }
}

}  // namespace

std::string accuracy_text(const Outcome& outcome) {
  const Report* worst = nullptr;
  for (const StepRecord& step : outcome.steps) {
    if (step.report.status != Status::accuracy_limit) continue;
    if (worst == nullptr || step.report.residual > worst->residual) worst = &step.report;
  }
  if (worst == nullptr) return "";
  char text[240];
  std::snprintf(text, sizeof text,
                "rounding kept %s of %s systems from residuals below %.1e (backward error %.1e); "
                "the tolerance asks for %.1e",
                readable_count(outcome.steps_at_accuracy_limit()).c_str(),
                readable_count(static_cast<long long>(outcome.steps.size())).c_str(),
                worst->residual, worst->backward_error, outcome.given.solver.tolerance);
  return text;
}

ordered_json to_json(const RunOptions& options, const Outcome& outcome) {
  const PhaseTimes& times = outcome.times;
  ordered_json json = cli::begin_report();
  json["status"] =
      name(is_of_modes(outcome) ? outcome.found.solve.status : outcome.last_report().status);
  json["mesh"] = options.mesh;
  outcome.add_mesh_to(json);
  json["unknowns"] = outcome.unknowns;
  outcome.add_matrix_to(json);
  json["analysis"] = name(outcome.given.analysis.type);
  json["iterations"] = outcome.iterations();
  json["tolerance"] = outcome.given.solver.tolerance;
  if (is_of_modes(outcome)) {
    add_modes(outcome.found, json);
  } else {
    add_solves(outcome, json);
  }
  json["times"] = {{"read", times.read},         {"setup", times.setup},
                   {"elements", times.elements}, {"values", times.values},
                   {"iterate", times.iterate},   {"fields", times.fields},
                   {"output", times.output},     {"wall", outcome.wall}};
  json["share"] = outcome.share_of_kernels();
  return json;
}

void print(const RunOptions& options, const Outcome& outcome) {
  const PhaseTimes& times = outcome.times;
  outcome.print_mesh(options.mesh, "");
  std::printf("matrix     %s unknowns, %s blocks of 3 x 3\n",
              readable_count(outcome.unknowns).c_str(), readable_count(outcome.entries).c_str());
  outcome.print_matrix();
  std::printf("analysis   %s\n", analysis_text(outcome).c_str());
  if (is_of_modes(outcome)) {
    print_modes(outcome.found, outcome.given.solver.tolerance);
  } else {
    print_solves(outcome);
  }
  std::printf(
      "time       read %s, setup %s, elements %s, matrix values %s, iterations %s, "
      "vectors %s, output %s\n",
      readable_seconds(times.read).c_str(), readable_seconds(times.setup).c_str(),
      readable_seconds(times.elements).c_str(), readable_seconds(times.values).c_str(),
      readable_seconds(times.iterate).c_str(), readable_seconds(times.fields).c_str(),
      readable_seconds(times.output).c_str());
  std::printf("share      %.1f %% of %s after the setup in solver and element kernels\n",
              100 * outcome.share_of_kernels(),
              readable_seconds(outcome.seconds_after_setup()).c_str());
  print_written(options, outcome);
}

}  // namespace heddle::elastic
