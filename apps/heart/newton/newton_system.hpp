// Newton's scheme as a run uses it: with stimuli in time, activation and traces.
#pragma once

#include <cstdint>
#include <vector>

#include "model.hpp"
#include "newton_scheme.hpp"
#include "tissue_system.hpp"
#include "trace_rows.hpp"

namespace heddle::heart {

class NewtonSystem final : public TissueSystem {
 public:
  /// Starts at rest at time 0. Keeps a reference to the model. Throws `Error`: usage for cells
  /// other than Aliev and Panfilov's, and like `NewtonScheme`.
  NewtonSystem(const Model& model, const Plan& plan, const Device& device, const Case& given,
               const Traces& traces);

  const Operator<Number>& matrix() const override { return scheme_.tangent(); }
  std::string description() const override;
  double largest_step() const override { return largest_step_; }
  void advance(long long count) override;
  long long newton_iterations() const override { return newton_iterations_; }
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
  void set_stimuli();
  void set_clock();
  void queue_end_of_step();

  const Model& model_;
  Device device_;
  double threshold_;
  double largest_step_;
  NewtonScheme scheme_;
  std::uint32_t acting_ = 0;  // stimuli that the scheme has
  Reduction<double> of_nodes_;
  Potential activation_;
  Array<Clock> clock_;  // for the step to come, and for the one being completed
  Array<SolveRecord> record_there_;
  TraceRows traces_;
  long long first_of_advance_ = 0, newton_iterations_ = 0;
};

}  // namespace heddle::heart
