// LOBPCG (Knyazev 2001) over a ring: fields are combined with coefficients from the right. The
// basis [X W P] is kept orthonormal in the mass's inner product, as Hetmaniuk and Lehoucq (2006)
// and Duersch, Shao, Yang and Gu (2018) advise: that is what makes the method robust.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/range.hpp"
#include "field_block.hpp"
#include "heddle/lobpcg.hpp"
#include "operator_checks.hpp"
#include "projected_eigenproblem.hpp"

namespace heddle::detail {

/// What a solver of eigenpairs is made of.
template <class S>
struct EigenSystem {
  OperatorReference<S> matrix;
  std::optional<OperatorReference<S>> mass;
  std::shared_ptr<Preconditioner<S>> preconditioner;  // null for none
  EigenOptions options;                               // resolved: no `by_...`
  int vectors() const { return options.count + options.guard; }
  /// Vectors, directions and last directions, with their images, and the next of two of them.
  int fields() const { return vectors() * ((mass ? 9 : 6) + 2); }
};

/// See `Lobpcg`, which owns it.
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
        operations_(reduction_, stream_),
        count_(this->system().vectors()) {
    for (Part* part : {&x_, &w_, &p_}) {
      part->v = make_fields(count_);
      part->a = make_fields(count_);
      if (mass_ != nullptr) part->m = make_fields(count_);
    }
    spare_ = make_fields(2 * count_);
  }

  EigenReport solve(std::span<const FieldView<S>> x) override {
    const Range range("eigenpairs");
    start_ = Clock::now();
    report_ = {};
    if (this->system().preconditioner) this->system().preconditioner->refresh();
    if (are_suitable() && begin(x)) {
      iterate();
      bring_out(x);
    }
    device_.synchronize();
    report_.seconds = elapsed();
    return std::move(report_);
  }

 private:
  using T = sum_t<S>;
  using Matrix = RingMatrix<R, T>;
  using Clock = std::chrono::steady_clock;

  /// Fields with their images; `m` is empty where M = 1.
  struct Part {
    FieldBlock<S> v, a, m;
  };
  const FieldBlock<S>& weighted(const Part& part) const { return mass_ ? part.m : part.v; }

  static constexpr T epsilon = std::numeric_limits<S>::epsilon();
  /// Eigenvalues of a scaled Gram matrix that are nothing but rounding, of its sums or of fields.
  static constexpr T dependent =
      std::max(T(1e3) * std::numeric_limits<T>::epsilon(), T(256) * epsilon * epsilon);

  FieldBlock<S> make_fields(int count) {
    FieldBlock<S> fields;
    const auto scalars = static_cast<std::size_t>(matrix_.rows()) *
                         static_cast<std::size_t>(matrix_.row_components());
    for (int k = 0; k < count; ++k) {
      storage_.emplace_back(scalars, device_);
      fields.push_back({storage_.back().data(), matrix_.rows(), matrix_.row_components(),
                        matrix_.vector_layout(), matrix_.row_basis()});
    }
    return fields;
  }
  static FieldBlock<S> first(const FieldBlock<S>& block, int count) {
    return {block.begin(), block.begin() + count};
  }
  static const FieldView<S>& at(const FieldBlock<S>& block, int k) {
    return block[static_cast<std::size_t>(k)];
  }
  T norm_of(const FieldView<S>& field) {
    return std::sqrt(real_dot<S>(field, field, reduction_, stream_));
  }
  double elapsed() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  bool end(Status status, std::string_view detail = "") {
    report_.status = status;
    report_.detail = detail;
    return false;
  }
  bool end_not_finite() {
    return end(Status::not_finite, "the iteration overflowed, or has a NaN");
  }
  bool end_indefinite() {
    return end(Status::indefinite, "x* M x is negative: the mass is not positive definite");
  }

  void make_random(const FieldView<S>& field) {
    fill<S>(S(1), field, stream_);
    randomize<S>(field, options_.seed + next_seed_++, stream_);
  }
  void multiply(const LinearOperator<S>& by, const FieldBlock<S>& from, const FieldBlock<S>& to,
                int count) {
    for (int k = 0; k < count; ++k) by.apply(S(1), at(from, k), S(0), at(to, k), stream_);
  }
  void multiply_mass(const Part& part, int count) {
    if (mass_ != nullptr) multiply(*mass_, part.v, part.m, count);
  }

