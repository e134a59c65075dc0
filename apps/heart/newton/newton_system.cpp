#include "newton_system.hpp"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <string>
#include <variant>

#include "../command/stopwatch.hpp"
#include "../simulation/message_text.hpp"
#include "heddle/error.hpp"
#include "heddle/vector_operations.hpp"
#include "run_pass.hpp"

namespace heddle::heart {

namespace newton_system {
namespace {

std::vector<NewtonRegion> regions_of(const Model& model, const Case& given) {
  std::vector<NewtonRegion> regions;
  for (std::size_t i = 0; i < model.membrane.size(); ++i) {
    const AnyModel cell = model_of(model.membrane[i]);
    const auto* const found = std::get_if<AlievPanfilov>(&cell);
    if (found == nullptr) {
      throw Error(ErrorKind::usage, given.path + ": regions[" + std::to_string(i) +
                                        "].membrane: the scheme newton does not take " +
                                        model.membrane[i].model + "; it takes " +
                                        std::string(AlievPanfilov::name));
    }
    regions.push_back({{*found}, model.diffusivity[i].across, model.diffusivity[i].along});
  }
  return regions;
}

/// Throws for a step that is too long; `what` is the beginning of the message.
void check_step(double step, double largest, const std::string& what) {
  if (step <= largest) return;
  char text[32];  // rounded down
  std::snprintf(text, sizeof text, "%.4g", largest * (1 - 5e-4));
  throw Error(ErrorKind::usage, what + simulation::shortest(step) +
                                    " ms is too long for Newton's method; it takes at most " +
                                    text + " ms");
}

double largest_step_of(const std::vector<NewtonRegion>& regions, const Case& given) {
  double largest = std::numeric_limits<double>::infinity();
  for (const auto& [cell, across, along] : regions) {
    largest = std::min(largest, cell.t_scale * cell.largest_step());
  }
  check_step(given.time.step, largest, "a time step of ");
  if (given.time.adaptive && given.time.adaptive->max_step) {
    check_step(*given.time.adaptive->max_step, largest,
               given.path + ": time.adaptive.max_step of ");
  }
  return largest;
}

/// The longest adaptive step, in time steps.
long long most_steps(const TimeCase& time, double largest) {
  constexpr double usual = 32, rounding = 1e-9;
  const double most = time.adaptive->max_step.value_or(std::min(usual * time.step, largest));
  return std::max(1LL, static_cast<long long>(most / time.step * (1 + rounding)));
}

NewtonOptions options_of(const Case& given, bool assembly_on_cpu) {
  return {.step = given.time.step,
          .solver_tolerance = given.solver.tolerance,
          .solver_iterations = given.solver.max_iterations,
          .assembly_on_cpu = assembly_on_cpu};
}

}  // namespace
}  // namespace newton_system

NewtonSystem::NewtonSystem(const Model& model, const Plan& plan, const Device& device,
                           const Case& given, const Traces& traces, bool assembly_on_cpu)
    : TissueSystem(given.time.step),
      model_(model),
      threshold_(given.activation_threshold),
      largest_step_(newton_system::largest_step_of(newton_system::regions_of(model, given), given)),
      scheme_({model.position, model.tetrahedron, model.fibre,
               newton_system::regions_of(model, given), model.region},
              plan, device, newton_system::options_of(given, assembly_on_cpu)),
      of_nodes_(matrix().rows(), device_),
      activation_(matrix().field()),
      clock_(2, device_),
      record_there_(std::span<const SolveRecord>(&record_, 1), device_),
      traces_(traces, *matrix().row_basis(), device_) {
  fill<double>(std::numeric_limits<double>::quiet_NaN(), activation_.view(), device_.stream());
  set_clock();
  if (given.time.adaptive) {
    adaptive_.emplace(scheme_, step_, given.time.adaptive->tolerance,
                      newton_system::most_steps(given.time, largest_step_));
  }
  scheme_.set_end({clock_.data(), clock_.data() + 1, [this] { queue_end_of_step(); }});
}

void NewtonSystem::set_clock() {
  const double now = time();
  const Clock clock{now, now + step_ / 2, steps_, record_.failed_step};
  detail::copy_bytes(clock_.data(), &clock, sizeof clock, device_.stream());
}

std::string NewtonSystem::description() const {
  return std::string(AlievPanfilov::name) + ": " + std::to_string(model_.elements()) +
         " cells, one in the middle of each tetrahedron";
}

/// The stimuli that act in a time step, a bit each.
std::uint32_t NewtonSystem::acting_at(long long step) const {
  std::uint32_t acting = 0;
  for (std::size_t k = 0; k < model_.stimuli.size(); ++k) {
    if (model_.stimuli[k].acts(static_cast<double>(step) * step_, step_)) acting |= 1U << k;
  }
  return acting;
}

long long NewtonSystem::steps_with_these_stimuli(long long most) const {
  long long steps = 1;
  while (steps < most && acting_at(steps_ + steps) == acting_) ++steps;
  return steps;
}

/// Sets the stimuli that act in the step to come. Returns true if they are others than before.
bool NewtonSystem::set_stimuli() {
  const std::uint32_t acting = acting_at(steps_);
  if (acting == acting_) return false;
  acting_ = acting;
  std::vector<double> current(model_.position.size());
  for (std::size_t v = 0; v < current.size(); ++v) {
    for (std::size_t k = 0; k < model_.stimuli.size(); ++k) {
      const bool acts = (model_.stimuli_of_vertex[v] & acting & 1U << k) != 0;
      if (acts) current[v] += model_.stimuli[k].amplitude;
    }
  }
  scheme_.set_stimulus(current);
  return true;
}

/// The end of a step that converged, or of one that left everything unchanged.
void NewtonSystem::queue_end_of_step() {
  const Clock* const clock = clock_.data() + 1;
  const Potential& potential = scheme_.potential_field();
  const ProbePass probes = traces_.probes(clock, potential, nullptr);
  run(EndPass{.count = potential.size() + probes.count,
              .vertices = potential.size(),
              .clock = clock,
              .next = clock_.data(),
              .report = &scheme_.progress()->step,
              .record = record_there_.data(),
              .step = step_,
              .threshold = threshold_,
              .scale = 1,
              .before_diffusion = potential.scalars().data(),
              .change = nullptr,
              .potential = scheme_.potential_before().scalars().data(),
              .activation = activation_.scalars().data(),
              .probes = probes,
              .length = length_},
      device_.stream());
  traces_.queue_electrodes(clock, potential);
}

void NewtonSystem::take_adaptive_step(long long most) {
  if (set_stimuli()) adaptive_->begin_again();
  length_ = adaptive_->try_step(steps_with_these_stimuli(adaptive_->next(most)));
  scheme_.keep_step();
  steps_ += length_;
}

void NewtonSystem::advance(long long count) {
  const cli::Stopwatch watch;
  first_of_advance_ = steps_;
  if (adaptive_) {
    take_adaptive_step(count);
    if (!device_.on_gpu()) record_ = record_there_[0];
    count = 0;
  }
  for (long long i = 0; i < count && record_.failed_step < 0; ++i) {
    set_stimuli();
    scheme_.take_step();
    ++steps_;
    if (!device_.on_gpu()) record_ = record_there_[0];
  }
  if (device_.on_gpu()) record_ = record_there_.to_host()[0];
  const NewtonProgress progress = scheme_.progress_so_far();
  newton_iterations_ = progress.iterations;
  if (adaptive_) record_.iterations = progress.solver_iterations;  // with those of rejected steps
  constexpr double nanosecond = 1e-9;
  times.assembly = nanosecond * static_cast<double>(progress.parts.assembly);
  times.solve = nanosecond * static_cast<double>(progress.parts.solve);
  times.all += watch.seconds();
}

StepTimes NewtonSystem::times_so_far() const {
  StepTimes of_parts = times;
  of_parts.product = std::min(scheme_.product_seconds(), times.solve);
  return of_parts;
}

double NewtonSystem::largest_potential() {
  return largest_magnitude<double>(potential().view(), of_nodes_, device_.stream());
}

std::vector<double> NewtonSystem::activation_of_vertices() const {
  std::vector<double> values(static_cast<std::size_t>(activation_.size()));
  permute<double>(activation_.view(), FieldView<double>(values), 1, device_.stream());
  return values;
}

std::vector<double> NewtonSystem::traces_now() {
  traces_.queue(clock_.data(), potential());
  first_of_advance_ = steps_;
  return traces_after(0);
}

SystemState NewtonSystem::state() const {
  SystemState state{.steps = steps_,
                    .potential = scheme_.potential(),
                    .activation = activation_of_vertices(),
                    .membranes = scheme_.recovery()};
  if (adaptive_) {
    state.change = adaptive_->rates();
    state.change_before = {adaptive_->next_length()};
  }
  return state;
}

void NewtonSystem::set_state(const SystemState& state) {
  const auto count = static_cast<std::size_t>(activation_.size());
  if (state.potential.size() != count || state.activation.size() != count) {
    throw Error(ErrorKind::size_mismatch, "the state has " +
                                              std::to_string(state.potential.size()) +
                                              " vertices, not " + std::to_string(count));
  }
  if (adaptive_) {
    adaptive_->resume(state.change, state.change_before.empty() ? 1 : state.change_before[0]);
  }
  scheme_.set_recovery(state.membranes);
  scheme_.set_potential(state.potential);
  permute<double>(FieldView<const double>(state.activation), activation_.view(), 1,
                  device_.stream());
  steps_ = state.steps;
  set_clock();
}

}  // namespace heddle::heart
