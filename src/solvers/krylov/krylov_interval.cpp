// The interval and the step of methods whose coefficients depend on them.
#include <functional>
#include <limits>
#include <utility>

#include "base/long_double.hpp"
#include "heddle/krylov_solver.hpp"
#include "solvers/operators/spectrum.hpp"

namespace heddle {

namespace {

/// M^-1 projected out of a null space.
template <class S>
class Projected final : public Preconditioner<S> {
 public:
  using Apply = std::function<void(const FieldView<const S>&, const FieldView<S>&)>;
  explicit Projected(Apply apply) : apply_(std::move(apply)) {}

  void apply(const FieldView<const S>& r, const FieldView<S>& z, const Stream&) const override {
    apply_(r, z);
  }

 private:
  Apply apply_;
};

}  // namespace

template <class S>
bool KrylovSolver<S>::needs_estimate() const {
  if (!method_.info.takes_interval || options_.interval || options_.omega) return false;
  return !steps_.generation || steps_.generation != detail::generation_of(matrix_);
}

template <class S>
detail::Spectrum<S> KrylovSolver<S>::estimate_spectrum() {
  const Place& place = places_.front();
  if (all_scalars() == 0) return {.smallest = 1, .largest = 1};
  detail::LanczosFields<S> fields{place.residual, place.kept, place.verified,
                                  place.vectors.work.front()};
  const auto of = [&](const Preconditioner<S>* preconditioner) {
    return detail::estimate_spectrum<S>(matrix_, preconditioner, detail::max_lanczos_steps, fields,
                                        reduction_, stream_);
  };
  if (null_space_.vectors.empty()) return of(preconditioner_.get());
  const Projected<S> projected([this](const FieldView<const S>& r, const FieldView<S>& z) {
    if (preconditioner_) {
      precondition(r, z);
    } else {
      copy<S>(r, z, stream_);
      project(z);
    }
  });
  fields.project = [this](const FieldView<S>& field) { project(field); };
  return of(&projected);
}

template <class S>
void KrylovSolver<S>::refresh_steps() {
  using sum = sum_t<S>;
  if (!method_.info.takes_interval) return;
  const auto take = [this](const SpectralInterval& interval) {
    const sum lower = interval.lower, upper = interval.upper, twice_centre = lower + upper;
    const sum omega = 2 / twice_centre;
    steps_.interval = interval;
    if (method_.info.takes_omega) steps_.omega = static_cast<double>(omega);
    steps_.given = {omega, method_.info.takes_omega ? 0 : (upper - lower) / twice_centre};
  };
  if (needs_estimate()) {
    const detail::Spectrum<S> found = estimate_spectrum();
    steps_.generation = detail::generation_of(matrix_);
    if (found.kind == detail::SpectrumKind::positive) return take(detail::interval_of(found));
    // These values indicate to the listing that there is no interval.
    constexpr sum none = -1, unknown = std::numeric_limits<sum>::quiet_NaN();
    steps_.interval = {};
    steps_.omega = {};
    steps_.given = {0, found.kind == detail::SpectrumKind::not_finite ? unknown : none};
    return;
  }
  if (options_.interval || options_.omega) steps_.generation = {};
  if (options_.interval) take(*options_.interval);
  if (options_.omega) {
    steps_.interval = {};
    steps_.omega = options_.omega;
    steps_.given = {static_cast<sum>(*options_.omega), 0};
  }
}

template <class S>
void KrylovSolver<S>::copy_steps() {
  if (!method_.info.takes_interval) return;
  constexpr std::size_t count = device::max_given;
  if (steps_.on_device.size() == 0) steps_.on_device = Array<double>(count, device_);
  const std::array<double, count> given{static_cast<double>(steps_.given[0]),
                                        static_cast<double>(steps_.given[1])};
  if (given == steps_.copied) return;
  detail::copy_bytes(steps_.on_device.data(), given.data(), sizeof given, stream_);
  steps_.copied = given;
}

#define HEDDLE_INTERVALS(S)                                          \
  template bool KrylovSolver<S>::needs_estimate() const;             \
  template detail::Spectrum<S> KrylovSolver<S>::estimate_spectrum(); \
  template void KrylovSolver<S>::refresh_steps();                    \
  template void KrylovSolver<S>::copy_steps();
HEDDLE_INTERVALS(float)
HEDDLE_INTERVALS(double)
HEDDLE_IN_LONG_DOUBLE(HEDDLE_INTERVALS(long double))
#undef HEDDLE_INTERVALS

}  // namespace heddle
