// The monodomain equation with Aliev and Panfilov's cells, implicit in time: backward Euler, solved
// by Newton's method over the nodes with the consistent tangent of condensed cells, one assembly
// and one linear system an iteration (Wong, Kuhl, Darve 2015, section 2).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "heddle/assembly.hpp"
#include "heddle/config.hpp"
#include "heddle/conjugate_gradient.hpp"
#include "heddle/problems.hpp"
#include "newton_passes.hpp"
#include "step_graph.hpp"

namespace heddle::heart {

/// Tetrahedra of positive volume, in mm.
struct NewtonTissue {
  std::span<const Point> position;
  std::span<const std::array<Index, 4>> tetrahedron;
  std::span<const Point> fibre;  // of each tetrahedron, of length 1
  std::span<const NewtonRegion> regions;
  std::span<const std::uint16_t> region;  // of each tetrahedron
};

struct NewtonOptions {
  double step = 0.1;                // ms
  double tolerance = 1e-10;         // of |R| over that of the guess
  double least = 1e-14;             // of |R| over that of 100 mV at each node: R of rounding alone
  int most_iterations = 20;         // below NewtonProgress::most_residuals
  double solver_tolerance = 1e-12;  // of each linear system
  long long solver_iterations = SolverOptions{}.max_iterations;
};

/// The course of a step.
struct NewtonStep {
  bool converged = false;
  std::vector<double> residual;     // |R| before each iteration, and after the last
  long long solver_iterations = 0;  // of all its linear systems
};

/// What a caller has done in the end of each step, where the potential is that behind the step and
/// the one before it still there: it queues the work, which takes the latter to the former and the
/// clock to the next step.
struct NewtonStepEnd {
  const Clock* clock = nullptr;  // of the step to come; steps behind one that failed do nothing
  Clock* of_end = nullptr;       // gets a copy when the step begins
  QueueWork queue;
};

class NewtonScheme {
 public:
  /// At rest, a node between regions as the last of them. Nothing of the arguments is kept. Throws
  /// `Error`: usage for a step, diffusivities or tolerances that are not positive and for a fibre
  /// whose length is not 1, size_mismatch for other numbers of fibres or regions than of
  /// tetrahedra, out_of_range for a region that is not there, singular for a tetrahedron without
  /// volume, and as `Assembly`.
  NewtonScheme(const NewtonTissue& tissue, const Plan& plan, const Device& device,
               const NewtonOptions& options = {});
  NewtonScheme(const NewtonScheme&) = delete;
  NewtonScheme& operator=(const NewtonScheme&) = delete;

  /// mV, of the nodes of the mesh.
  std::vector<double> potential() const;
  void set_potential(std::span<const double> millivolts);
  /// mV/ms at the nodes, for the steps to come.
  void set_stimulus(std::span<const double> of_nodes);
  /// These are of elements.
  std::vector<double> recovery() const { return recovery_before_.to_host(); }
  /// Throws `Error` (size_mismatch) for another number of them.
  void set_recovery(std::span<const double> of_elements);

  /// One step, from a guess in mV of the nodes or, without, from the potential as it is. Where
  /// Newton's method or a linear system does not converge, the state stays what it was.
  NewtonStep advance(std::span<const double> guess = {});

  /// The same in stream order: a GPU queues the step as one graph, and decides itself how many
  /// iterations it takes. Under `iteration-precision=single`, whose values no graph may check, the
  /// host looks after each iteration whether another follows.
  void take_step();
  void set_end(NewtonStepEnd end);
  /// In the memory of the device.
  const NewtonProgress* progress() const { return progress_.data(); }
  /// Of Newton's method in all steps so far.
  long long iterations() const { return progress_.to_host()[0].iterations; }
  /// In the basis of the tangent: before a step and behind it, at its end.
  Field<real<double>>& potential_before() { return before_; }
  const Field<real<double>>& potential_field() const { return potential_; }

  /// Bytes of the assembly's lists.
  long long lists_memory() const { return assembly_.memory(); }
  /// dR/dV where the last linear system was solved, and R where the step ended, in the basis of
  /// the former; of no use behind a linear system that was not solved.
  const Operator<real<double>>& tangent() const { return assembly_.matrix(); }
  const Field<real<double>>& residual() const { return residual_; }

 private:
  using Number = real<double>;

  NewtonElements elements() const;
  TangentKernel kernel() const;
  void put(std::span<const double> of_nodes, Field<Number>& into) const;
  void linearize();
  bool has_graph() const;
  void begin();
  void iterate();
  void solve();
  void decide(bool is_first);
  void settle();

  Device device_;
  NewtonOptions options_;
  double size_ = 0;  // |R| of 100 mV at each node, from the diagonal of K without its cells
  Assembly<Number> assembly_;
  std::unique_ptr<ConjugateGradient<double>> solver_;
  Array<Index> corner_;
  Array<std::uint16_t> region_of_;
  Array<NewtonRegion> regions_;
  Array<double> gradient_, volume_, fibre_;
  Array<double> recovery_before_, recovery_, source_, tangent_, slope_;
  Field<Number> potential_, before_, stimulus_, residual_, change_;
  std::vector<Array<double>> sums_;  // levels of |R|^2
  Array<DeviceReport> solve_;        // of the last linear system
  Array<NewtonProgress> progress_;
  NewtonStepEnd end_;
  std::unique_ptr<cuda::StepGraph> graph_;
};

}  // namespace heddle::heart
