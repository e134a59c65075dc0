// Tissue on its way in time, by whatever scheme: what a run needs of it.
#pragma once

#include <string>
#include <vector>

#include "heddle/operator.hpp"
#include "solve_record.hpp"

namespace heddle::heart {

using Number = real<double>;
using Potential = Field<Number>;

/// Seconds of the steps so far. A GPU runs a step as one graph, which nothing takes apart; nor is
/// a step of Newton's.
struct StepTimes {
  double membranes = 0;
  double iterate = 0;
  double fields = 0;
  double all = 0;
};

/// All that the steps to come depend on, and what was found of activation. Each scheme
/// has an order of its own for them.
struct SystemState {
  long long steps = 0;
  std::vector<double> potential;
  std::vector<double> change = {};  // by the last diffusion; Newton's method knows of none
  std::vector<double> change_before = {};
  std::vector<double> image = {};  // of the change, by the matrix
  std::vector<double> image_before = {};
  std::vector<double> projected = {};  // by membranes at integration points, the last time
  std::vector<double> activation;
  std::vector<double> membranes;
};

class TissueSystem {
 public:
  virtual ~TissueSystem() = default;
  TissueSystem(const TissueSystem&) = delete;
  TissueSystem& operator=(const TissueSystem&) = delete;

  /// That each step solves with.
  virtual const Operator<Number>& matrix() const = 0;
  /// Bytes of the lists of an assembly that the steps go on to use.
  virtual long long lists_memory() const { return 0; }
  /// Of the cells, for reports.
  virtual std::string description() const = 0;
  /// Whether cells take functions of the potential from tables.
  virtual bool is_tabulated() const { return false; }
  /// ms that the cells bear.
  virtual double largest_step() const = 0;

  long long steps() const { return steps_; }
  double time() const { return static_cast<double>(steps_) * step_; }

  /// Takes so many steps. They end with the first that is not solved, which `record` tells; on a
  /// GPU the others may be taken with what it left.
  virtual void advance(long long count) = 0;
  const SolveRecord& record() const { return record_; }
  /// Of Newton's method; 0 for schemes that are linear in each step.
  virtual long long newton_iterations() const { return 0; }

  /// The largest |V|, mV; no finite number where one is none.
  virtual double largest_potential() = 0;
  /// mV at the vertices, in the basis and memory of the matrix.
  virtual const Potential& potential() = 0;
  /// In the order of the mesh.
  virtual std::vector<double> potential_of_vertices() const = 0;
  /// ms; NaN where the threshold was not crossed upwards so far.
  virtual std::vector<double> activation_of_vertices() const = 0;
  /// Probes and electrodes after a step of the last `advance`, counted from its first.
  virtual std::vector<double> traces_after(long long step) const = 0;
  /// Of the state as it is.
  virtual std::vector<double> traces_now() = 0;

  virtual SystemState state() const = 0;
  /// Throws `Error` (size_mismatch) for one of another system.
  virtual void set_state(const SystemState& state) = 0;

  StepTimes times;

 protected:
  explicit TissueSystem(double step) : step_(step) {}

  double step_;  // ms
  long long steps_ = 0;
  SolveRecord record_;
};

}  // namespace heddle::heart
