#include "run_case.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "../command/output_path.hpp"
#include "../command/run_files.hpp"
#include "../command/stopwatch.hpp"
#include "../mesh/slab_mesh.hpp"
#include "../simulation/frame_writer.hpp"
#include "../simulation/message_text.hpp"
#include "activation.hpp"
#include "diffusion.hpp"
#include "heddle/error.hpp"
#include "heddle/tools/progress.hpp"
#include "interruption.hpp"
#include "restart_file.hpp"
#include "trace_file.hpp"

namespace heddle::heart {

using simulation::FrameArray;

namespace {

void check_ending(const char* option, const std::optional<std::string>& path, const char* ending,
                  const char* what) {
  if (!path || cli::ends_with(*path, ending)) return;
  throw Error(ErrorKind::usage,
              std::string(option) + " " + *path + ": " + what + " is written as " + ending);
}

/// `fibres`: the file of a case that is known by then, or empty.
void check_files(const RunOptions& options, const std::string& fibres) {
  cli::RunFiles files;
  if (!options.mesh.empty()) {
    files.reads("the command", mesh::files_of_solid_mesh(options.mesh));
  }
  files.reads("--case", options.case_path);
  files.reads("the case", fibres);
  options.profile.add_inputs(files);
  files.writes("--output", options.output);
  if (options.output) {
    for (const std::string& frame :
         simulation::FrameWriter::names_of(*options.output, options.activation)) {
      files.writes("--output", frame);
    }
  }
  files.writes("--activation", options.activation);
  files.writes("--traces", options.traces);
  files.writes("--picture", options.picture);
  files.writes("--restart", options.restart);
  // A state may be replaced by a later one of the same run.
  if (options.resume != options.restart) files.reads("--resume", options.resume.value_or(""));
  files.check();
}

/// Said before anything is read.
void check_outputs(const RunOptions& options) {
  check_ending("--output", options.output, ".pvd", "a series of states");
  check_ending("--activation", options.activation, ".vtu", "a map of activation");
  check_ending("--traces", options.traces, ".csv", "a table of traces");
  check_ending("--picture", options.picture, ".png", "a picture");
  if (options.restart_every && !options.restart) {
    throw Error(ErrorKind::usage, "--restart-every needs --restart, the file to write");
  }
  check_files(options, "");
}

void check_case_fits(const RunOptions& options, const Case& given) {
  check_files(options, given.fibres.file);
  if (options.mesh.empty() && !given.slab) {
    throw Error(ErrorKind::usage, "there is no mesh: name a file, or give the case a slab as mesh");
  }
  if (!options.mesh.empty() && given.slab) {
    throw Error(ErrorKind::usage, given.path + " has a slab as mesh already; leave out " +
                                      simulation::printable(options.mesh));
  }
  if (options.traces && given.points.empty() && given.electrodes.empty()) {
    throw Error(ErrorKind::usage,
                "--traces: " + given.path + " has neither points nor electrodes to follow");
  }
  if (options.restart_every && !(*options.restart_every >= given.time.step)) {
    throw Error(ErrorKind::usage, "--restart-every must be at least a time step, " +
                                      simulation::shortest(given.time.step) + " ms");
  }
}

mesh::SolidMesh mesh_of(const RunOptions& options, const Case& given, Progress* progress) {
  if (!given.slab) return mesh::read_solid_mesh(options.mesh, progress);
  return mesh::make_slab(given.slab->sides, given.slab->h, given.slab->split);
}

/// The vertex to name, see `Failure`.
Failure failure_of(const std::vector<double>& potential, double time, Status status) {
  Failure failure{.status = status, .time = time};
  const auto broken =
      std::find_if(potential.begin(), potential.end(), [](double v) { return !std::isfinite(v); });
  failure.is_finite = broken == potential.end();
  const auto named =
      failure.is_finite
          ? std::max_element(potential.begin(), potential.end(),
                             [](double a, double b) { return std::abs(a) < std::abs(b); })
          : broken;
  failure.vertex = static_cast<Index>(named - potential.begin());
  return failure;
}

/// One run after everything is read; the parts of `run_case` that share what it has made.
class Run {
 public:
  Run(const RunOptions& options, const Model& model, const Device& device, Outcome& outcome,
      Progress* progress)
      : options_(options),
        model_(model),
        device_(device),
        outcome_(outcome),
        progress_(progress),
        traces_(find_traces(model, outcome.given)) {}

