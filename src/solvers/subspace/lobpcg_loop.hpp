// LOBPCG (Knyazev 2001) over a ring: residuals, preconditioning, and when a solve ends.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/profiler_range.hpp"
#include "heddle/lobpcg.hpp"
#include "lobpcg_basis.hpp"
#include "solvers/operators/operator_checks.hpp"
#include "solvers/stopping/stop_requests.hpp"

namespace heddle::detail {

/// The parts of a solver of eigenpairs.
template <class S>
struct EigenSystem {
  OperatorReference<S> matrix;
  std::optional<OperatorReference<S>> mass;
  std::shared_ptr<Preconditioner<S>> preconditioner;  // null for none
  EigenOptions options;                               // resolved: no `by_...`
  int vectors() const { return options.count + options.guard; }
  /// Number of fields: vectors, directions and last directions, with their images, and the next of
  /// two of these.
  int fields() const { return vectors() * ((mass ? 9 : 6) + 2); }
};

/// The loop that `Lobpcg` owns, whatever its ring.
template <class S>
class EigenLoop {
 public:
  explicit EigenLoop(EigenSystem<S> system) : system_(std::move(system)) {}
  virtual ~EigenLoop() = default;
  virtual EigenReport solve(std::span<const FieldView<S>> x) = 0;

  const EigenSystem<S>& system() const { return system_; }
  long long memory = 0;

 private:
  EigenSystem<S> system_;
};

template <Ring R, class S>
class LobpcgLoop final : public EigenLoop<S> {
 public:
  explicit LobpcgLoop(EigenSystem<S> system)
      : EigenLoop<S>(std::move(system)),
        options_(this->system().options),
        matrix_(*this->system().matrix),
        mass_(this->system().mass ? &**this->system().mass : nullptr),
        device_(matrix_.device()),
        stream_(device_.stream()),
        reduction_(matrix_.rows(), device_),
        count_(this->system().vectors()),
        basis_(matrix_, mass_, count_, reduction_) {}

  EigenReport solve(std::span<const FieldView<S>> x) override {
    const Range range("eigenpairs");
    StopRequests stop(options_.time_limit, stream_.share);
    stop_ = &stop;
    report_ = {};
    const auto& preconditioner = this->system().preconditioner;
    if (preconditioner) preconditioner->refresh();
    preconditions_ = preconditioner != nullptr;
    basis_.products = 0;
    if (are_suitable() && begin(x)) {
      iterate();
      // With a mass that is indefinite, or numbers that are not finite, no vector is an
      // approximation.
      const Status status = report_.status;
      if (status != Status::indefinite && status != Status::not_finite) bring_out(x);
    }
    if (preconditioner && !preconditions_) {
      if (!report_.detail.empty()) report_.detail += "; ";
      report_.detail +=
          "r* M^-1 r was negative: the preconditioner is not positive definite, and was dropped";
    }
    device_.synchronize();
    report_.products = basis_.products;
    report_.seconds = stop.elapsed();
    return std::move(report_);
  }

 private:
  using T = sum_t<S>;

  static constexpr T rounding = T(64) * std::numeric_limits<S>::epsilon();

  static const FieldView<S>& at(const FieldBlock<S>& block, int k) {
    return block[static_cast<std::size_t>(k)];
  }
  bool end(Status status, std::string_view detail = "") {
    report_.status = status;
    report_.detail = detail;
    return false;
  }
  bool end_not_finite() {
    return end(Status::not_finite, "the iteration overflowed, or gave a NaN");
  }
  /// Takes the end from the basis, if it has one; false unless the solve continues.
  bool take_end(bool goes_on) {
    report_.restarts = basis_.restarts;
    if (basis_.end.status != Status::converged) end(basis_.end.status, basis_.end.detail);
    return goes_on;
  }