  /// The operators' symmetry, and their norms.
  bool are_suitable() {
    next_seed_ = 0;
    for (const LinearOperator<S>* const by : {&matrix_, mass_}) {
      if (by == nullptr) continue;
      const bool is_mass = by == mass_;
      const ProbeFields<S> probe{w_.v[0], w_.a[0], p_.v[0], p_.a[0]};
      if (options_.checks &&
          !has_symmetry<S>(Symmetry::hermitian, *by, probe, reduction_, stream_)) {
        return end(Status::not_hermitian,
                   is_mass ? "<y, M x> and <M y, x> differ" : "<y, A x> and <A y, x> differ");
      }
      make_random(probe.x);
      by->apply(S(1), probe.x, S(0), probe.y, stream_);
      const T image = norm_of(probe.y);
      if (!std::isfinite(image)) return end(Status::not_finite, "the operator is not finite");
      constexpr T least = 1e-100;
      if (image < least && largest_magnitude<S>(probe.y, reduction_, stream_) > 0) {
        return end(Status::out_of_range, "the squares of the operator's numbers underflow");
      }
      (is_mass ? report_.mass_norm : report_.matrix_norm) =
          static_cast<double>(image / norm_of(probe.x));
    }
    return true;
  }

  /// X of guesses and random fields, as Ritz vectors.
  bool begin(std::span<const FieldView<S>> x) {
    for (int k = 0; k < count_; ++k) {
      const FieldView<S>& own = at(x_.v, k);
      if (k < options_.count) permute<S>(x[static_cast<std::size_t>(k)], own, S(1), stream_);
      const T norm = k < options_.count ? norm_of(own) : T(0);
      if (!std::isfinite(norm)) return end(Status::not_finite, "a guess is not finite");
      if (!(norm > std::numeric_limits<T>::min())) make_random(own);
    }
    last_ = 0;
    if (!make_first_orthonormal()) return false;
    multiply(matrix_, x_.v, x_.a, count_);
    return project(0);
  }
  bool make_first_orthonormal() {
    constexpr int most_rounds = 8;
    constexpr T well_conditioned = T(0.5);
    for (int round = 0; round < most_rounds; ++round) {
      for (const FieldView<S>& field : x_.v) {
        const T norm = norm_of(field);
        scale<S>(static_cast<S>(1 / norm), field, stream_);
      }
      multiply_mass(x_, count_);
      const Matrix gram = operations_.gram(x_.v, weighted(x_));
      if (!gram.is_finite()) return end_not_finite();
      const auto basis = orthonormal_columns(gram, dependent);
      if (basis.is_negative) return end_indefinite();
      const int rank = basis.to.columns();
      transform(x_.v, basis.to);
      if (mass_ != nullptr) transform(x_.m, basis.to);
      for (int k = rank; k < count_; ++k) make_random(at(x_.v, k));
      if (rank == count_ && basis.least > well_conditioned) return true;
    }
    return end(Status::breakdown, "the mass leaves no independent vectors to begin with");
  }
  /// The first columns of `block` = `block` C.
  void transform(FieldBlock<S>& block, const Matrix& c) {
    operations_.combine(first(block, c.rows()), c, first(spare_, c.columns()));
    for (int k = 0; k < c.columns(); ++k) {
      std::swap(block[static_cast<std::size_t>(k)], spare_[static_cast<std::size_t>(k)]);
    }
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
      }
      if (is_over(worst)) {
        judge(renew());
        return;
      }
      if (!step()) {
        if (report_.status == Status::converged) judge_end(renew());
        return;
      }
      ++report_.iterations;
    }
  }

  /// W = A X - M X values, and the largest relative residual of those asked for.
  T measure() {
    norms_.assign(static_cast<std::size_t>(count_), 0);
    relative_ = norms_;
    T worst = 0;
    for (int k = 0; k < count_; ++k) {
      const auto place = static_cast<std::size_t>(k);
      copy<S>(at(x_.a, k), at(w_.v, k), stream_);
      axpby<S>(static_cast<S>(-values_[place]), at(weighted(x_), k), S(1), at(w_.v, k), stream_);
      norms_[place] = norm_of(at(w_.v, k));
      const T size = (static_cast<T>(report_.matrix_norm) +
                      std::abs(values_[place]) * static_cast<T>(report_.mass_norm)) *
                     norm_of(at(x_.v, k));
      relative_[place] = norms_[place] == 0 ? T(0) : norms_[place] / size;
      const bool is_worse = !(relative_[place] <= worst) && !std::isnan(worst);
      if (k < options_.count && is_worse) worst = relative_[place];
    }
    return worst;
  }
  /// The same with images and Rayleigh quotients that are products of the vectors themselves:
  /// combinations of images drift away from those.
  T renew() {
    multiply(matrix_, x_.v, x_.a, count_);
    multiply_mass(x_, count_);
    for (int k = 0; k < count_; ++k) {
      const T energy = real_dot<S>(at(x_.v, k), at(x_.a, k), reduction_, stream_);
      const T mass = real_dot<S>(at(x_.v, k), at(weighted(x_), k), reduction_, stream_);
      values_[static_cast<std::size_t>(k)] = energy / mass;
    }
    return measure();
  }

  /// Near the rounding of the residual itself, and no better for a while.
  bool is_as_good_as_it_gets(T worst) {
    constexpr long long patience = 10;
    if (report_.iterations == 0 || worst < least_ / 2) {
      least_ = worst;
      improved_ = report_.iterations;
    }
    return worst <= rounding && report_.iterations - improved_ >= patience;
  }
  static constexpr T rounding = 64 * epsilon;

  /// Whether the true residual ends the solve.
  bool judge(T worst) {
    if (!std::isfinite(worst)) {
      end_not_finite();
    } else if (worst <= options_.tolerance) {
      end(Status::converged);
    } else if (report_.status == Status::converged && is_as_good_as_it_gets(worst)) {
      end(Status::accuracy_limit, "the vectors are as good as their precision lets them be");
    } else {
      return report_.status != Status::converged;
    }
    return true;
  }
  /// The same where no new direction is left.
  void judge_end(T worst) {
    if (worst > options_.tolerance && worst <= rounding) {
      end(Status::accuracy_limit, "the vectors are as good as their precision lets them be");
    } else if (!judge(worst)) {
      end(Status::breakdown, "no new direction is independent of the vectors");
    }
  }

  bool is_over(T worst) {
    const double seconds = elapsed();
    if (options_.observer &&
        !options_.observer({report_.iterations, static_cast<double>(worst), seconds})) {
      end(Status::cancelled);
    } else if (report_.iterations >= options_.max_iterations) {
      end(Status::iteration_limit);
    } else if (seconds >= options_.time_limit) {
      end(Status::time_limit);
    }
    return report_.status != Status::converged;
  }

  /// One iteration; false where it ends the solve, as `breakdown` unless it says otherwise.
  bool step() {
    active_.clear();
    for (int k = 0; k < count_; ++k) {
      if (relative_[static_cast<std::size_t>(k)] > options_.tolerance) active_.push_back(k);
    }
    const auto to = static_cast<int>(active_.size());
    for (int k = 0; k < to; ++k) {
      const int from = active_[static_cast<std::size_t>(k)];
      std::swap(w_.v[static_cast<std::size_t>(k)], w_.v[static_cast<std::size_t>(from)]);
    }
    if (const auto& preconditioner = this->system().preconditioner) {
      for (int k = 0; k < to; ++k) preconditioner->apply(at(w_.v, k), at(w_.a, k), stream_);
      std::swap(w_.v, w_.a);
    }
    const int directions = make_directions_orthonormal(to);
    if (directions == 0) return false;
    multiply(matrix_, w_.v, w_.a, directions);
    return project(directions);
  }

  /// W against X and P, and in itself; returns how many independent directions it has.
  int make_directions_orthonormal(int count) {
    constexpr int most_rounds = 4;
    constexpr T well_conditioned = T(0.01);
    const FieldBlock<S> last = first(p_.v, last_), basis = joined<S>(x_.v, last);
    const FieldBlock<S> last_m = first(weighted(p_), last_);
    const FieldBlock<S> basis_m = joined<S>(weighted(x_), last_m);
    for (int round = 0; round < most_rounds && count > 0; ++round) {
      // Of a direction that lies in X and P but for rounding, the first projection leaves that.
      count = normalize_directions(count, round == 1 ? 16 * epsilon : T(0));
      Matrix along = operations_.gram(basis_m, first(w_.v, count));
      for (int j = 0; j < along.columns(); ++j) {
        for (int i = 0; i < along.rows(); ++i) along(i, j) = -along(i, j);
      }
      operations_.combine(basis, along, first(w_.v, count), true);
      if (round == 0) continue;
      multiply_mass(w_, count);
      const Matrix gram = operations_.gram(first(w_.v, count), first(weighted(w_), count));
      if (!gram.is_finite()) return end_not_finite();
      const auto own = orthonormal_columns(gram, dependent);
      if (own.is_negative) return end_indefinite();
      transform(w_.v, own.to);
      if (mass_ != nullptr) transform(w_.m, own.to);
      count = own.to.columns();
      if (own.least > well_conditioned) break;
    }
    return count;
  }
  /// To length 1; those up to `least` are left out.
  int normalize_directions(int count, T least) {
    int kept = 0;
    for (int k = 0; k < count; ++k) {
      const T norm = norm_of(at(w_.v, k));
      // What is no number goes on, and ends the solve where sums see it.
      if (norm <= std::max(least, T(std::numeric_limits<S>::min()))) continue;
      scale<S>(static_cast<S>(1 / norm), at(w_.v, k), stream_);
      std::swap(w_.v[static_cast<std::size_t>(kept)], w_.v[static_cast<std::size_t>(k)]);
      ++kept;
    }
    return kept;
  }

  /// The best vectors of [X W P], and the directions that led to them.
  bool project(int directions) {
    const auto basis = [&](FieldBlock<S> Part::* image) {
      const FieldBlock<S> of_w = first(w_.*image, directions), of_p = first(p_.*image, last_);
      return joined<S>(joined<S>(x_.*image, of_w), of_p);
    };
    const FieldBlock<S> vectors = basis(&Part::v);
    const Matrix gram = operations_.gram(vectors, mass_ ? basis(&Part::m) : vectors);
    const Matrix energy = operations_.gram(vectors, basis(&Part::a));
    if (!gram.is_finite() || !energy.is_finite()) return end_not_finite();
    auto found = solve_projected(gram, energy, count_, active_, count_ + directions, dependent);
    if (found.vectors.columns() < count_) {
      return end(Status::breakdown, "the vectors have come to depend on one another");
    }
    report_.restarts += found.left_directions;
    if (found.left_directions) last_ = 0;
    values_ = std::move(found.values);
    const int next = directions > 0 ? found.directions.columns() : 0;
    for (FieldBlock<S> Part::* const image : {&Part::v, &Part::a, &Part::m}) {
      if ((x_.*image).empty()) continue;
      replace(x_.*image, p_.*image, basis(image), found, next);
    }
    last_ = next;
    return true;
  }
  void replace(FieldBlock<S>& x, FieldBlock<S>& p, const FieldBlock<S>& from,
               const ProjectedEigenpairs<R, T>& found, int next) {
    Matrix both(static_cast<int>(from.size()), count_ + next);
    for (int j = 0; j < both.columns(); ++j) {
      for (int i = 0; i < both.rows(); ++i) {
        both(i, j) = j < count_ ? found.vectors(i, j) : found.directions(i, j - count_);
      }
    }
    operations_.combine(from, both, first(spare_, both.columns()));
    for (int k = 0; k < count_; ++k) {
      const auto place = static_cast<std::size_t>(k);
      std::swap(x[place], spare_[place]);
      std::swap(p[place], spare_[static_cast<std::size_t>(count_) + place]);
    }
  }

  void bring_out(std::span<const FieldView<S>> x) {
    std::vector<std::size_t> order(static_cast<std::size_t>(options_.count));
    std::iota(order.begin(), order.end(), std::size_t(0));
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t i, std::size_t j) { return values_[i] < values_[j]; });
    for (std::size_t k = 0; k < order.size(); ++k) {
      permute<S>(x_.v[order[k]], x[k], S(1), stream_);
      report_.eigenvalues.push_back(static_cast<double>(values_[order[k]]));
      report_.residual_norms.push_back(static_cast<double>(norms_[order[k]]));
      report_.residuals.push_back(static_cast<double>(relative_[order[k]]));
    }
  }

  const EigenOptions& options_;
  const LinearOperator<S>& matrix_;
  const LinearOperator<S>* mass_;  // null: 1
  Device device_;
  Stream stream_;
  Reduction<S> reduction_;
  BlockOperations<R, S> operations_;
  int count_;     // vectors in X, guards among them
  int last_ = 0;  // directions in P
  std::uint64_t next_seed_ = 0;
  std::vector<Array<S>> storage_;
  Part x_, w_, p_;
  FieldBlock<S> spare_;
  std::vector<T> values_, norms_, relative_;
  std::vector<int> active_;
  T least_ = 0;             // of the worst residuals, when it last was halved
  long long improved_ = 0;  // the iteration then
  Clock::time_point start_;
  EigenReport report_;
};

}  // namespace heddle::detail
