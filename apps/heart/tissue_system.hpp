// Tissue as it evolves in time, by any scheme: the interface that a run needs.
#pragma once

#include <string>
#include <vector>

#include "heddle/operator.hpp"
#include "solve_record.hpp"
#include "step_lengths.hpp"

namespace heddle::heart {

using Number = real<double>;
using Potential = Field<Number>;

/// Seconds of the steps so far, and of their parts.
struct StepTimes {
  // Under splitting, on a CPU alone: a GPU runs a step as one graph.
  double membranes = 0;
  double iterate = 0;
  double fields = 0;
  // Under Newton's method.
  double assembly = 0;
  double product = 0;  // in the linear systems
  double solve = 0;    // of the linear systems, with their products
  double all = 0;
};

/// Everything that later steps depend on, and the activation found so far. Each scheme orders these
/// numbers in its own way.
struct SystemState {
  long long steps = 0;
  std::vector<double> potential;
  /// By the last diffusion. Adaptive steps of Newton's method have the rates in mV/ms here, and
  /// below the length of the next step; fixed ones have neither.
  std::vector<double> change = {};
  std::vector<double> change_before = {};
  std::vector<double> image = {};  // the matrix times the change
  std::vector<double> image_before = {};
  std::vector<double> projected = {};  // by membranes at integration points, in the last step
  std::vector<double> activation;
  std::vector<double> membranes;
};

class TissueSystem {
 public:
  virtual ~TissueSystem() = default;
  TissueSystem(const TissueSystem&) = delete;
  TissueSystem& operator=(const TissueSystem&) = delete;

  /// The matrix that each step solves with.
  virtual const Operator<Number>& matrix() const = 0;
  /// Bytes of the lists of an assembly that the steps continue to use.
  virtual long long lists_memory() const { return 0; }
  /// Describes the cells, for reports.
  virtual std::string description() const = 0;
  /// True if cells take functions of the potential from tables.
  virtual bool is_tabulated() const { return false; }
  /// The longest step in ms that the cells tolerate.
  virtual double largest_step() const = 0;

  long long steps() const { return steps_; }
  double time() const { return static_cast<double>(steps_) * step_; }

  /// Takes `count` steps, or an adaptive step of at most that many. They end with the first that is
  /// not solved, which `record` reports; on a GPU the remaining ones may be taken with the state it
  /// left.
  virtual void advance(long long count) = 0;
  const SolveRecord& record() const { return record_; }
  /// Iterations of Newton's method; 0 for schemes that are linear in each step.
  virtual long long newton_iterations() const { return 0; }
  /// Null for steps of one length.
  virtual const StepCounts* adaptive_steps() const { return nullptr; }

  /// The largest |V| in mV; not finite if any V is not.
  virtual double largest_potential() = 0;
  /// In mV at the vertices, in the basis and memory of the matrix.
  virtual const Potential& potential() = 0;
  /// In the order of the mesh.
  virtual std::vector<double> potential_of_vertices() const = 0;
  /// In ms; NaN where the threshold has not been crossed upwards so far.
  virtual std::vector<double> activation_of_vertices() const = 0;
  /// Probes and electrodes after a step of the last `advance`, counted from its first.
  virtual std::vector<double> traces_after(long long step) const = 0;
  /// Probes and electrodes of the current state.
  virtual std::vector<double> traces_now() = 0;

  virtual SystemState state() const = 0;
  /// Throws `Error` (size_mismatch) for a state of another system.
  virtual void set_state(const SystemState& state) = 0;

  /// With all parts that the scheme knows; may measure on the device.
  virtual StepTimes times_so_far() const { return times; }

  StepTimes times;  // so far

 protected:
  explicit TissueSystem(double step) : step_(step) {}

  double step_;  // ms
  long long steps_ = 0;
  SolveRecord record_;
};

}  // namespace heddle::heart
