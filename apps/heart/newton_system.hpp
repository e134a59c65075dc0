// Newton's scheme as a run takes it: with stimuli in time, activation and traces.
#pragma once

#include <cstdint>
#include <vector>

#include "model.hpp"
#include "newton_scheme.hpp"
#include "tissue_system.hpp"
#include "traces.hpp"

namespace heddle::heart {

class NewtonSystem final : public TissueSystem {
 public:
  /// At rest at time 0. Keeps references to model and traces. Throws `Error`: usage for other cells
  /// than Aliev and Panfilov's, and as `NewtonScheme`.
  NewtonSystem(const Model& model, const Plan& plan, const Device& device, const Case& given,
               const Traces& traces);

  const Operator<Number>& matrix() const override { return scheme_.tangent(); }
  std::string description() const override;
  double largest_step() const override { return largest_step_; }
  void advance(long long count) override;
  long long newton_iterations() const override { return newton_iterations_; }
  double largest_potential() override;
  const Potential& potential() override;
  std::vector<double> potential_of_vertices() const override { return potential_; }
  std::vector<double> activation_of_vertices() const override { return activation_; }
  std::vector<double> traces_after(long long step) const override {
    return rows_[static_cast<std::size_t>(step)];
  }
  std::vector<double> traces_now() override { return traces_of(potential_); }
  long long lists_memory() const override { return scheme_.lists_memory(); }
  SystemState state() const override;
  void set_state(const SystemState& state) override;

 private:
  void set_stimuli();
  std::vector<double> traces_of(const std::vector<double>& potential) const;
  void note_activation(const std::vector<double>& potential);

  const Model& model_;
  const Traces& traces_;
  double threshold_;
  double largest_step_;
  NewtonScheme scheme_;
  std::uint32_t acting_ = 0;                    // stimuli that the scheme has
  std::vector<double> potential_, activation_;  // in the order of the mesh
  Potential field_;
  std::vector<std::vector<double>> rows_;  // of the last `advance`
  long long newton_iterations_ = 0;
};

}  // namespace heddle::heart
