#include "run_case.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <utility>

#include "../command/output_path.hpp"
#include "../command/readable.hpp"
#include "../simulation/frame_writer.hpp"
#include "body_picture.hpp"
#include "dump.hpp"
#include "elastic_system.hpp"
#include "heddle/tools/progress.hpp"
#include "heddle/vector_operations.hpp"
#include "history_file.hpp"
#include "modes/modes_file.hpp"
#include "rigid_motions.hpp"
#include "static_analysis.hpp"
#include "time_stepping.hpp"

namespace heddle::elastic {

using simulation::FrameArray;

namespace {

/// Checked before anything is read.
void check_outputs(const RunOptions& options) {
  if (options.output) {
    if (!cli::ends_with(*options.output, ".vtu") && !cli::ends_with(*options.output, ".pvd")) {
      throw Error(ErrorKind::usage, "--output " + *options.output +
                                        ": one state is written as .vtu, a series as .pvd");
    }
  }
  cli::RunFiles files = options.files({options.history});
  files.writes("--history", options.history);
  if (options.dump) {
    if (options.dump->empty()) {
      throw Error(ErrorKind::usage, "--dump is empty; give a prefix for the file names");
    }
    files.writes("--dump", dumped_matrix(*options.dump));
    files.writes("--dump", dumped_right_hand_side(*options.dump));
  }
  files.check();
}

void check_output_fits(const RunOptions& options, const Case& given) {
  if (given.analysis.is_stepped()) {
    cli::check_ending("--output", options.output, ".pvd", "a series of states is written as");
  }
  if (given.analysis.is_stepped() && options.picture) {
    throw Error(ErrorKind::usage, "--picture is for static analyses and modes, not for a series");
  }
  if (given.analysis.type != AnalysisType::modes) return;
  cli::check_ending("--output", options.output, ".vtu", "modes are written together, as");
  if (options.history) throw Error(ErrorKind::usage, "--history is for steps, and modes have none");
  if (options.dump) {
    throw Error(ErrorKind::usage, "--dump is for linear systems, and modes have none");
  }
}

void check_deflation(const Outcome& outcome) {
  const long long count = outcome.given.solver.deflation;
  if (count <= outcome.unknowns) return;
  detail::malformed_file("solver.deflation is " + std::to_string(count) + ", but " +
                         std::to_string(outcome.unknowns) + " unknowns do not have " +
                         std::to_string(count) + " eigenvectors");
}

/// The command decides, or else the case, or else the faster choice is taken
/// (docs/simulations/elastic.md).
bool takes_multigrid(const RunOptions& options, const Case& given, const Device& device) {
  const bool is_of_modes = given.analysis.type == AnalysisType::modes;
  if (options.preconditioner && is_of_modes) {
    throw Error(ErrorKind::usage, "--preconditioner does not apply to modes; leave it out");
  }
  const bool usually = given.analysis.type == AnalysisType::statics && !device.on_gpu();
  const bool takes = options.preconditioner.is_multigrid(given.solver.multigrid.value_or(usually));
  if (takes && given.solver.deflation > 0) {
    if (!options.preconditioner) {
      detail::malformed_file(
          given.path + ": solver.deflation goes with jacobi, not multigrid; choose one of them");
    }
    throw Error(ErrorKind::usage,
                "--preconditioner multigrid cannot be combined with deflation; choose one of them");
  }
  return takes;
}

/// Levels that fit the caches gain little from floats, and solids of stretched tetrahedra then take
/// more iterations (docs/simulations/elastic.md).
StoredScalar usual_level_precision(Offset entries) {
  constexpr Offset large = Offset(64) << 20;
  return entries * Offset{sizeof(Block)} >= large ? StoredScalar::single : StoredScalar::own;
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
        pattern_(pattern_of(model)) {}

  void build(const Profiles& profiles) {
    if (progress_ != nullptr) progress_->report(-1, "building the matrix");
    const PlanSubject subject{.pattern = pattern_.view(),
                              .entry = "block3",
                              .precision = "double",
                              .entry_bytes = sizeof(Block),
                              .result_bytes = 3 * static_cast<int>(sizeof(double))};
    const AnalysisCase& analysis = outcome_.given.analysis;
    const Objective objective =
        analysis.type == AnalysisType::modes ? Objective::product(analysis.count) : Objective();
    outcome_.level_precision =
        options_.preconditioner.level_precision(usual_level_precision(pattern_.entries()));
    SystemOptions settings{
        .corotational = analysis.type == AnalysisType::corotational,
        .with_mass = analysis.is_stepped(),
        .tolerance = outcome_.given.solver.tolerance,
        .max_iterations = outcome_.given.solver.max_iterations,
        .earlier_solutions = static_cast<std::size_t>(outcome_.given.solver.earlier_solutions),
        .multigrid = outcome_.multigrid,
        .level_precision = outcome_.level_precision,
        .deflation = outcome_.given.solver.deflation};
    if (progress_ != nullptr && analysis.type == AnalysisType::statics) {
      settings.observer = iterations_shown();
    }
    outcome_.choice = options_.build(subject, device_, objective, profiles, [&](const Plan& plan) {
      system_.reset();
      system_.emplace(model_, pattern_, plan, device_, settings);
    });
    outcome_.entries = pattern_.entries();
    outcome_.memory = system_->matrix().memory();
    outcome_.lists = system_->lists_memory();
    outcome_.hierarchy = system_->hierarchy();
    if (outcome_.is_projected) system_->project_out(rigid_body_modes<double>(model_.position));
    // The time for filling the matrix once belongs to the setup.
    system_->times = PhaseTimes{};
  }

  void solve_static() {
    StaticAnalysis analysis(*system_);
    dump(analysis.right_hand_side());
    StepRecord record;
    record.report = analysis.solve();
    record.energies = analysis.energies();
    keep(record);
    if (outcome_.solved()) {
      open_output(false);
      write(0, 0, analysis.displacement(), nullptr);
      const std::vector<Point> displacement = points_of(analysis.displacement());
      draw({&displacement});
    }
    finish(analysis.displacement());
  }

  void find_modes() {
    const Case& given = outcome_.given;
    ModalOptions settings{.count = given.analysis.count,
                          .tolerance = given.solver.tolerance,
                          .max_iterations = given.solver.max_iterations};
    if (progress_ != nullptr) settings.observer = iterations_shown();
    Modes& found = outcome_.found = elastic::find_modes(model_, *system_, settings);
    if (outcome_.solved()) {
      timed(outcome_.times.output, device_, [&] {
        if (options_.output) write_modes(*options_.output, model_, found.modes);
      });
      std::vector<const std::vector<Point>*> shapes;
      shapes.reserve(found.modes.size());
      for (const Mode& mode : found.modes) shapes.push_back(&mode.shape);
      draw(shapes);
    }
    for (Mode& mode : found.modes) mode.shape.clear();
    take_times();
  }

  void take_steps() {
    const AnalysisCase& analysis = outcome_.given.analysis;
    TimeStepping stepping(*system_,
                          {analysis.method, analysis.beta, analysis.gamma, analysis.time_step});
    keep({0, 0, stepping.initial(), stepping.energies()});
    if (outcome_.solved()) {
      open_output(true);
      write(0, 0, stepping.displacement(), &stepping.velocity());
      if (options_.dump) dump(stepping.prepare());
    }
    while (outcome_.solved() && stepping.steps() < analysis.steps) {
      tell(stepping.steps());
      StepRecord record;
      record.report = stepping.step();
      record.step = stepping.steps();
      record.time = stepping.time();
      record.energies = stepping.energies();
      keep(record);
      const bool is_due = record.step % analysis.output_every == 0 || record.step == analysis.steps;
      if (is_due && outcome_.solved()) {
        write(record.step, record.time, stepping.displacement(), &stepping.velocity());
      }
    }
    finish(stepping.displacement());
  }

 private:
  /// A result that overflowed has not converged, even if its solve reports that it has.
  void keep(StepRecord record) {
    if (record.report.solved() && !std::isfinite(record.energies.total())) {
      record.report.status = Status::not_finite;
      record.report.detail = "displacements, velocities or energies";
    }
    outcome_.steps.push_back(record);
    if (!options_.history) return;
    const cli::Stopwatch watch;
    if (!history_) history_.emplace(*options_.history);
    history_->add(record);
    outcome_.times.output += watch.seconds();
  }

  void dump(const VertexField& right_hand_side) {
    if (!options_.dump) return;
    timed(outcome_.times.output, device_,
          [&] { dump_system(*options_.dump, pattern_, *system_, right_hand_side); });
    outcome_.is_dumped = true;
  }

  void draw(const std::vector<const std::vector<Point>*>& displacements) {
    if (!options_.picture) return;
    timed(outcome_.times.output, device_,
          [&] { write_body_picture(*options_.picture, model_, displacements); });
  }

  void open_output(bool with_velocity) {
    if (!options_.output) return;
    const VertexField none = system_->field();
    writer_.emplace(*options_.output, model_.position, model_.tetrahedron,
                    frame_of(none, with_velocity ? &none : nullptr), device_);
  }

  /// Arrays of a state, with the system's current stress.
  std::vector<FrameArray> frame_of(const VertexField& displacement,
                                   const VertexField* velocity) const {
    using enum FrameArray::Of;
    std::vector<FrameArray> arrays{{"displacement", vertices, displacement.view()}};
    if (velocity != nullptr) arrays.push_back({"velocity", vertices, velocity->view()});
    const auto count = static_cast<Index>(system_->elements());
    arrays.push_back({"stress", tetrahedra, {system_->stress().data(), count, 6}});
    arrays.push_back({"von_mises", tetrahedra, {system_->equivalent_stress().data(), count}});
    return arrays;
  }

  void write(long long step, double time, const VertexField& displacement,
             const VertexField* velocity) {
    if (!writer_) return;
    system_->find_stress(displacement);
    const cli::Stopwatch watch;
    writer_->write(step, time, frame_of(displacement, velocity));
    outcome_.times.output += watch.seconds();
  }

  void finish(const VertexField& displacement) {
    Reduction<double> reduction(displacement.size(), device_);
    outcome_.largest_displacement =
        largest_magnitude<double>(displacement.view(), reduction, device_.stream());
    const cli::Stopwatch watch;
    if (writer_) {
      writer_->finish();
      outcome_.frames = writer_->frames();
    }
    if (history_) history_->finish();
    outcome_.times.output += watch.seconds();
    take_times();
  }

  void take_times() {
    PhaseTimes& times = outcome_.times;
    outcome_.guesses = system_->guesses;
    outcome_.deflation = system_->deflation;
    const PhaseTimes& worked = system_->times;
    times.elements = worked.elements;
    times.values = worked.values;
    times.iterate = worked.iterate;
    times.fields = worked.fields;
  }

  std::function<bool(const SolveProgress&)> iterations_shown() {
    return [this](const SolveProgress& now) {
      progress_->report(-1, cli::readable_iteration(now));
      return true;
    };
  }

  void tell(long long step) {
    if (progress_ == nullptr) return;
    char text[64];
    std::snprintf(text, sizeof text, "step %lld of %lld", step + 1, outcome_.given.analysis.steps);
    progress_->report(
        static_cast<double>(step) / static_cast<double>(outcome_.given.analysis.steps), text);
  }

  const RunOptions& options_;
  const Model& model_;
  const Device& device_;
  Outcome& outcome_;
  Progress* progress_;
  ElementPattern pattern_;
  std::optional<ElasticSystem> system_;
  std::optional<simulation::FrameWriter> writer_;
  std::optional<HistoryFile> history_;
};

}  // namespace

bool Outcome::solved() const {
  if (given.analysis.type == AnalysisType::modes) return found.solve.solved();
  // The first step that is not solved ends the run.
  return steps.empty() || steps.back().report.solved();
}

long long Outcome::steps_at_accuracy_limit() const {
  return std::count_if(steps.begin(), steps.end(), [](const StepRecord& step) {
    return step.report.status == Status::accuracy_limit;
  });
}

double Outcome::worst_residual() const {
  double worst = 0;
  for (const StepRecord& step : steps) worst = std::max(worst, step.report.residual);
  return worst;
}

long long Outcome::iterations() const {
  long long sum = found.solve.iterations;
  for (const StepRecord& step : steps) sum += step.report.iterations;
  return sum;
}

double Outcome::share_of_kernels() const {
  const double all = seconds_after_setup();
  return all > 0 ? (times.elements + times.values + times.iterate + times.fields) / all : 0;
}

Outcome run_case(const RunOptions& options) {
  const cli::Stopwatch wall;
  const Device device = options.device.on(options.quiet);
  check_outputs(options);
  const Profiles profiles = options.profiles_on(device);
  Outcome outcome;
  outcome.device = device.description();
  outcome.given = read_case(options.case_path);
  check_output_fits(options, outcome.given);
  outcome.multigrid = takes_multigrid(options, outcome.given, device);
  const auto progress = options.progress();

  mesh::SolidMesh mesh = mesh::read_solid_mesh(options.mesh, progress.get());
  outcome.take_mesh(mesh);
  const Model model = make_model(std::move(mesh), outcome.given);
  outcome.unknowns = model.unknowns();
  check_deflation(outcome);
  const AnalysisType type = outcome.given.analysis.type;
  const bool is_static = type == AnalysisType::statics;
  if (is_static) outcome.is_projected = needs_projection(model, outcome.given.analysis.null_space);
  outcome.times.read = wall.seconds();

  const cli::Stopwatch setup;
  Run run(options, model, device, outcome, progress.get());
  run.build(profiles);
  outcome.times.setup = setup.seconds();
  if (is_static) {
    run.solve_static();
  } else if (type == AnalysisType::modes) {
    run.find_modes();
  } else {
    run.take_steps();
  }
  outcome.wall = wall.seconds();
  return outcome;
}

}  // namespace heddle::elastic
