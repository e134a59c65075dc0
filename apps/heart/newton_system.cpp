#include "newton_system.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <numeric>
#include <string>
#include <variant>

#include "../command/stopwatch.hpp"
#include "../simulation/message_text.hpp"
#include "heddle/error.hpp"
#include "heddle/vector_operations.hpp"

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

double largest_step_of(const std::vector<NewtonRegion>& regions, const Case& given) {
  double largest = std::numeric_limits<double>::infinity();
  for (const auto& [cell, across, along] : regions) {
    largest = std::min(largest, cell.t_scale * cell.largest_step());
  }
  if (given.time.step <= largest) return largest;
  char text[32];  // rounded down
  std::snprintf(text, sizeof text, "%.4g", largest * (1 - 5e-4));
  throw Error(ErrorKind::usage, "a time step of " + simulation::shortest(given.time.step) +
                                    " ms is too long for Newton's method; it takes at most " +
                                    text + " ms");
}

NewtonOptions options_of(const Case& given) {
  return {.step = given.time.step,
          .solver_tolerance = given.solver.tolerance,
          .solver_iterations = given.solver.max_iterations};
}

}  // namespace
}  // namespace newton_system

NewtonSystem::NewtonSystem(const Model& model, const Plan& plan, const Device& device,
                           const Case& given, const Traces& traces)
    : TissueSystem(given.time.step),
      model_(model),
      traces_(traces),
      threshold_(given.activation_threshold),
      largest_step_(newton_system::largest_step_of(newton_system::regions_of(model, given), given)),
      scheme_({model.position, model.tetrahedron, model.fibre,
               newton_system::regions_of(model, given), model.region},
              plan, device, newton_system::options_of(given)),
      potential_(scheme_.potential()),
      activation_(potential_.size(), std::numeric_limits<double>::quiet_NaN()),
      field_(matrix().field()) {}

std::string NewtonSystem::description() const {
  return std::string(AlievPanfilov::name) + ": " + std::to_string(model_.elements()) +
         " cells, one in the middle of each tetrahedron";
}

/// Those that act in the step to come.
void NewtonSystem::set_stimuli() {
  std::uint32_t acting = 0;
  for (std::size_t k = 0; k < model_.stimuli.size(); ++k) {
    if (model_.stimuli[k].acts(time(), step_)) acting |= 1U << k;
  }
  if (acting == acting_) return;
  acting_ = acting;
  std::vector<double> current(potential_.size());
  for (std::size_t v = 0; v < current.size(); ++v) {
    for (std::size_t k = 0; k < model_.stimuli.size(); ++k) {
      const bool acts = (model_.stimuli_of_vertex[v] & acting & 1U << k) != 0;
      if (acts) current[v] += model_.stimuli[k].amplitude;
    }
  }
  scheme_.set_stimulus(current);
}

std::vector<double> NewtonSystem::traces_of(const std::vector<double>& potential) const {
  std::vector<double> values;
  values.reserve(traces_.probes.size() + traces_.electrodes.size());
  for (const Place& probe : traces_.probes) values.push_back(probe.of(potential));
  for (const std::vector<double>& weights : traces_.electrodes) {
    values.push_back(std::inner_product(weights.begin(), weights.end(), potential.begin(), 0.0));
  }
  return values;
}

/// As `EndPass`.
void NewtonSystem::note_activation(const std::vector<double>& potential) {
  for (std::size_t v = 0; v < potential.size(); ++v) {
    const double from = potential_[v], to = potential[v];
    if (std::isnan(activation_[v]) && from < threshold_ && to >= threshold_) {
      activation_[v] = time() + step_ * ((threshold_ - from) / (to - from));
    }
  }
}

void NewtonSystem::advance(long long count) {
  const cli::Stopwatch watch;
  rows_.clear();
  for (long long i = 0; i < count && record_.failed_step < 0; ++i) {
    set_stimuli();
    const NewtonStep step = scheme_.advance();
    newton_iterations_ += static_cast<long long>(step.residual.size()) - 1;
    const double last = step.residual.back(), first = step.residual.front();
    const Status status = step.converged        ? Status::converged
                          : std::isfinite(last) ? Status::stagnated
                                                : Status::not_finite;
    record_.add(steps_, status, step.solver_iterations, first > 0 ? last / first : 0);
    std::vector<double> potential = scheme_.potential();
    if (step.converged) note_activation(potential);
    potential_ = std::move(potential);
    rows_.push_back(traces_of(potential_));
    ++steps_;
  }
  times.all += watch.seconds();
}

double NewtonSystem::largest_potential() {
  double largest = 0;
  for (const double v : potential_) {
    if (!(std::abs(v) <= largest)) largest = std::abs(v);
    if (std::isnan(largest)) break;
  }
  return largest;
}

SystemState NewtonSystem::state() const {
  return {.steps = steps_,
          .potential = potential_,
          .activation = activation_,
          .membranes = scheme_.recovery()};
}

void NewtonSystem::set_state(const SystemState& state) {
  if (state.potential.size() != potential_.size() ||
      state.activation.size() != activation_.size()) {
    throw Error(ErrorKind::size_mismatch, "a state of " + std::to_string(state.potential.size()) +
                                              " vertices, not of " +
                                              std::to_string(potential_.size()));
  }
  scheme_.set_recovery(state.membranes);
  scheme_.set_potential(state.potential);
  potential_ = state.potential;
  activation_ = state.activation;
  steps_ = state.steps;
}

const Potential& NewtonSystem::potential() {
  permute<double>(FieldView<const double>(potential_), field_.view(), 1, field_.stream());
  return field_;
}

}  // namespace heddle::heart
