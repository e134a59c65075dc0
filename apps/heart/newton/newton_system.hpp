// Newton's scheme as a run uses it: with stimuli in time, activation and traces.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "adaptive_steps.hpp"
#include "model.hpp"
#include "newton_scheme.hpp"
#include "tissue_system.hpp"
#include "trace_rows.hpp"

namespace heddle::heart {

class NewtonSystem final : public TissueSystem {
 public:
  /// Starts at rest at time 0. Keeps a reference to the model. Throws `Error`: usage for cells
  /// other than Aliev and Panfilov's and for steps that are too long, and like `NewtonScheme`.
  NewtonSystem(const Model& model, const Plan& plan, const Device& device, const Case& given,
               const Traces& traces, bool assembly_on_cpu = false);

  const Operator<Number>& matrix() const override { return scheme_.tangent(); }
  std::string description() const override;
  double largest_step() const override { return largest_step_; }
  void advance(long long count) override;
  long long newton_iterations() const override { return newton_iterations_; }
  StepTimes times_so_far() const override;
  const StepCounts* adaptive_steps() const override {
    return adaptive_ ? &adaptive_->counts() : nullptr;
  }
  double largest_potential() override;
  const Potential& potential() override { return scheme_.potential_field(); }
  std::vector<double> potential_of_vertices() const override { return scheme_.potential(); }
  std::vector<double> activation_of_vertices() const override;
  std::vector<double> traces_after(long long step) const override {
    return traces_.row(first_of_advance_ + step);
  }
  std::vector<double> traces_now() override;
  long long lists_memory() const override { return scheme_.lists_memory(); }
  SystemState state() const override;
  void set_state(const SystemState& state) override;

 private:
  std::uint32_t acting_at(long long step) const;
  bool set_stimuli();
  long long steps_with_these_stimuli(long long most) const;
  void take_adaptive_step(long long most);
  void set_clock();
  void queue_end_of_step();

  const Model& model_;
  double threshold_;
  double largest_step_;
  NewtonScheme scheme_;
  Device device_ = scheme_.device();
  std::uint32_t acting_ = 0;  // stimuli that the scheme has
  Reduction<double> of_nodes_;
  Potential activation_;
  Array<Clock> clock_;  // for the step to come, and for the one being completed
  Array<SolveRecord> record_there_;
  TraceRows traces_;
  std::optional<AdaptiveSteps> adaptive_;
  long long length_ = 1;  // of the step being completed
  long long first_of_advance_ = 0, newton_iterations_ = 0;
};

}  // namespace heddle::heart
