#include "run_case.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <utility>

#include "../command/output_path.hpp"
#include "../command/stopwatch.hpp"
#include "../mesh/slab_mesh.hpp"
#include "../simulation/frame_writer.hpp"
#include "../simulation/message_text.hpp"
#include "activation.hpp"
#include "diffusion.hpp"
#include "heddle/error.hpp"
#include "heddle/tools/progress.hpp"
#include "interruption.hpp"
#include "newton_system.hpp"
#include "restart_file.hpp"
#include "trace_file.hpp"

namespace heddle::heart {

using simulation::FrameArray;

namespace {

/// `fibres`: the file of a case that is known by then, or empty.
void check_files(const RunOptions& options, const std::string& fibres) {
  cli::RunFiles files = options.files(options.activation);
  files.reads("the case", fibres);
  files.writes("--activation", options.activation);
  files.writes("--traces", options.traces);
  files.writes("--restart", options.restart);
  // A state may be replaced by a later one of the same run.
  if (options.resume != options.restart) files.reads("--resume", options.resume.value_or(""));
  files.check();
}

/// Said before anything is read.
void check_outputs(const RunOptions& options) {
  cli::check_ending("--output", options.output, ".pvd", "a series of states is written as");
  cli::check_ending("--activation", options.activation, ".vtu",
                    "a map of activation is written as");
  cli::check_ending("--traces", options.traces, ".csv", "a table of traces is written as");
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
    const SystemOptions settings{.time = outcome_.given.time,
                                 .solver = outcome_.given.solver,
                                 .activation_threshold = outcome_.given.activation_threshold,
                                 .tables = outcome_.given.tables};
    const bool is_newton = outcome_.given.time.scheme == Scheme::newton;
    outcome_.choice =
        options_.build(subject, device_, Objective(), profiles, [&](const Plan& plan) {
          system_.reset();
          if (is_newton) {
            system_ =
                std::make_unique<NewtonSystem>(model_, plan, device_, outcome_.given, traces_);
          } else {
            system_ =
                std::make_unique<HeartSystem>(model_, pattern, plan, device_, settings, traces_);
          }
        });
    outcome_.entries = pattern.entries();
    outcome_.memory = system_->matrix().memory();
    outcome_.lists = system_->lists_memory();
    outcome_.membranes = system_->description();
    outcome_.is_tabulated = system_->is_tabulated();
    outcome_.largest_step = system_->largest_step();
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
    if (options_.traces) {
      table_.emplace(*options_.traces, given);
      table_->add(system_->time(), system_->traces_now());
      table_->flush();
    }
    write_frame();
    while (system_->steps() < given.time.steps && !outcome_.failure && !outcome_.is_interrupted) {
      tell();
      advance_or_keep_state();
      if (outcome_.failure) break;
      const long long steps = system_->steps();
      outcome_.is_interrupted =
          interruption && interruption->has_come() && steps < given.time.steps;
      const bool is_end = outcome_.is_interrupted || steps == given.time.steps;
      if (is_end || steps % given.output_every == 0) write_frame();
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
    const double steps = std::min(*options_.restart_every / outcome_.given.time.step, 1e15);
    const auto every = std::max(1LL, std::llround(steps));
    return (kept_at_ / every + 1) * every;
  }

  /// Steps that are taken are not lost where their traces cannot be written.
  void advance_or_keep_state() {
    try {
      advance();
    } catch (const WriteFailed&) {
      if (options_.restart && system_->is_finite()) keep_state();
      throw;
    }
  }

  void advance() {
    const Case& given = outcome_.given;
    const long long steps = system_->steps();
    // Short enough that Ctrl-C and NaN are not found late.
    long long count =
        device_.on_gpu() && given.time.scheme == Scheme::splitting ? HeartSystem::most_steps : 16;
    count = std::min(count, given.time.steps - steps);
    count = std::min(count, given.output_every - steps % given.output_every);
    if (const long long next = next_restart(); next > steps) count = std::min(count, next - steps);
    system_->advance(count);
    const SolveRecord& record = system_->record();
    const bool failed = record.failed_step >= 0;
    const bool is_good = !failed && system_->is_finite();
    // Where a potential is no number though all solves were good, so may be rows.
    if (is_good || failed) add_traces(steps, failed ? record.failed_step : steps + count);
    if (is_good) return;
    const double time =
        failed ? static_cast<double>(record.failed_step + 1) * given.time.step : system_->time();
    outcome_.failure = failure_of(system_->potential_of_vertices(), time,
                                  failed ? record.failed_status : Status::not_finite);
  }

  /// After the steps from `first` to below `end`.
  void add_traces(long long first, long long end) {
    if (!table_) return;
    const cli::Stopwatch watch;
    for (long long i = first; i < end; ++i) {
      if ((i + 1) % outcome_.given.trace_every != 0) continue;
      table_->add(static_cast<double>(i + 1) * outcome_.given.time.step,
                  system_->traces_after(i - first));
    }
    table_->flush();
    outcome_.times.output += watch.seconds();
  }

  std::vector<FrameArray> frame() {
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
    if (table_) table_->finish();
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
    outcome_.newton_iterations = system_->newton_iterations();
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
  std::unique_ptr<TissueSystem> system_;
  std::optional<simulation::FrameWriter> writer_;
  std::optional<TraceFile> table_;
  std::uint64_t fingerprint_ = 0;
  long long kept_at_ = 0;  // steps
};

}  // namespace

std::string failure_text(const Failure& failure) {
  const std::string vertex = "vertex " + std::to_string(failure.vertex + 1) + " of the mesh";
  const std::string when = "at " + simulation::shortest(failure.time) + " ms ";
  if (!failure.is_finite) return when + "the potential is not finite, at first at " + vertex;
  return when + "the step was not solved: " + std::string(name(failure.status)) +
         "; the potential is largest at " + vertex;
}

Outcome run_case(const RunOptions& options) {
  const cli::Stopwatch wall;
  const Device device = options.device.on(options.quiet);
  check_outputs(options);
  const Profiles profiles = options.profiles_on(device);
  Outcome outcome;
  outcome.device = device.description();
  outcome.on_gpu = device.on_gpu();
  outcome.given = read_case(options.case_path);
  check_case_fits(options, outcome.given);
  const auto progress = options.progress();

  mesh::SolidMesh mesh = mesh_of(options, outcome.given, progress.get());
  outcome.take_mesh(mesh);
  const Model model = make_model(std::move(mesh), outcome.given);
  Run run(options, model, device, outcome, progress.get());
  outcome.times.read = wall.seconds();

  const cli::Stopwatch setup;
  run.build(profiles);
  outcome.times.setup = setup.seconds();
  run.take_steps();
  outcome.wall = wall.seconds();
  return outcome;
}

}  // namespace heddle::heart
