// The recurrence of block conjugate gradients in Dubrulle's form ("Retooling the method of block
// conjugate gradients", ETNA 12, 2001, BCGrQ): the residuals are Q C with orthonormal Q, so that
// small matrices stay well conditioned however different the columns are. Dependent residuals leave
// Q. Directions are made A-orthogonal to the previous ones by explicit products, which also works
// after a loss of rank and with a preconditioner.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "heddle/kernels/loop_state.hpp"
#include "heddle/preconditioner.hpp"
#include "solvers/blocks/field_block.hpp"
#include "solvers/blocks/ring_eigenpairs.hpp"

namespace heddle::detail {

template <Ring R, class S>
class BlockRecurrence {
 public:
  using T = sum_t<S>;
  using Matrix = RingMatrix<R, T>;

  /// `preconditioner`: null for none.
  BlockRecurrence(const LinearOperator<S>& matrix, const Preconditioner<S>* preconditioner,
                  int columns, Reduction<S>& reduction)
      : matrix_(matrix),
        preconditioner_(preconditioner),
        stream_(matrix.device().stream()),
        reduction_(reduction),
        operations_(reduction, stream_, columns) {
    for (FieldBlock<S>* const block : {&q, &p, &image, &spare}) {
      *block = store_.make(matrix, columns);
    }
  }
  static constexpr int fields_of_column = 4;
  /// Passes over a field that an iteration makes for each column, besides those of the products and
  /// the preconditioner: 2 of preconditioning, and 18 of four Gram matrices, two of them Hermitian,
  /// three additions of combinations and one change of basis.
  static constexpr int passes_of_column = 20;

  FieldBlock<S> q;      // orthonormal; before `begin` the residuals
  FieldBlock<S> p;      // directions
  FieldBlock<S> image;  // A P
  FieldBlock<S> spare;

  /// True if every step of this run found P* A P of full rank.
  bool has_full_rank() const { return has_full_rank_; }
  int rank() const { return c_.rows(); }
  /// |r|^2 of a column, by the recurrence.
  T squared_residual(int column) const {
    T squared = 0;
    for (int i = 0; i < c_.rows(); ++i) squared += squared_norm(c_(i, column));
    return squared;
  }
  /// For a new solve, whose matrix may have new values.
  void forget_norm() { norm_.reset(); }

  /// Reduces the run to the named columns, in ascending order. Directions that served the others
  /// leave Q with them; those of P stay, so that the run continues as if it had been one of these
  /// columns. False if something overflowed.
  bool keep_columns(const std::vector<int>& columns) {
    Matrix kept(rank(), static_cast<int>(columns.size()));
    for (int j = 0; j < kept.columns(); ++j) {
      for (int i = 0; i < kept.rows(); ++i) {
        kept(i, j) = c_(i, columns[static_cast<std::size_t>(j)]);
      }
    }
    const OrthonormalColumns<R, T> own =
        orthonormal_columns(adjoint_product(kept, kept), dependent);
    operations_.transform(q, kept * own.to, spare);
    c_ = own.back;
    has_full_rank_ = true;
    return c_.is_finite();
  }

  /// |A v| / |v| for a v without pattern, which estimates |A|.
  T norm_of_matrix() {
    if (!norm_) {
      const FieldView<S>&v = spare.front(), y = image.front();
      fill<S>(S(1), v, stream_);
      randomize<S>(v, 1, stream_);
      matrix_.apply(S(1), v, S(0), y, stream_);
      norm_ = std::sqrt(real_dot<S>(y, y, reduction_, stream_) /
                        real_dot<S>(v, v, reduction_, stream_));
      matrix_.apply(S(1), p.front(), S(0), y, stream_);  // restores A p
    }
    return *norm_;
  }

  /// Begins from the residuals in the first fields of Q. Returns an end, `loop_runs` for none.
  device::LoopEnd begin(int columns) {
    c_ = identity_matrix<R, T>(columns);
    has_full_rank_ = true;
    directions_ = 0;
    return factor(columns) ? device::loop_runs : device::loop_not_finite;
  }

  /// P = M^-1 Q, made A-orthogonal to the previous P. The rank must not be 0.
  void turn() {
    const FieldBlock<S> residuals = first(q, rank()), next = first(spare, rank());
    for (std::size_t k = 0; k < residuals.size(); ++k) precondition(residuals[k], next[k]);
    if (directions_ > 0) {
      const Matrix along = operations_.gram(first(image, directions_), next);
      const Matrix beta = negated(inverse_ * adjoint_product(inverse_, along));
      operations_.combine(first(p, directions_), beta, next, true);
    }
    std::swap(p, spare);
    directions_ = rank();
  }

  /// One step of the columns x, to which the residuals belong.
  device::LoopEnd step(const FieldBlock<S>& x) {
    const FieldBlock<S> last = first(p, directions_), images = first(image, directions_);
    const FieldBlock<S> residuals = first(q, rank());
    multiply_block(matrix_, last, images, directions_, reduction_, stream_);
    Matrix energy = operations_.gram(last, images, true);
    const Matrix along = operations_.gram(last, residuals);
    if (!energy.is_finite() || !along.is_finite()) return device::loop_not_finite;
    for (int k = 0; preconditioner_ != nullptr && k < directions_; ++k) {
      if (along(k, k).real() < 0 && is_negative(residuals[static_cast<std::size_t>(k)])) {
        return device::loop_not_definite;
      }
    }
    const device::LoopEnd end = invert(std::move(energy));
    if (end != device::loop_runs) return end;
    const Matrix gamma = inverse_ * adjoint_product(inverse_, along);
    const Matrix of_x = gamma * c_;
    if (!of_x.is_finite()) return device::loop_not_finite;
    operations_.combine(last, of_x, x, true);
    operations_.combine(images, negated(gamma), residuals, true);
    return factor(rank()) ? device::loop_runs : device::loop_not_finite;
  }

