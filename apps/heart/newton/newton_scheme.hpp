// The monodomain equation with Aliev and Panfilov's cells, implicit in time: backward Euler, solved
// by Newton's method over the nodes with the consistent tangent of condensed cells, one assembly
// and one linear system per iteration (Wong, Kuhl, Darve 2015, section 2).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "heddle/assembly.hpp"
#include "heddle/config.hpp"
#include "heddle/conjugate_gradient.hpp"
#include "heddle/problems.hpp"
#include "newton_passes.hpp"
#include "step_graph.hpp"
#include "timed_operator.hpp"

namespace heddle::heart {

/// Tetrahedra of positive volume, in mm.
struct NewtonTissue {
  std::span<const Point> position;
  std::span<const std::array<Index, 4>> tetrahedron;
  std::span<const Point> fibre;  // per tetrahedron, of length 1
  std::span<const NewtonRegion> regions;
  std::span<const std::uint16_t> region;  // per tetrahedron
};

struct NewtonOptions {
  double step = 0.1;                // ms
  double tolerance = 1e-10;         // for |R| over that of the guess
  double least = 1e-14;             // for |R| over that of 100 mV at each node: R of rounding alone
  int max_iterations = 20;          // below NewtonProgress::max_residuals
  double solver_tolerance = 1e-12;  // for each linear system
  long long solver_iterations = SolverOptions{}.max_iterations;
  /// The CPU assembles, and the device solves: each system is copied there, and its solution back.
  bool assembly_on_cpu = false;
};

/// Progress of a step.
struct NewtonStep {
  bool converged = false;
  std::vector<double> residual;     // |R| before each iteration, and after the last
  long long solver_iterations = 0;  // over all its linear systems
};

/// The caller's work at the end of each step, when the potential is that after the step and the one
/// before it still exists. It queues the work, which takes the old potential to the new one and the
/// clock to the next step.
struct NewtonStepEnd {
  const Clock* clock = nullptr;  // for the step to come; steps after a failed one do nothing
  Clock* of_end = nullptr;       // gets a copy when the step begins
  QueueWork queue;
};

class NewtonScheme {
 public:
  /// Starts at rest; a node between regions rests like the last of them. Keeps nothing of the
  /// arguments. Throws `Error`: usage for a step, diffusivities or tolerances that are not positive
  /// and for a fibre whose length is not 1, size_mismatch if there are not as many fibres or
  /// regions as tetrahedra, out_of_range for a region that does not exist, singular for a
  /// tetrahedron without volume, and like `Assembly`.
  NewtonScheme(const NewtonTissue& tissue, const Plan& plan, const Device& device,
               const NewtonOptions& options = {});
  NewtonScheme(const NewtonScheme&) = delete;
  NewtonScheme& operator=(const NewtonScheme&) = delete;

  /// In mV, at the nodes of the mesh.
  std::vector<double> potential() const;
  void set_potential(std::span<const double> millivolts);
  /// In mV/ms at the nodes, for the steps to come.
  void set_stimulus(std::span<const double> of_nodes);
  /// One value per element.
  std::vector<double> recovery() const { return recovery_before_.to_host(); }
  /// Throws `Error` (size_mismatch) for a different number of values.
  void set_recovery(std::span<const double> of_elements);

  /// One step, from a guess in mV at the nodes or, without one, from the current potential. If
  /// Newton's method or a linear system does not converge, the state is left unchanged.
  NewtonStep advance(std::span<const double> guess = {});

  /// The same in stream order: a GPU queues the step as one graph, and itself decides how many
  /// iterations it takes. Under `iteration-precision=single`, whose values no graph may check, the
  /// host decides after each iteration whether another follows.
  void take_step();
  void set_end(NewtonStepEnd end);

  /// For steps of changing lengths: one of `step` ms without its end. Waits for it, and returns
  /// true if it converged. Afterwards call `keep_step`, which also restores the state after a step
  /// that did not converge, or `undo_step`.
  bool try_step(double step);
  void keep_step() { settle(); }
  void undo_step();

  /// In the device's memory.
  const NewtonProgress* progress() const { return progress_.data(); }
  /// A copy of it, with the iterations and the parts of all steps so far.
  NewtonProgress progress_so_far() const { return progress_.to_host()[0]; }
  /// Seconds of the products in the linear systems so far. A GPU makes them inside of a graph: this
  /// is their number times the time of one, which it measures there.
  double product_seconds() const;
  /// In the basis of the tangent: the potentials before and after a step, at its end.
  Field<real<double>>& potential_before() { return before_; }
  const Field<real<double>>& potential_field() const { return potential_; }

  /// Where the assembly is, with the fields and arrays of the state.
  const Device& device() const { return device_; }
  /// Bytes of the assembly's lists.
  long long lists_memory() const { return assembly_.memory(); }
  /// dR/dV where the last linear system was solved, and R where the step ended, in the basis of
  /// dR/dV. Meaningless after a linear system that was not solved.
  const Operator<real<double>>& tangent() const { return assembly_.matrix(); }
  const Field<real<double>>& residual() const { return residual_; }

 private:
  using Number = real<double>;

  NewtonElements elements() const;
  TangentKernel kernel() const;
  void put(std::span<const double> of_nodes, Field<Number>& into) const;
  const Operator<Number>& solved() const { return solved_ ? *solved_ : assembly_.matrix(); }
  void make_solver(const NewtonTissue& tissue, const Device& device);
  void copy_matrix();
  void linearize(bool is_after_solve = false);
  bool has_graph() const;
  void queue_step(bool with_end);
  void begin();
  void iterate();
  void solve();
  void decide(bool is_first);
  void settle();

  Device device_;
  NewtonOptions options_;
  double size_ = 0;  // |R| of 100 mV at each node, from the diagonal of K without its cells
  Assembly<Number> assembly_;
  std::optional<Operator<Number>> solved_;  // its matrix on the device, if the CPU assembles
  TimedOperator::Total products_;           // on a CPU
  std::unique_ptr<TimedOperator> timed_;    // on a CPU
  std::unique_ptr<ConjugateGradient<double>> solver_;
  Array<Index> corner_;
  Array<std::uint16_t> region_of_;
  Array<NewtonRegion> regions_;
  Array<double> gradient_, volume_, fibre_;
  Array<double> recovery_before_, recovery_, source_, tangent_, slope_;
  Field<Number> potential_, before_, stimulus_, residual_, change_;
  std::vector<Array<double>> sums_;  // levels of |R|^2
  Array<DeviceReport> solve_;        // report of the last linear system
  Array<NewtonProgress> progress_;
  NewtonStepEnd end_;
  /// By the length of the step, and whether it has its end.
  std::map<std::pair<double, bool>, std::unique_ptr<cuda::StepGraph>> graphs_;
};

}  // namespace heddle::heart