  void make_random(const FieldView<S>& field) {
    fill<S>(S(1), field, stream_);
    randomize<S>(field, options_.seed + next_seed_++, stream_);
  }
  /// Checks the operators' symmetry, and estimates their norms.
  bool are_suitable() {
    next_seed_ = 0;
    for (const LinearOperator<S>* const by : {&matrix_, mass_}) {
      if (by == nullptr) continue;
      const bool is_mass = by == mass_;
      const ProbeFields<S> probe{basis_.w.v[0], basis_.w.a[0], basis_.p.v[0], basis_.p.a[0]};
      if (options_.checks && !is_checked_ &&
          !has_symmetry<S>(Symmetry::hermitian, *by, probe, reduction_, stream_)) {
        return end(Status::not_hermitian,
                   is_mass ? "<y, M x> and <M y, x> differ" : "<y, A x> and <A y, x> differ");
      }
      make_random(probe.x);
      by->apply(S(1), probe.x, S(0), probe.y, stream_);
      const T image = basis_.norm_of(probe.y);
      constexpr T least = 1e-100;
      if (std::isinf(image) || image < least) {
        const T largest = largest_magnitude<S>(probe.y, reduction_, stream_);
        if (std::isfinite(largest) && largest > 0) {
          return end(Status::out_of_range, image < least
                                               ? "the squares of the operator's numbers underflow"
                                               : "the squares of the operator's numbers overflow");
        }
      }
      if (!std::isfinite(image)) return end(Status::not_finite, "the operator is not finite");
      (is_mass ? report_.mass_norm : report_.matrix_norm) =
          static_cast<double>(image / basis_.norm_of(probe.x));
    }
    is_checked_ = true;
    return true;
  }

  /// Makes X of guesses and random fields, as Ritz vectors.
  bool begin(std::span<const FieldView<S>> x) {
    basis_.end = {};
    basis_.restarts = 0;
    basis_.norm_of_mass = static_cast<T>(report_.mass_norm);
    mends_ = 0;
    for (int k = 0; k < count_; ++k) {
      const FieldView<S>& own = at(basis_.x.v, k);
      if (k < options_.count) permute<S>(x[static_cast<std::size_t>(k)], own, S(1), stream_);
      const T norm = k < options_.count ? basis_.norm_of(own) : T(0);
      if (!std::isfinite(norm)) return end(Status::not_finite, "a guess is not finite");
      if (!(norm > std::numeric_limits<T>::min())) make_random(own);
    }
    return begin_basis();
  }
  bool begin_basis() {
    return take_end(basis_.begin([&](const FieldView<S>& field) { make_random(field); }));
  }

  void iterate() {
    while (true) {
      T worst = measure();
      if (!std::isfinite(worst)) {
        end_not_finite();
        return;
      }
      if (worst <= options_.tolerance || is_as_good_as_it_gets(worst)) {
        worst = renew();
        if (judge(worst)) return;
        if (!is_orthonormal_) {
          if (!mend()) return;
          continue;
        }
      }
      if (is_over(worst)) {
        judge(renew());
        return;
      }
      if (!step()) {
        if (report_.status == Status::converged) {
          const T last = renew();
          if (report_.status == Status::converged && !is_orthonormal_ && mend()) continue;
          if (report_.status == Status::converged) judge_end(last);
        } else if (report_.status == Status::breakdown) {
          renew();  // the report's residuals are those of x itself
        }
        return;
      }
      ++report_.iterations;
    }
  }

