#include "time_stepping.hpp"

#include "heddle/vector_operations.hpp"

namespace heddle::elastic {

TimeStepping::TimeStepping(ElasticSystem& system, const StepOptions& options)
    : system_(system),
      options_(options),
      displacement_(system.given_displacement()),
      velocity_(system.given_velocity()),
      acceleration_(system.field()),
      momentum_(system.field()),
      right_hand_side_(system.field()) {
  if (options.method != Method::newmark) return;
  deform_here();
  system_.set_matrix(1, 0);
  system_.residual(nullptr, 1, right_hand_side_);
  initial_ = system_.solve(right_hand_side_, acceleration_);
  system_.forget_solutions();  // the first step starts from zero
}

void TimeStepping::deform_here() {
  if (!is_deformed_) system_.deform(displacement_);
  is_deformed_ = true;
}

void TimeStepping::find_momentum() {
  if (!has_momentum_) system_.apply_mass(velocity_, momentum_);
  has_momentum_ = true;
}

void TimeStepping::set_step_matrix() {
  if (has_matrix_ && !system_.is_corotational()) return;
  const double h = options_.time_step;
  system_.set_matrix(1, options_.method == Method::newmark ? options_.beta * h * h : h * h);
  has_matrix_ = true;
}

void TimeStepping::prepare_newmark() {
  const double h = options_.time_step;
  system_.add(h, velocity_, displacement_);
  system_.add(h * h * (0.5 - options_.beta), acceleration_, displacement_);
  system_.add(h * (1 - options_.gamma), acceleration_, velocity_);
  is_deformed_ = has_momentum_ = false;
  deform_here();
  set_step_matrix();
  system_.residual(nullptr, 1, right_hand_side_);
}

void TimeStepping::prepare_backward_euler() {
  deform_here();
  find_momentum();
  set_step_matrix();
  system_.residual(&momentum_, options_.time_step, right_hand_side_);
}

const VertexField& TimeStepping::prepare() {
  if (is_prepared_) return right_hand_side_;
  if (options_.method == Method::newmark) {
    prepare_newmark();
  } else {
    prepare_backward_euler();
  }
  is_prepared_ = true;
  return right_hand_side_;
}

Report TimeStepping::step() {
  prepare();
  const double h = options_.time_step;
  const bool newmark = options_.method == Method::newmark;
  // The previous step's unknown is close to this one's; the first step has no previous one.
  VertexField& unknown = newmark ? acceleration_ : velocity_;
  if (steps_ == 0) fill<double>(0, unknown.view(), system_.device().stream());
  if (steps_ == 1) system_.deflate();  // the first step is left undeflated for comparison
  const Report report = system_.solve(right_hand_side_, unknown);
  if (newmark) {
    system_.add(options_.beta * h * h, acceleration_, displacement_);
    system_.add(options_.gamma * h, acceleration_, velocity_);
  } else {
    system_.add(h, velocity_, displacement_);
  }
  is_prepared_ = is_deformed_ = has_momentum_ = false;
  ++steps_;
  return report;
}

Energies TimeStepping::energies() {
  deform_here();
  find_momentum();
  return {system_.half_product(velocity_, momentum_), system_.elastic_energy(),
          system_.work(displacement_)};
}

}  // namespace heddle::elastic