  void build(const Profiles& profiles) {
    if (progress_ != nullptr) progress_->report(-1, "building the matrix");
    const ElementPattern pattern = pattern_of(model_);
    const PlanSubject subject{.pattern = pattern.view(),
                              .entry = "real",
                              .precision = "double",
                              .entry_bytes = sizeof(Number),
                              .result_bytes = sizeof(double)};
    const auto choose = [&](const Profiles& from) {
      return cli::choice_for(options_.plan, subject, device_, Objective(), from);
    };
    const SystemOptions settings{.time = outcome_.given.time,
                                 .solver = outcome_.given.solver,
                                 .activation_threshold = outcome_.given.activation_threshold};
    outcome_.choice = choose(profiles);
    options_.profile.build(
        outcome_.choice,
        [&](const Plan& plan) {
          system_.reset();
          system_.emplace(model_, pattern, plan, device_, settings, traces_);
        },
        [&] { return choose(Profiles()); });
    outcome_.entries = pattern.entries();
    outcome_.memory = system_->matrix().memory();
    outcome_.membranes = system_->membranes().description();
    outcome_.largest_step = system_->membranes().largest_step();
    if (options_.resume || options_.restart) {
      fingerprint_ = fingerprint_of(model_, *system_, outcome_.given);
    }
    if (options_.resume) resume();
  }

  void take_steps() {
    const Case& given = outcome_.given;
    std::optional<Interruption> interruption;
    if (options_.restart) interruption.emplace();
    if (options_.output) {
      writer_.emplace(*options_.output, model_.position, model_.tetrahedron, frame(), device_);
    }
    if (options_.traces) table_.add(system_->time(), system_->traces_now());
    write_frame();
    while (system_->steps() < given.time.steps && !outcome_.failure && !outcome_.is_interrupted) {
      tell();
      advance();
      if (outcome_.failure) break;
      const long long steps = system_->steps();
      if (steps % given.output_every == 0 || steps == given.time.steps) write_frame();
      outcome_.is_interrupted = interruption && interruption->has_come();
      const bool is_end = outcome_.is_interrupted || steps == given.time.steps;
      if (options_.restart && (is_end || steps == next_restart())) keep_state();
    }
    finish();
  }

 private:
  void resume() {
    const SystemState state = read_restart(*options_.resume, fingerprint_);
    if (state.steps >= outcome_.given.time.steps) {
      throw Error(ErrorKind::usage, *options_.resume + ": the state is of " +
                                        simulation::shortest(static_cast<double>(state.steps) *
                                                             outcome_.given.time.step) +
                                        " ms, and the case ends at " +
                                        simulation::shortest(outcome_.given.time.end()) + " ms");
    }
    system_->set_state(state);
    outcome_.first_step = kept_at_ = state.steps;
  }

  /// The first of the steps, behind those that are taken, after which the state is kept.
  long long next_restart() const {
    if (!options_.restart_every) return -1;
    const auto every =
        std::max(1LL, std::llround(*options_.restart_every / outcome_.given.time.step));
    return (kept_at_ / every + 1) * every;
  }

  void advance() {
    const Case& given = outcome_.given;
    const long long steps = system_->steps();
    // Short enough that Ctrl-C and NaN are not found late.
    long long count = device_.on_gpu() ? HeartSystem::most_steps : 16;
    count = std::min(count, given.time.steps - steps);
    count = std::min(count, given.output_every - steps % given.output_every);
    if (const long long next = next_restart(); next > steps) count = std::min(count, next - steps);
    system_->advance(count);
    const SolveRecord& record = system_->record();
    const bool failed = record.failed_step >= 0;
    const long long good = failed ? record.failed_step : steps + count;
    if (options_.traces) {
      for (long long i = 0; i < good - steps; ++i) {
        if ((steps + i + 1) % given.trace_every != 0) continue;
        table_.add(static_cast<double>(steps + i + 1) * given.time.step, system_->traces_after(i));
      }
    }
    if (!failed && system_->is_finite()) return;
    const double time =
        failed ? static_cast<double>(record.failed_step + 1) * given.time.step : system_->time();
    outcome_.failure = failure_of(system_->potential_of_vertices(), time,
                                  failed ? record.failed_status : Status::not_finite);
  }

