#include "heart_system.hpp"

#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "../command/stopwatch.hpp"
#include "../simulation/message_text.hpp"
#include "diffusion.hpp"
#include "heddle/assembly.hpp"
#include "heddle/error.hpp"
#include "heddle/jacobi.hpp"
#include "heddle/vector_operations.hpp"
#include "run_pass.hpp"

namespace heddle::heart {

namespace {

/// M + scale K; `values` holds M at first.
std::vector<double> sum_of(std::vector<double> values, const std::vector<double>& K, double scale) {
  for (std::size_t i = 0; i < values.size(); ++i) values[i] += scale * K[i];
  return values;
}

StepMatrices step_matrices(const Model& model, const ElementPattern& pattern, const Plan& plan,
                           const Device& device, const TimeCase& time) {
  const std::vector<double> K = diffusion_of_elements(model);
  const std::vector<double> mass = mass_of_elements(model, time.mass);
  Assembly<Number> of_step(pattern, plan, device), of_diffusion = of_step.another();
  of_step.assemble(sum_of(mass, K, time.theta * time.step));
  of_diffusion.assemble(K);
  StepMatrices made{of_step.matrix(), of_diffusion.matrix(), {}};
  if (time.ionic_current == CurrentPlace::integration_points) {
    made.mass = of_step.another();
    made.mass->assemble(mass);
  }
  return made;
}

/// In mV. M times this potential everywhere has about the norm of M V in tissue at rest, to which
/// residuals are relative. The right-hand side for the change would not do: it vanishes at rest.
constexpr double usual_potential = 80;

/// Reorders numbers into the basis of the rows.
template <class T>
std::vector<T> ordered(const std::vector<T>& of_vertices, const Basis& basis) {
  std::vector<T> values(of_vertices.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = of_vertices[static_cast<std::size_t>(basis.user_row(static_cast<Index>(i)))];
  }
  return values;
}

/// The region of each cell, in the order of the cells.
std::vector<std::uint16_t> regions_of_cells(const Model& model, const TimeCase& time,
                                            const Basis& basis) {
  if (time.ionic_current == CurrentPlace::integration_points) return region_of_points(model);
  return ordered(model.region_of_vertex, basis);
}

void assign(Potential& field, const std::vector<double>& in_basis) {
  detail::copy_bytes(field.scalars().data(), in_basis.data(), in_basis.size() * sizeof(double),
                     field.stream());
}

}  // namespace

HeartSystem::HeartSystem(const Model& model, const ElementPattern& pattern, const Plan& plan,
                         const Device& device, const SystemOptions& options, const Traces& traces)
    : HeartSystem(model,
                  step_matrices(model, pattern, plan_of_step(plan, device), device, options.time),
                  device, options, traces) {}

HeartSystem::HeartSystem(const Model& model, StepMatrices matrices, const Device& device,
                         const SystemOptions& options, const Traces& traces)
    : TissueSystem(options.time.step),
      device_(device),
      options_(options),
      matrix_(std::move(matrices.of_step)),
      diffusion_(std::move(matrices.of_diffusion)),
      cells_(model.membrane, regions_of_cells(model, options.time, *matrix_.row_basis()), device),
      of_vertices_(matrix_.rows(), device),
      potential_(matrix_.field()),
      before_diffusion_(matrix_.field()),
      right_hand_side_(matrix_.field()),
      change_(matrix_.field()),
      change_before_(matrix_.field()),
      image_(matrix_.field()),
      image_before_(matrix_.field()),
      activation_(matrix_.field()),
      clock_(2, device),
      record_there_(std::span<const SolveRecord>(&record_, 1), device),
      report_(1, device),
      scale_(usual_potential * norm_of_mass(model)),
      traces_(traces, *matrix_.row_basis(), device) {
  const double largest = HeartSystem::largest_step();
  if (options.time.step > largest) {
    throw Error(ErrorKind::usage, "a time step of " + simulation::shortest(options.time.step) +
                                      " ms is unstable for the membranes; at most " +
                                      simulation::shortest(largest) + " ms are stable");
  }
  if (options.tables) cells_.tabulate(is_strang() ? step_ / 2 : step_, rule());
  const Basis& basis = *matrix_.row_basis();
  std::vector<double> rest = cells_.resting_potential();
  if (matrices.mass) {
    cells_.set_stimuli(model.stimuli, stimuli_of_points(model));
    rest = ordered(of_vertices(model, rest), basis);
    points_ =
        std::make_unique<PointMembranes>(model, *matrices.mass, options.solver.tolerance * scale_,
                                         options.solver.max_iterations, device);
  } else {
    cells_.set_stimuli(model.stimuli, ordered(model.stimuli_of_vertex, basis));
  }
  solver_ = std::make_unique<ConjugateGradient<double>>(
      matrix_, Jacobi<Number>(matrix_, Refresh::each_call),
      SolverOptions{.tolerance = 0,
                    .absolute_tolerance = options.solver.tolerance * scale_,
                    .max_iterations = options.solver.max_iterations});
  solver_->set_image_of_guess(std::as_const(image_).view());
  assign(potential_, rest);
  assign(activation_, std::vector<double>(rest.size(), std::numeric_limits<double>::quiet_NaN()));
  set_clock();
}

void HeartSystem::set_clock() {
  const double now = time();
  const Clock clock{now, now + step_ / 2, steps_, record_.failed_step};
  detail::copy_bytes(clock_.data(), &clock, sizeof clock, device_.stream());  // the other follows
}

BeforeDiffusion HeartSystem::before_diffusion() {
  return {.potential = before_diffusion_.scalars().data(),
          .change = change_.scalars().data(),
          .change_before = change_before_.scalars().data(),
          .right_hand_side = right_hand_side_.scalars().data(),
          .residual = solver_->residual().data,
          .image = image_.scalars().data(),
          .image_before = image_before_.scalars().data(),
          .is_extrapolated = options_.solver.guess == Guess::extrapolated,
          .clock = clock_.data(),
          .of_end = clock_.data() + 1};
}

void HeartSystem::queue_end_of_step() {
  const Clock* const clock = clock_.data() + 1;
  const double* const change = is_strang() ? nullptr : change_.scalars().data();
  const ProbePass probes = traces_.probes(clock, before_diffusion_, change);
  run(EndPass{.count = matrix_.rows() + probes.count,
              .vertices = matrix_.rows(),
              .clock = clock,
              .next = clock_.data(),
              .report = report_.data(),
              .record = record_there_.data(),
              .step = step_,
              .threshold = options_.activation_threshold,
              .scale = scale_,
              .before_diffusion = before_diffusion_.scalars().data(),
              .change = change,
              .potential = potential_.scalars().data(),
              .activation = activation_.scalars().data(),
              .probes = probes},
      device_.stream());
  traces_.queue_electrodes(clock, potential_);
}

void HeartSystem::take_step() {
  const bool on_gpu = device_.on_gpu();
  const auto timed = [&](double& total, const auto& work) {
    const cli::Stopwatch watch;
    work();
    if (!on_gpu) total += watch.seconds();
  };
  timed(times.membranes,
        [&] { advance_membranes(potential_, &clock_.data()->now, before_diffusion(), nullptr); });
  timed(times.fields, [&] { multiply(right_hand_side_); });
  timed(times.iterate, [&] { solve(); });
  if (is_strang()) {
    timed(times.membranes, [&] {
      advance_membranes(before_diffusion_, &clock_.data()->half, {}, change_.scalars().data());
    });
  }
  timed(times.fields, [&] { queue_end_of_step(); });
}

/// One step of the membranes, starting at a time held in the clock.
void HeartSystem::advance_membranes(Potential& potential, const double* time,
                                    const BeforeDiffusion& next, const double* diffused) {
  const double dt = is_strang() ? step_ / 2 : step_;
  double* const V = potential.scalars().data();
  if (points_ == nullptr) {
    cells_.advance(V, time, dt, device_.stream(), rule(), next, diffused);
    return;
  }
  points_->advance(cells_, V, time, dt, rule(), next, diffused,
                   {clock_.data(), record_there_.data(), scale_});
}

/// to = -dt K V.
void HeartSystem::multiply(Potential& to) {
  diffusion_.apply(-step_, std::as_const(before_diffusion_).view(), 0, to.view(), device_.stream());
}

/// Also compiles the product, which a stream capture could not do; each step recomputes the image.
void HeartSystem::prepare_graph() {
  if constexpr (has_cuda) {
    multiply(image_);
    solver_->prepare_enqueue(std::as_const(right_hand_side_).view(), change_.view(),
                             report_.data());
    if (points_) points_->prepare();
    graph_ = std::make_unique<cuda::StepGraph>(device_.stream(), [this] { take_step(); });
  }
}

/// On a GPU this only queues the solve, which may become part of a graph.
void HeartSystem::solve() {
  const FieldView<const double> b = std::as_const(right_hand_side_).view();
  if (device_.on_gpu()) {
    solver_->enqueue(b, change_.view(), report_.data());
    return;
  }
  const Report report = solver_->solve(b, change_.view());
  report_[0].status = report.status;
  report_[0].iterations = report.iterations;
  report_[0].residual_norm = report.residual_norm;
}

void HeartSystem::advance(long long count) {
  const cli::Stopwatch watch;
  first_of_advance_ = steps_;
  if constexpr (has_cuda) {
    if (device_.on_gpu()) {
      if (!graph_) prepare_graph();
      for (long long i = 0; i < count; ++i) graph_->launch();
      record_ = record_there_.to_host()[0];
      steps_ += count;
      times.all += watch.seconds();
      return;
    }
  }
  for (long long i = 0; i < count && record_.failed_step < 0; ++i) {
    take_step();
    record_ = record_there_[0];
    ++steps_;
  }
  times.all += watch.seconds();
}

double HeartSystem::largest_potential() {
  return largest_magnitude<double>(std::as_const(potential_).view(), of_vertices_,
                                   device_.stream());
}

void HeartSystem::set_potential(const std::vector<double>& of_vertices) {
  const std::vector<double> here = ordered(of_vertices, *matrix_.row_basis());
  assign(potential_, here);
}

std::vector<double> HeartSystem::in_mesh(const Potential& field) const {
  std::vector<double> values(static_cast<std::size_t>(field.size()));
  permute<double>(field.view(), FieldView<double>(values), 1, field.stream());
  return values;
}

std::vector<double> HeartSystem::traces_after(long long step) const {
  return traces_.row(first_of_advance_ + step);
}

std::vector<double> HeartSystem::traces_now() {
  traces_.queue(clock_.data(), potential_);
  first_of_advance_ = steps_;
  return traces_after(0);
}

SystemState HeartSystem::state() const {
  std::vector<double> image = right_hand_side_.scalars().to_host(), residual(image.size());
  detail::copy_bytes(residual.data(), solver_->residual().data, residual.size() * sizeof(double),
                     device_.stream());
  for (std::size_t i = 0; i < image.size(); ++i) image[i] -= residual[i];
  return {.steps = steps_,
          .potential = potential_.scalars().to_host(),
          .change = change_.scalars().to_host(),
          .change_before = change_before_.scalars().to_host(),
          .image = std::move(image),
          .image_before = image_before_.scalars().to_host(),
          .projected = points_ ? std::as_const(*points_).projected().scalars().to_host()
                               : std::vector<double>(),
          .activation = activation_.scalars().to_host(),
          .membranes = cells_.state()};
}

void HeartSystem::set_state(const SystemState& state) {
  const auto count = static_cast<std::size_t>(matrix_.rows());
  for (const auto* const field : {&state.potential, &state.change, &state.change_before,
                                  &state.image, &state.image_before, &state.activation}) {
    if (field->size() != count) {
      throw Error(ErrorKind::size_mismatch, "the state has " + std::to_string(field->size()) +
                                                " vertices, not " + std::to_string(count));
    }
  }
  if (state.projected.size() != (points_ ? count : 0)) {
    throw Error(ErrorKind::size_mismatch, "the state's membranes are in other places");
  }
  cells_.set_state(state.membranes);
  if (points_) assign(points_->projected(), state.projected);
  assign(potential_, state.potential);
  assign(change_, state.change);
  assign(change_before_, state.change_before);
  assign(right_hand_side_, state.image);
  fill<double>(0, solver_->residual(), device_.stream());
  assign(image_before_, state.image_before);
  assign(activation_, state.activation);
  steps_ = state.steps;
  set_clock();
}

}  // namespace heddle::heart