  /// W = A X - M X values; returns the largest relative residual of the requested pairs.
  T measure() {
    relative_.assign(static_cast<std::size_t>(count_), 0);
    for (int k = 0; k < count_; ++k) {
      const auto place = static_cast<std::size_t>(k);
      copy<S>(at(basis_.x.a, k), at(basis_.w.v, k), stream_);
      axpby<S>(static_cast<S>(-basis_.values[place]), at(basis_.weighted(basis_.x), k), S(1),
               at(basis_.w.v, k), stream_);
    }
    norms_ = basis_.norms_of(basis_.w.v);
    const std::vector<T> lengths = basis_.norms_of(basis_.x.v);
    T worst = 0;
    for (int k = 0; k < count_; ++k) {
      const auto place = static_cast<std::size_t>(k);
      const T size = (static_cast<T>(report_.matrix_norm) +
                      std::abs(basis_.values[place]) * static_cast<T>(report_.mass_norm)) *
                     lengths[place];
      relative_[place] = norms_[place] == 0 ? T(0) : norms_[place] / size;
      const bool is_worse = !(relative_[place] <= worst) && !std::isnan(worst);
      if (k < options_.count && is_worse) worst = relative_[place];
    }
    return worst;
  }
  /// The same with images and Rayleigh quotients that are products of the vectors themselves, since
  /// combinations of images drift away from those. Ends the solve if x* M x is negative.
  T renew() {
    basis_.multiply_matrix(basis_.x, count_);
    basis_.multiply_mass(basis_.x, count_);
    const auto seen = basis_.orthonormality(options_.count);
    // If a tenth of x* M x is rounding, it cannot be known to be 1.
    is_orthonormal_ = seen.holds && seen.rounding < T(0.1);
    if (seen.is_negative) end(Status::indefinite, LobpcgBasis<R, S>::mass_is_negative);
    for (int k = 0; k < count_; ++k) {
      const T energy = real_dot<S>(at(basis_.x.v, k), at(basis_.x.a, k), reduction_, stream_);
      const T mass =
          real_dot<S>(at(basis_.x.v, k), at(basis_.weighted(basis_.x), k), reduction_, stream_);
      if (mass > 0) basis_.values[static_cast<std::size_t>(k)] = energy / mass;
    }
    return measure();
  }

  /// Makes X M-orthonormal again by its own images, so that the solve can continue from it; false
  /// if that did not help before.
  bool mend() {
    constexpr int most = 4;
    if (++mends_ > most) {
      return end(Status::breakdown,
                 "rounding leaves x* M x unknown: the mass is too ill-conditioned for this "
                 "precision");
    }
    ++basis_.restarts;
    return begin_basis();
  }

  /// True if the residual is near its own rounding, and has not improved for a while.
  bool is_as_good_as_it_gets(T worst) {
    constexpr long long patience = 10;
    if (report_.iterations == 0 || worst < min_ / 2) {
      min_ = worst;
      improved_ = report_.iterations;
    }
    return worst <= rounding && report_.iterations - improved_ >= patience;
  }

  /// True if the true residual ends the solve.
  bool judge(T worst) {
    if (report_.status == Status::indefinite) return true;
    if (!std::isfinite(worst)) {
      end_not_finite();
    } else if (worst <= options_.tolerance && is_orthonormal_) {
      end(Status::converged);
    } else if (report_.status == Status::converged && is_orthonormal_ &&
               is_as_good_as_it_gets(worst)) {
      end(Status::accuracy_limit, "the vectors are as good as their precision allows");
    } else {
      return report_.status != Status::converged;
    }
    return true;
  }
  /// The same if no new direction is left.
  void judge_end(T worst) {
    if (report_.status == Status::indefinite) return;
    if (worst > options_.tolerance && worst <= rounding) {
      end(Status::accuracy_limit, "the vectors are as good as their precision allows");
    } else if (!judge(worst)) {
      end(Status::breakdown, "no new direction is independent of the vectors");
    }
  }

  bool is_over(T worst) {
    const device::LoopEnd request = stop_->ask(
        !options_.observer ||
        options_.observer({report_.iterations, static_cast<double>(worst), stop_->elapsed()}));
    const bool is_at_limit = report_.iterations >= options_.max_iterations;
    const Status status = status_of_request(request, is_at_limit);
    if (status != Status::converged) end(status);
    return report_.status != Status::converged;
  }

