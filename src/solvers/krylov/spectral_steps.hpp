// The interval and the step of methods whose coefficients depend on them.
#pragma once

#include <array>
#include <limits>
#include <optional>

#include "null_space.hpp"
#include "solver_fields.hpp"
#include "solvers/operators/spectrum.hpp"

namespace heddle::detail {

/// M^-1 projected out of a null space.
template <class S>
class Projected final : public Preconditioner<S> {
 public:
  Projected(const NullSpace<S>& null_space, bool is_preconditioned)
      : null_space_(null_space), is_preconditioned_(is_preconditioned) {}

  void apply(const FieldView<const S>& r, const FieldView<S>& z,
             const Stream& stream) const override {
    if (is_preconditioned_) {
      null_space_.precondition(r, z);
    } else {
      copy<S>(r, z, stream);
      null_space_.project(z);
    }
  }

 private:
  const NullSpace<S>& null_space_;
  bool is_preconditioned_;
};

template <class S>
class SpectralSteps {
 public:
  /// The values given to runs.
  using Given = std::array<sum_t<S>, device::max_given>;

  SpectralSteps(const SolverInputs<S>& inputs, SolverFields<S>& fields,
                const NullSpace<S>& null_space)
      : inputs_(inputs), fields_(fields), null_space_(null_space) {}

  /// True if `refresh` will estimate the spectrum.
  bool needs_estimate() const {
    const SolverOptions& options = inputs_.options;
    if (!inputs_.method.info.takes_interval || options.interval || options.omega) return false;
    return !generation_ || generation_ != generation_of(inputs_.matrix);
  }
  /// Computes the values from the newest ones of matrix and preconditioner; only for methods that
  /// take an interval.
  void refresh() {
    using sum = sum_t<S>;
    const SolverOptions& options = inputs_.options;
    if (!inputs_.method.info.takes_interval) return;
    if (needs_estimate()) {
      const Spectrum<S> found = estimate();
      generation_ = generation_of(inputs_.matrix);
      if (found.kind == SpectrumKind::positive) return take(interval_of(found));
      // These values indicate to the listing that there is no interval.
      constexpr sum none = -1, unknown = std::numeric_limits<sum>::quiet_NaN();
      interval_ = {};
      omega_ = {};
      given_ = {0, found.kind == SpectrumKind::not_finite ? unknown : none};
      return;
    }
    if (options.interval || options.omega) generation_ = {};
    if (options.interval) take(*options.interval);
    if (options.omega) {
      interval_ = {};
      omega_ = options.omega;
      given_ = {static_cast<sum>(*options.omega), 0};
    }
  }
  void forget_estimate() { generation_ = {}; }
  /// Copies the given values to the device, for `enqueue`.
  void copy_to_device() {
    if (!inputs_.method.info.takes_interval) return;
    if (on_device_.empty()) on_device_ = Array<double>(copied_.size(), inputs_.device);
    const std::array<double, device::max_given> given{static_cast<double>(given_[0]),
                                                      static_cast<double>(given_[1])};
    if (given == copied_) return;
    copy_bytes(on_device_.data(), given.data(), sizeof given, inputs_.stream);
    copied_ = given;
  }

  const std::optional<SpectralInterval>& interval() const { return interval_; }
  const std::optional<double>& omega() const { return omega_; }
  const Given& given() const { return given_; }
  /// Null for methods that take no interval.
  const double* on_device() const { return on_device_.data(); }

 private:
  Spectrum<S> estimate() {
    const auto& place = fields_.first();
    if (inputs_.all_scalars() == 0) return {.smallest = 1, .largest = 1};
    LanczosFields<S> fields{place.residual, place.kept, place.verified, place.vectors.work.front()};
    const auto of = [&](const Preconditioner<S>* preconditioner) {
      return estimate_spectrum<S>(inputs_.matrix, preconditioner, max_lanczos_steps, fields,
                                  inputs_.reduction, inputs_.stream);
    };
    if (null_space_.empty()) return of(inputs_.preconditioner.get());
    const Projected<S> projected(null_space_, inputs_.preconditioner != nullptr);
    fields.project = [this](const FieldView<S>& field) { null_space_.project(field); };
    return of(&projected);
  }
  void take(const SpectralInterval& interval) {
    using sum = sum_t<S>;
    const bool takes_omega = inputs_.method.info.takes_omega;
    const sum lower = interval.lower, upper = interval.upper, twice_centre = lower + upper;
    const sum omega = 2 / twice_centre;
    interval_ = interval;
    if (takes_omega) omega_ = static_cast<double>(omega);
    given_ = {omega, takes_omega ? 0 : (upper - lower) / twice_centre};
  }

  const SolverInputs<S>& inputs_;
  SolverFields<S>& fields_;
  const NullSpace<S>& null_space_;
  std::optional<SpectralInterval> interval_;
  std::optional<double> omega_;
  Given given_{};
  std::optional<long long> generation_;  // generation of the values that were estimated
  Array<double> on_device_;
  std::array<double, device::max_given> copied_{};  // the values that are there
};

}  // namespace heddle::detail
