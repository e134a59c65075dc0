#include "run_case.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <utility>

#include "../command/message.hpp"
#include "../command/stopwatch.hpp"
#include "../mesh/slab_mesh.hpp"
#include "../simulation/frame_writer.hpp"
#include "../simulation/message_text.hpp"
#include "activation.hpp"
#include "diffusion.hpp"
#include "heddle/error.hpp"
#include "heddle/tools/output_file.hpp"
#include "heddle/tools/progress.hpp"
#include "interruption.hpp"
#include "newton/newton_system.hpp"
#include "restart_file.hpp"
#include "run_checks.hpp"
#include "run_identity.hpp"
#include "trace_file.hpp"
#include "unusual_values.hpp"

namespace heddle::heart {

using simulation::FrameArray;

namespace {

mesh::SolidMesh mesh_of(const RunOptions& options, const Case& given, Progress* progress) {
  if (!given.slab) return mesh::read_solid_mesh(options.mesh, progress);
  return mesh::make_slab(given.slab->sides, given.slab->h, given.slab->split);
}

/// The tables of a model cover V from the negative of this to this.
constexpr double largest_of_tables = -TenTusscherPanfilov::of_V.first;
/// In mV. No membrane exceeds this, unless a current is in another unit.
constexpr double largest_of_cells = 500;

/// In time steps; longer than any adaptive step that a case allows.
constexpr long long longest_step = 1 << 20;

/// Finds the vertex to name, see `Failure`.
Failure failure_of(const std::vector<double>& potential, double time) {
  Failure failure;
  failure.time = time;
  const auto broken =
      std::find_if(potential.begin(), potential.end(), [](double v) { return !std::isfinite(v); });
  failure.is_finite = broken == potential.end();
  const auto named =
      failure.is_finite
          ? std::max_element(potential.begin(), potential.end(),
                             [](double a, double b) { return std::abs(a) < std::abs(b); })
          : broken;
  failure.vertex = static_cast<Index>(named - potential.begin());
  failure.potential = *named;
  return failure;
}

std::string vertex_text(const Failure& failure) {
  return "vertex " + std::to_string(failure.vertex + 1) + " of the mesh";
}

/// One run after everything is read; the parts of `run_case` that share its state.
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
            system_ = std::make_unique<NewtonSystem>(model_, plan, device_, outcome_.given, traces_,
                                                     options_.assembly_on_cpu);
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
      identity_.emplace(model_, *system_, outcome_.given);
    }
    if (options_.resume) resume();
  }

  /// Steps already taken are not lost if some of their output cannot be written.
  void take_steps() {
    const Interruption interruption;
    open_outputs();
    try {
      take_steps_until(interruption);
      finish();
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::io) throw;
      throw WriteFailed(error.what() + after_failed_write());
    }
  }

 private:
  void resume() {
    const SystemState state = read_restart(*options_.resume, *identity_);
    if (state.steps >= outcome_.given.time.steps) {
      throw Error(ErrorKind::usage, *options_.resume + ": the state is from " +
                                        simulation::shortest(static_cast<double>(state.steps) *
                                                             outcome_.given.time.step) +
                                        " ms, but the case ends at " +
                                        simulation::shortest(outcome_.given.time.end()) + " ms");
    }
    system_->set_state(state);
    outcome_.first_step = kept_at_ = state.steps;
  }

  /// The first step after those already taken at which the state is kept.
  long long next_restart() const {
    if (!options_.restart_every) return -1;
    const double steps = std::min(*options_.restart_every / outcome_.given.time.step, 1e15);
    const auto every = std::max(1LL, std::llround(steps));
    return (kept_at_ / every + 1) * every;
  }

  /// In a run that continues, outputs keep everything from before it.
  void open_outputs() {
    const Case& given = outcome_.given;
    std::optional<double> keep_before;
    if (options_.resume) keep_before = system_->time() - 0.5 * given.time.step;
    if (options_.traces) table_.emplace(*options_.traces, given, keep_before);
    if (options_.output) {
      writer_.emplace(*options_.output, model_.position, model_.tetrahedron, frame(),
                      system_->matrix().device(), keep_before);
    }
  }

  void take_steps_until(const Interruption& interruption) {
    const Case& given = outcome_.given;
    if (table_) {
      if (is_due(system_->steps()) || !table_->goes_on())
        table_->add(system_->time(), system_->traces_now());
      table_->flush();
    }
    write_frame();
    while (system_->steps() < given.time.steps && !outcome_.is_interrupted) {
      tell();
      advance();
      if (outcome_.failure) return;
      const long long steps = system_->steps();
      outcome_.is_interrupted = interruption.has_come() && steps < given.time.steps;
      const bool is_end = outcome_.is_interrupted || steps == given.time.steps;
      if (is_end || steps % given.output_every == 0) write_frame();
      if (options_.restart && (is_end || steps == next_restart())) keep_state();
    }
  }

  /// Describes what became of the state, for the message that says which output was not written.
  std::string after_failed_write() {
    const bool is_good = !outcome_.failure && system_->record().failed_step < 0 &&
                         std::isfinite(system_->largest_potential());
    if (!options_.restart || !is_good) return "";
    std::string lost;
    try {
      if (writer_) writer_->finish();
    } catch (const Error& error) {
      lost = std::string("; ") + error.what();
    }
    try {
      if (system_->steps() > kept_at_) write_state();
      const double time = static_cast<double>(kept_at_) * outcome_.given.time.step;
      if (outcome_.states_kept == 0) return lost;
      return lost + "; " + *options_.restart + " has the state at " + simulation::shortest(time) +
             " ms";
    } catch (const Error& error) {
      return lost + "; the state was not saved either: " + error.what();
    }
  }

  void advance() {
    const Case& given = outcome_.given;
    const long long steps = system_->steps();
    // Short enough that Ctrl-C and NaN are noticed soon.
    long long count = given.time.adaptive ? longest_step
                      : device_.on_gpu() && given.time.scheme == Scheme::splitting
                          ? HeartSystem::max_steps
                          : 16;
    const auto end_at = [&](long long every) { count = std::min(count, every - steps % every); };
    count = std::min(count, given.time.steps - steps);
    end_at(given.output_every);
    if (given.time.adaptive && table_ && given.trace_every > 0) end_at(given.trace_every);
    if (const long long next = next_restart(); next > steps) count = std::min(count, next - steps);
    system_->advance(count);
    const SolveRecord& record = system_->record();
    const bool failed = record.failed_step >= 0;
    const double largest = failed ? 0 : system_->largest_potential();
    // If a potential is not a number although all solves succeeded, rows may not be either.
    if (std::isfinite(largest)) add_traces(steps, failed ? record.failed_step : system_->steps());
    if (failed) {
      fail(static_cast<double>(record.failed_step + 1) * given.time.step, record.failed_status);
    } else if (!(largest <= largest_of_cells)) {
      fail(system_->time(), {});
    } else if (largest > largest_of_tables && system_->is_tabulated()) {
      tell_of_tables();
    }
  }

  void fail(double time, std::optional<Status> of_solve) {
    outcome_.failure = failure_of(system_->potential_of_vertices(), time);
    outcome_.failure->of_solve = of_solve;
  }

  /// Warns once only.
  void tell_of_tables() {
    if (std::exchange(has_warned_of_tables_, true)) return;
    const Failure most = failure_of(system_->potential_of_vertices(), system_->time());
    char text[240];
    std::snprintf(text, sizeof text,
                  "at %.6g ms the potential is %.4g mV at %s, beyond the membranes' tables, which "
                  "end at %g mV; \"tables\": false uses formulas",
                  most.time, most.potential, vertex_text(most).c_str(), largest_of_tables);
    outcome_.warnings.emplace_back(text);
  }

  /// Adds the rows after the steps from `first` to below `end`; adaptive steps have one.
  void add_traces(long long first, long long end) {
    if (!table_) return;
    const cli::Stopwatch watch;
    const bool is_one = outcome_.given.time.adaptive.has_value();
    for (long long i = is_one ? end - 1 : first; i >= first && i < end; ++i) {
      if (!is_due(i + 1)) continue;
      table_->add(static_cast<double>(i + 1) * outcome_.given.time.step,
                  system_->traces_after(is_one ? 0 : i - first));
    }
    table_->flush();
    outcome_.times.output += watch.seconds();
  }

  /// True if the table gets a row after so many steps.
  bool is_due(long long steps) const {
    const long long every = outcome_.given.trace_every;
    return every == 0 || steps % every == 0;
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

  /// A run that continues from the state writes none of the frames and rows before it, so they are
  /// flushed to disk first.
  void keep_state() {
    const cli::Stopwatch watch;
    if (writer_) writer_->finish();
    if (table_) table_->reach_disk();
    outcome_.times.output += watch.seconds();
    write_state();
  }

  void write_state() {
    const cli::Stopwatch watch;
    write_restart(*options_.restart, system_->state(), identity_->after(system_->steps()));
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
      outcome_.first_activation = std::fmin(outcome_.first_activation, time);
      outcome_.last_activation = std::fmax(outcome_.last_activation, time);
    }
    for (const Place& place : traces_.probes) {
      outcome_.activation_of_points.push_back(place.of(activation));
    }
    outcome_.speed = speed_range(model_, activation);
    if (!outcome_.failure && !outcome_.is_interrupted) tell_of_silence(activation);
    // Written for a run that ended early too: all that was activated until then.
    if (options_.activation) write_activation(*options_.activation, model_, activation);
    if (options_.picture) write_activation_picture(*options_.picture, model_, activation);
    outcome_.solves = system_->record();
    outcome_.newton_iterations = system_->newton_iterations();
    if (const StepCounts* const counts = system_->adaptive_steps()) outcome_.adaptive = *counts;
    // A GPU may have continued after a solve that failed.
    const long long failed = outcome_.solves.failed_step;
    outcome_.steps = failed >= 0 ? failed + 1 : system_->steps();
    outcome_.times.output += watch.seconds();
    outcome_.times.steps = system_->times_so_far();
  }

  /// Warns if the stimuli had no effect.
  void tell_of_silence(const std::vector<double>& activation) {
    bool is_at_stimuli = outcome_.activated < model_.vertices();
    for (std::size_t v = 0; v < activation.size(); ++v) {
      if (!std::isnan(activation[v]) && model_.stimuli_of_vertex[v] == 0) is_at_stimuli = false;
    }
    if (!is_at_stimuli) return;
    const std::string at_end = " until " + simulation::shortest(outcome_.given.time.end()) + " ms";
    outcome_.warnings.push_back(outcome_.activated == 0
                                    ? "no vertex was activated" + at_end
                                    : "no wave has left the stimuli" + at_end +
                                          ": only vertices where they act were activated");
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
  std::optional<RunIdentity> identity_;
  long long kept_at_ = 0;  // steps
  bool has_warned_of_tables_ = false;
};

}  // namespace

std::string failure_text(const Failure& failure) {
  const std::string vertex = vertex_text(failure);
  const std::string when = "at " + simulation::shortest(failure.time) + " ms ";
  if (!failure.is_finite) return when + "the potential is not finite, first at " + vertex;
  if (failure.of_solve) {
    return when + "the step was not solved: " + std::string(name(*failure.of_solve)) +
           "; the potential is largest at " + vertex;
  }
  char text[96];
  std::snprintf(text, sizeof text, "the potential is %.4g mV, beyond %g mV, at ", failure.potential,
                std::copysign(largest_of_cells, failure.potential));
  return when + text + vertex + "; are the stimuli in uA/mm3?";
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
  outcome.warnings = unusual_values(outcome.given);
  for (const std::string& warning : outcome.warnings) cli::warn(warning);
  const std::size_t shown = outcome.warnings.size();
  const auto progress = options.progress();  // a progress line that warnings must not run into

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
  if (progress) progress->erase();
  for (std::size_t i = shown; i < outcome.warnings.size(); ++i) cli::warn(outcome.warnings[i]);
  return outcome;
}

}  // namespace heddle::heart
