// The span of some vectors W over a ring, and the part of a solution in it: W (W* A W)^-1 W* r. The
// columns of W are kept A-orthonormal, so that this is W W* r.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "heddle/linear_operator.hpp"
#include "heddle/preconditioner.hpp"
#include "solvers/blocks/field_block.hpp"
#include "solvers/blocks/ring_eigenpairs.hpp"

namespace heddle::detail {

template <class S>
class CoarseSpace {
 public:
  virtual ~CoarseSpace() = default;

  /// Makes the columns of W A-orthonormal, leaving out those that depend on others, then estimates
  /// sigma. Throws `Error`: unsupported if w* A w is negative, not_finite if W* A W is not finite.
  virtual void renew(const LinearOperator<S>& matrix, const Preconditioner<S>* inner) = 0;
  /// z += sigma W W* r.
  virtual void add_correction(const FieldView<const S>& r, const FieldView<S>& z) = 0;

  /// One of its own fields, to compare others with.
  virtual const FieldView<S>& field() const = 0;

  int vectors = 0;
  double sigma = 1;
};

template <Ring R, class S>
class CoarseSpaceOver final : public CoarseSpace<S> {
  using T = sum_t<S>;
  using Operations = BlockOperations<R, S>;
  using Matrix = typename Operations::Matrix;

 public:
  CoarseSpaceOver(const LinearOperator<S>& matrix, std::span<const FieldView<const S>> vectors)
      : stream_(matrix.device().stream()),
        reduction_(matrix.rows(), matrix.device()),
        operations_(reduction_, stream_, static_cast<int>(vectors.size())),
        w_(store_.make(matrix, static_cast<int>(vectors.size()))),
        spare_(store_.make(matrix, spare_fields(vectors.size()))) {
    for (std::size_t k = 0; k < w_.size(); ++k) permute<S>(vectors[k], w_[k], S(1), stream_);
  }

  /// Number of spare fields: that of W's columns, but enough to estimate sigma in.
  static int spare_fields(std::size_t vectors) { return std::max(static_cast<int>(vectors), 3); }

  void renew(const LinearOperator<S>& matrix, const Preconditioner<S>* inner) override {
    constexpr int max_rounds = 3;
    constexpr T well_conditioned = T(0.5);
    norm_.reset();
    T least = 0;
    for (int round = 0; round < max_rounds && !(least > well_conditioned); ++round) {
      least = make_orthonormal(matrix);
    }
    estimate_sigma(matrix, inner);
  }

  const FieldView<S>& field() const override { return spare_.front(); }

  void add_correction(const FieldView<const S>& r, const FieldView<S>& z) override {
    if (w_.empty()) return;
    // The operands of a Gram matrix are never written to.
    right_.front() = z;
    right_.front().data = const_cast<S*>(r.data);
    operations_.gram(w_, right_, false, coefficients_);
    for (int i = 0; i < this->vectors; ++i) {
      heddle::scale(coefficients_(i, 0), static_cast<T>(this->sigma));
    }
    right_.front() = z;
    operations_.combine(w_, coefficients_, right_, true);
  }

 private:
  static constexpr T epsilon = std::numeric_limits<S>::epsilon();
  /// Upper bound of the eigenvalues of the scaled W* A W that are only rounding in A W.
  static constexpr T dependent =
      std::max(T(1e3) * std::numeric_limits<T>::epsilon(), T(16) * epsilon);

  /// Returns the least eigenvalue of the scaled W* A W before the change. The next round would have
  /// that much less rounding in it.
  T make_orthonormal(const LinearOperator<S>& matrix) {
    const auto columns = static_cast<int>(w_.size());
    multiply_block(matrix, w_, spare_, columns, reduction_, stream_);
    const Matrix energy = operations_.gram(w_, first(spare_, columns), true);
    if (!energy.is_finite()) {
      throw Error(ErrorKind::not_finite, "deflation: W* A W is not finite");
    }
    auto basis = orthonormal_columns(energy, dependent);
    // Doubles leave enough digits if nothing looks negative.
    if (std::is_same_v<S, float> || basis.is_negative) {
      basis = orthonormal_columns(energy, dependent, noise_of_energy(matrix));
    }
    if (basis.is_negative) {
      throw Error(
          ErrorKind::unsupported,
          "deflation needs a positive definite matrix, and w* A w is negative for one vector");
    }
    operations_.transform(w_, basis.to, spare_);
    this->vectors = basis.to.columns();
    w_.resize(static_cast<std::size_t>(this->vectors));
    coefficients_ = Matrix(this->vectors, 1);
    return basis.least;
  }

  /// w_i* A w_j is known to within noise_i noise_j, because A's products were rounded. Spare fields
  /// are overwritten.
  std::vector<T> noise_of_energy(const LinearOperator<S>& matrix) {
    if (!norm_) {
      const FieldView<S>&v = spare_[0], &image = spare_[1];
      fill<S>(S(1), v, stream_);
      randomize<S>(v, 1, stream_);
      matrix.apply(S(1), v, S(0), image, stream_);
      norm_ = std::sqrt(real_dot<S>(image, image, reduction_, stream_) /
                        real_dot<S>(v, v, reduction_, stream_));
    }
    std::vector<T> noise = operations_.norms(w_);
    for (T& size : noise) size *= std::sqrt(4 * epsilon * *norm_);
    return noise;
  }

  /// A mean of the eigenvalues of P A: u* A u / u* y with u = P y, for a random y.
  void estimate_sigma(const LinearOperator<S>& matrix, const Preconditioner<S>* inner) {
    const FieldView<S>&y = spare_[0], &u = spare_[1], &image = spare_[2];
    fill<S>(S(1), y, stream_);
    randomize<S>(y, 1, stream_);
    if (inner != nullptr) {
      inner->apply(y, u, stream_);
    } else {
      copy<S>(y, u, stream_);
    }
    const T energy = matrix.apply_dot(u, image, reduction_, stream_);
    const T found = energy / real_dot<S>(u, y, reduction_, stream_);
    this->sigma = found > 0 && std::isfinite(found) ? static_cast<double>(found) : 1;
  }

  Stream stream_;
  Reduction<S> reduction_;
  Operations operations_;
  FieldStore<S> store_;
  FieldBlock<S> w_, spare_;
  FieldBlock<S> right_ = FieldBlock<S>(1);
  std::optional<T> norm_;  // approximate norm of the matrix, set when needed
  Matrix coefficients_;
};

}  // namespace heddle::detail