  /// One iteration; false if it ends the solve, as `breakdown` unless it sets another status.
  bool step() {
    active_.clear();
    for (int k = 0; k < count_; ++k) {
      if (relative_[static_cast<std::size_t>(k)] > options_.tolerance) active_.push_back(k);
    }
    const auto to = static_cast<int>(active_.size());
    for (int k = 0; k < to; ++k) {
      const int from = active_[static_cast<std::size_t>(k)];
      std::swap(basis_.w.v[static_cast<std::size_t>(k)],
                basis_.w.v[static_cast<std::size_t>(from)]);
    }
    if (preconditions_) precondition(to);
    return take_end(basis_.step(to, active_));
  }

  /// W = M^-1 W. If r* M^-1 r is negative, M^-1 cannot be trusted: W and all later ones are left
  /// unchanged.
  void precondition(int count) {
    for (int k = 0; k < count && preconditions_; ++k) {
      const FieldView<S>&r = at(basis_.w.v, k), z = at(basis_.w.a, k);
      this->system().preconditioner->apply(r, z, stream_);
      preconditions_ = !(real_dot<S>(r, z, reduction_, stream_) < 0);
    }
    if (preconditions_) std::swap(basis_.w.v, basis_.w.a);
  }

  /// Estimates |lambda - eigenvalue|, see `EigenReport::error_estimates`. `unit`: the M-norm of a
  /// vector of length 1, if the mass is about its norm.
  T error_of(std::size_t k) const {
    const T value = basis_.values[k], unit = std::sqrt(static_cast<T>(report_.mass_norm));
    const auto error_by_residual = [&](std::size_t of) { return norms_[of] / unit; };
    const Offset dimensions =
        all_rows(matrix_.rows(), stream_) * matrix_.row_components() / ring_size(R);
    T gap = std::numeric_limits<T>::infinity();
    bool is_last = true;
    for (std::size_t other = 0; other < basis_.values.size(); ++other) {
      if (other == k) continue;
      is_last = is_last && !(basis_.values[other] > value);
      gap = std::min(gap, std::abs(basis_.values[other] - value) - error_by_residual(other));
    }
    if (is_last && count_ < dimensions) gap = 0;  // the next eigenvalue is unknown
    const T r = error_by_residual(k);
    const T rounding_of_a =
        std::numeric_limits<S>::epsilon() *
        (static_cast<T>(report_.matrix_norm) / static_cast<T>(report_.mass_norm) + std::abs(value));
    return std::max(gap > r ? r * (r / gap) : r, rounding_of_a);
  }

  void bring_out(std::span<const FieldView<S>> x) {
    std::vector<std::size_t> order(static_cast<std::size_t>(options_.count));
    std::iota(order.begin(), order.end(), std::size_t(0));
    std::stable_sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) {
      return basis_.values[i] < basis_.values[j];
    });
    for (std::size_t k = 0; k < order.size(); ++k) {
      permute<S>(basis_.x.v[order[k]], x[k], S(1), stream_);
      report_.eigenvalues.push_back(static_cast<double>(basis_.values[order[k]]));
      report_.residual_norms.push_back(static_cast<double>(norms_[order[k]]));
      report_.residuals.push_back(static_cast<double>(relative_[order[k]]));
      report_.error_estimates.push_back(static_cast<double>(error_of(order[k])));
    }
  }

  const EigenOptions& options_;
  const LinearOperator<S>& matrix_;
  const LinearOperator<S>* mass_;  // null: 1
  Device device_;
  Stream stream_;
  Reduction<S> reduction_;
  int count_;  // vectors, including guards
  LobpcgBasis<R, S> basis_;
  std::uint64_t next_seed_ = 0;
  bool preconditions_ = false;
  bool is_checked_ = false;     // the operators' symmetry was checked
  bool is_orthonormal_ = true;  // X, by the images that `renew` made
  int mends_ = 0;
  std::vector<T> norms_, relative_;
  std::vector<int> active_;
  T min_ = 0;                     // the worst residual when it was last halved
  long long improved_ = 0;        // the iteration then
  StopRequests* stop_ = nullptr;  // requests to end the current solve
  EigenReport report_;
};

}  // namespace heddle::detail