  std::vector<FrameArray> frame() const {
    return {{"potential", FrameArray::Of::vertices, system_->potential().view()}};
  }

  void write_frame() {
    if (!writer_) return;
    const cli::Stopwatch watch;
    writer_->write(system_->steps(), system_->time(), frame());
    outcome_.times.output += watch.seconds();
  }

  void keep_state() {
    const cli::Stopwatch watch;
    write_restart(*options_.restart, system_->state(), fingerprint_);
    kept_at_ = system_->steps();
    ++outcome_.states_kept;
    outcome_.times.output += watch.seconds();
  }

  void finish() {
    const cli::Stopwatch watch;
    if (writer_) {
      writer_->finish();
      outcome_.frames = writer_->frames();
    }
    if (options_.traces) table_.write(*options_.traces, outcome_.given);
    const std::vector<double> activation = system_->activation_of_vertices();
    for (const double time : activation) {
      if (std::isnan(time)) continue;
      ++outcome_.activated;
      outcome_.last_activation = std::fmax(outcome_.last_activation, time);
    }
    for (const Place& place : traces_.probes) {
      outcome_.activation_of_points.push_back(place.of(activation));
    }
    if (!outcome_.failure && !outcome_.is_interrupted) {
      if (options_.activation) write_activation(*options_.activation, model_, activation);
      if (options_.picture) write_activation_picture(*options_.picture, model_, activation);
    }
    outcome_.solves = system_->record();
    // A GPU may have gone on behind a solve that failed.
    const long long failed = outcome_.solves.failed_step;
    outcome_.steps = failed >= 0 ? failed + 1 : system_->steps();
    outcome_.times.output += watch.seconds();
    outcome_.times.steps = system_->times;
  }

  void tell() {
    if (progress_ == nullptr) return;
    const double end = outcome_.given.time.end();
    char text[64];
    std::snprintf(text, sizeof text, "%.6g of %.6g ms", system_->time(), end);
    progress_->report(system_->time() / end, text);
  }

  const RunOptions& options_;
  const Model& model_;
  const Device& device_;
  Outcome& outcome_;
  Progress* progress_;
  Traces traces_;
  std::optional<HeartSystem> system_;
  std::optional<simulation::FrameWriter> writer_;
  TraceTable table_;
  std::uint64_t fingerprint_ = 0;
  long long kept_at_ = 0;  // steps
};

}  // namespace

std::string failure_text(const Failure& failure) {
  const std::string vertex = "vertex " + std::to_string(failure.vertex + 1) + " of the mesh";
  const std::string when = "at " + simulation::shortest(failure.time) + " ms ";
  if (!failure.is_finite) return when + "the potential is not finite, at first at " + vertex;
  return when + "the diffusion was not solved: " + std::string(name(failure.status)) +
         "; the potential is largest at " + vertex;
}

Outcome run_case(const RunOptions& options) {
  const cli::Stopwatch wall;
  const Device device = options.device.on(options.quiet);
  check_outputs(options);
  cli::check_plan_text(options.plan, device);
  options.profile.check_use({options.plan});
  Outcome outcome;
  outcome.device = device.description();
  outcome.on_gpu = device.on_gpu();
  outcome.given = read_case(options.case_path);
  check_case_fits(options, outcome.given);
  const Profiles profiles = options.profile.profiles_for({options.plan}, device);
  std::optional<TerminalProgress> progress;
  if (!options.quiet) progress.emplace();
  Progress* const shown = progress ? &*progress : nullptr;

  mesh::SolidMesh mesh = mesh_of(options, outcome.given, shown);
  outcome.box = mesh::box_of(mesh.position);
  outcome.groups = mesh::group_sizes(mesh);
  outcome.left_out = static_cast<long long>(mesh.left_out.size());
  const Model model = make_model(std::move(mesh), outcome.given);
  outcome.vertices = model.vertices();
  outcome.tetrahedra = model.elements();
  Run run(options, model, device, outcome, shown);
  outcome.times.read = wall.seconds();

  const cli::Stopwatch setup;
  run.build(profiles);
  outcome.times.setup = setup.seconds();
  run.take_steps();
  outcome.wall = wall.seconds();
  return outcome;
}

}  // namespace heddle::heart
