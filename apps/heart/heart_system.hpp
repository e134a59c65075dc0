// The monodomain equation of a model on a device, in time steps: dV/dt = div(D grad V) + J - I_ion.
// Operator splitting: membranes at each vertex, then the diffusion of linear elements by the theta
// rule, written for the change of V: (M + theta dt K) (V' - V) = -dt K V.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "heddle/config.hpp"
#include "heddle/conjugate_gradient.hpp"
#include "heddle/element_pattern.hpp"
#include "model.hpp"
#include "passes.hpp"
#include "point_membranes.hpp"
#include "step_graph.hpp"
#include "tissue_system.hpp"
#include "trace_rows.hpp"
#include "traces.hpp"

namespace heddle::heart {

struct SystemOptions {
  TimeCase time;
  SolverCase solver;
  double activation_threshold = 0;  // mV
  bool tables = true;               // tabulated membranes, see `MembraneCells::tabulate`
};

struct StepMatrices {
  Operator<Number> of_step;              // M + theta dt K
  Operator<Number> of_diffusion;         // K
  std::optional<Assembly<Number>> mass;  // present when membranes are at integration points
};

class HeartSystem final : public TissueSystem {
 public:
  /// Most steps that one `advance` takes: the traces have room for this many.
  static constexpr long long max_steps = TraceRows::max_steps;

  /// Starts at rest at time 0. Keeps nothing of the arguments. Throws `Error` for a plan that does
  /// not suit or fit, like `MembraneCells`, and (usage) for a time step above their largest.
  HeartSystem(const Model& model, const ElementPattern& pattern, const Plan& plan,
              const Device& device, const SystemOptions& options, const Traces& traces = {});

  const Operator<Number>& matrix() const override { return matrix_; }
  long long lists_memory() const override { return points_ ? points_->lists_memory() : 0; }
  std::string description() const override { return cells_.description(); }
  bool is_tabulated() const override { return cells_.is_tabulated(); }
  double largest_step() const override { return cells_.largest_step() * (is_strang() ? 2 : 1); }
  void advance(long long count) override;
  double largest_potential() override;
  const Potential& potential() override { return potential_; }
  /// If a solve failed, the potential that it left.
  std::vector<double> potential_of_vertices() const override { return in_mesh(potential_); }
  std::vector<double> activation_of_vertices() const override { return in_mesh(activation_); }
  std::vector<double> traces_after(long long step) const override;
  std::vector<double> traces_now() override;

  void set_potential(const std::vector<double>& of_vertices);

  SystemState state() const override;
  void set_state(const SystemState& state) override;

 private:
  std::vector<double> in_mesh(const Potential& field) const;
  HeartSystem(const Model& model, StepMatrices matrices, const Device& device,
              const SystemOptions& options, const Traces& traces);
  CellRule rule() const { return is_strang() ? CellRule::midpoint : CellRule::euler; }
  bool is_strang() const { return options_.time.splitting == Splitting::strang; }
  void set_clock();
  // Parts of a step; on a GPU they only queue work.
  void take_step();
  void advance_membranes(Potential& potential, const double* time, const BeforeDiffusion& next,
                         const double* diffused);
  BeforeDiffusion before_diffusion();
  void multiply(Potential& to);
  void prepare_graph();
  void solve();
  void queue_end_of_step();

  Device device_;
  SystemOptions options_;
  Operator<Number> matrix_, diffusion_;  // `of_step` and `of_diffusion`
  MembraneCells cells_;
  std::unique_ptr<PointMembranes> points_;  // null: cells are at vertices
  std::unique_ptr<ConjugateGradient<double>> solver_;
  Reduction<double> of_vertices_;
  Potential potential_, before_diffusion_, right_hand_side_, change_, change_before_;
  Potential image_, image_before_;  // the matrix times the guess, and the change before
  Potential activation_;
  Array<Clock> clock_;               // for the step to come, and for the one being completed
  Array<SolveRecord> record_there_;  // `record_` in the device's memory
  Array<DeviceReport> report_;       // report of the step's solve
  double scale_;                     // residuals are relative to this
  std::unique_ptr<cuda::StepGraph> graph_;
  TraceRows traces_;
  long long first_of_advance_ = 0;
};

}  // namespace heddle::heart