 private:
  static constexpr T epsilon = std::numeric_limits<S>::epsilon();
  /// Upper bound of the eigenvalues of a scaled Gram matrix that are only rounding, in its sums or
  /// in fields.
  static constexpr T dependent =
      std::max(T(1e3) * std::numeric_limits<T>::epsilon(), T(256) * epsilon * epsilon);
  /// The same for P* A P, whose rounding is that of sums alone.
  static constexpr T degenerate = T(64) * std::numeric_limits<T>::epsilon();

  void precondition(const FieldView<S>& r, const FieldView<S>& z) const {
    if (preconditioner_ != nullptr) {
      preconditioner_->apply(r, z, stream_);
    } else {
      copy<S>(r, z, stream_);
    }
  }
  bool is_negative(const FieldView<S>& r) {
    const FieldView<S>& z = spare.front();
    precondition(r, z);
    const T product = real_dot<S>(r, z, reduction_, stream_);
    if (!(product < 0)) return false;
    const T squared_r = real_dot<S>(r, r, reduction_, stream_);
    const T squared_z = real_dot<S>(z, z, reduction_, stream_);
    return product < -32 * epsilon * std::sqrt(squared_r) * std::sqrt(squared_z);
  }

  /// Factors Q = Q' Z with orthonormal Q', in place, and sets C = Z C. Repeated if one round leaves
  /// rounding.
  bool factor(int columns) {
    constexpr T well_conditioned = T(0.01);
    constexpr int max_rounds = 3;
    for (int round = 0; round < max_rounds && columns > 0; ++round) {
      const FieldBlock<S> vectors = first(q, columns);
      const Matrix gram = operations_.gram(vectors, vectors, true);
      if (!gram.is_finite()) return false;
      const OrthonormalColumns<R, T> basis = orthonormal_columns(gram, dependent);
      c_ = basis.back * c_;
      operations_.transform(q, basis.to, spare);
      columns = basis.to.columns();
      if (basis.least > well_conditioned) break;
    }
    return c_.is_finite();
  }

  /// Sets `inverse_` to L with L L* = (P* A P)^-1; if P* A P lacks full rank, that of its positive
  /// part.
  device::LoopEnd invert(Matrix energy) {
    OrthonormalColumns<R, T> found = orthonormal_columns(energy, degenerate);
    if (!found.is_negative && found.to.columns() == directions_) {
      inverse_ = std::move(found.to);
      return device::loop_runs;
    }
    // Rayleigh quotients show what is negative, and what is only rounding of A's products.
    const FieldBlock<S> last = first(p, directions_);
    const Matrix gram = operations_.gram(last, last, true);
    if (!gram.is_finite()) return device::loop_not_finite;
    const Matrix basis = orthonormal_columns(gram, dependent).to;
    Matrix projected = adjoint_product(basis, energy * basis);
    make_hermitian(projected);
    const RingEigenpairs<R, T> pairs = eigenpairs_of(std::move(projected));
    const Matrix directions = basis * pairs.vectors;
    const std::vector<T> noise = noise_of_energy(gram);
    std::vector<int> kept;
    for (int j = 0; j < directions.columns(); ++j) {
      const T value = pairs.values[static_cast<std::size_t>(j)];
      const T rounding = rounding_along<R, T>(directions, j, noise);
      if (value < -rounding) return device::loop_not_positive;
      if (value > rounding) kept.push_back(j);
    }
    const auto rank = static_cast<int>(kept.size());
    if (rank == 0) return device::loop_lost;
    has_full_rank_ = has_full_rank_ && rank == directions_;
    inverse_ = Matrix(directions_, rank);
    for (int j = 0; j < rank; ++j) {
      const int from = kept[static_cast<std::size_t>(j)];
      const T factor = 1 / std::sqrt(pairs.values[static_cast<std::size_t>(from)]);
      for (int i = 0; i < directions_; ++i) {
        inverse_(i, j) = directions(i, from);
        scale(inverse_(i, j), factor);
      }
    }
    return device::loop_runs;
  }
  /// p_i* A p_j is known to within noise_i noise_j, because A's products were rounded.
  std::vector<T> noise_of_energy(const Matrix& gram) {
    T norm = norm_of_matrix();
    const std::vector<T> images = operations_.norms(first(image, directions_));
    std::vector<T> noise;
    noise.reserve(images.size());
    for (int i = 0; i < directions_; ++i) noise.push_back(std::sqrt(gram(i, i).real()));
    for (std::size_t i = 0; i < noise.size(); ++i) {
      if (noise[i] > 0) norm = std::max(norm, images[i] / noise[i]);
    }
    for (T& size : noise) size *= std::sqrt(4 * epsilon * norm);
    return noise;
  }

  const LinearOperator<S>& matrix_;
  const Preconditioner<S>* preconditioner_;
  Stream stream_;
  Reduction<S>& reduction_;
  BlockOperations<R, S> operations_;
  FieldStore<S> store_;
  int directions_ = 0;  // number in P
  bool has_full_rank_ = true;
  Matrix c_;        // rows: fields in Q, columns: those of the system
  Matrix inverse_;  // inverse of P* A P, as L with L L*
  std::optional<T> norm_;
};

}  // namespace heddle::detail
