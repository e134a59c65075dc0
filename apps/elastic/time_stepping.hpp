// Motion in steps of time. With M the mass matrix, f the forces of elements and l the loads:
//
//   Newmark (Hughes, The Finite Element Method, section 9.1), unknown a:
//     u~ = u + h v + h^2 (1/2 - beta) a,   v~ = v + h (1 - gamma) a
//     (M + beta h^2 K(u~)) a' = l - f(u~)
//     u' = u~ + beta h^2 a',   v' = v~ + gamma h a'
//   Backward Euler, unknown v (Baraff, Witkin, Large Steps in Cloth Simulation, 1998):
//     (M + h^2 K(u)) v' = M v + h (l - f(u)),   u' = u + h v'
//
// K is the derivative of f with the elements' rotations held fixed: exact for linear elements, and
// one linear system per step for corotational ones.
#pragma once

#include "case_file.hpp"
#include "elastic_system.hpp"
#include "energies.hpp"

namespace heddle::elastic {

struct StepOptions {
  Method method = Method::newmark;
  double beta = 0.25;
  double gamma = 0.5;
  double time_step = 0;
};

class TimeStepping {
 public:
  /// Starts at the given displacements and velocities. Newmark's method solves for the acceleration
  /// there, whose report is `initial()`.
  TimeStepping(ElasticSystem& system, const StepOptions& options);

  const Report& initial() const { return initial_; }

  /// Prepares the next step's matrix, and returns its right-hand side.
  const VertexField& prepare();
  /// Takes that step, preparing it first if necessary. Unless the report says converged, the state
  /// is meaningless.
  Report step();

  long long steps() const { return steps_; }
  double time() const { return static_cast<double>(steps_) * options_.time_step; }
  const VertexField& displacement() const { return displacement_; }
  const VertexField& velocity() const { return velocity_; }
  Energies energies();

 private:
  void prepare_newmark();
  void prepare_backward_euler();
  void set_step_matrix();
  void deform_here();
  void find_momentum();

  ElasticSystem& system_;
  StepOptions options_;
  Report initial_;
  long long steps_ = 0;
  bool is_prepared_ = false;
  bool has_matrix_ = false;    // matrix of a step, which is kept for linear elements
  bool is_deformed_ = false;   // elements match `displacement_`
  bool has_momentum_ = false;  // `momentum_` matches `velocity_`
  VertexField displacement_, velocity_, acceleration_, momentum_, right_hand_side_;
};

}  // namespace heddle::elastic
