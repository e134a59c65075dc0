// Sparse approximate inverses as preconditioners. They are applied as products and set up by one
// small dense system per row, on the device that holds the operator's values. The pattern is
// computed on the CPU.
#pragma once

#include <memory>
#include <optional>

#include "heddle/detail/sliced_operator.hpp"
#include "heddle/export.hpp"
#include "heddle/preconditioner.hpp"

namespace heddle {

namespace detail {

template <class S>
class InverseParts;

/// The interface that both approximate inverses present to a solver. Copies share the inverse and a
/// work field; solvers that run at once need one each.
template <class S>
class HEDDLE_EXPORT ApproximateInverse : public Preconditioner<S> {
 public:
  std::optional<FieldShape> shape() const override;
  /// Throws `Error` (size_mismatch) for fields that are not the operator's.
  void apply(const FieldView<const S>& r, const FieldView<S>& z,
             const Stream& stream) const override;
  /// Recomputes the inverse if the operator has new values. The pattern stays, and so does the
  /// memory on the device. Throws `Error` (singular) like the constructor; on a GPU the inverse is
  /// then unusable until a refresh succeeds.
  void refresh() override;
  /// True on a GPU: an enqueued solve computes the inverse from the values that the matrix has
  /// then.
  bool refreshes_in_graph() const override;
  void queue_refresh(Index* singular_row, const Stream& stream) override;
  bool is_capturable() const override;
  long long bytes_of_application() const override;

 protected:
  explicit ApproximateInverse(std::shared_ptr<InverseParts<S>> parts) : parts_(std::move(parts)) {}
  const InverseParts<S>& parts() const { return *parts_; }

 private:
  std::shared_ptr<InverseParts<S>> parts_;
};

extern template class ApproximateInverse<float>;
extern template class ApproximateInverse<double>;
extern template class ApproximateInverse<long double>;

}  // namespace detail

/// The factorized sparse approximate inverse of a Hermitian positive definite matrix, M^-1 = G* G
/// (Kolotilina and Yeremin 1993, SIAM J. Matrix Anal. Appl. 14). G is lower triangular in the
/// user's order, on the lower pattern of A^power, and minimizes |I - G L| in the Frobenius norm,
/// where A = L L*. The diagonal of G A G* is 1.
template <class S>
class HEDDLE_EXPORT Fsai final : public detail::ApproximateInverse<S> {
 public:
  /// `matrix` is an operator over sliced storage; a handle to it is kept. `power` is 1 to 4. Only
  /// the entries on and above the diagonal are read. Throws `Error`: usage for another power,
  /// unsupported for an entry without adjoint or inverse, size_mismatch for a matrix that is not
  /// square, singular with the first row (counted from 0 in the user's order) that lacks its
  /// diagonal entry or has a pivot that is not positive or overflows the stored scalars, memory
  /// where the inverse does not fit. Set-up time is bounded: a matrix is unsupported if its dense
  /// systems would take many minutes, on all threads together or for one row on its thread, that
  /// is, a row of more than 12599 real numbers, 7937 complex ones or 5000 quaternions.
  explicit Fsai(const detail::SlicedOperator<S>& matrix, int power = 1);

  /// Over real numbers it is symmetric too, but no method requires that.
  bool is_symmetric() const override { return false; }

  /// G and G*, in the operator's basis and layout.
  const detail::SlicedOperator<S>& factor() const;
  const detail::SlicedOperator<S>& adjoint_factor() const;
};

/// The incomplete sparse approximate inverse of any square matrix, M ~ A^-1 on the pattern of
/// A^power (Anzt, Huckle, Braeckle and Dongarra 2018, Parallel Computing 71): M A is the identity
/// on that pattern. It is not Hermitian where A is.
template <class S>
class HEDDLE_EXPORT Isai final : public detail::ApproximateInverse<S> {
 public:
  /// Like `Fsai`, also for entries without an adjoint. Throws `Error` (singular) with the first row
  /// that lacks its diagonal entry or whose local matrix has no inverse.
  explicit Isai(const detail::SlicedOperator<S>& matrix, int power = 1);

  bool is_hermitian() const override { return false; }
  bool is_symmetric() const override { return false; }

  /// M, in the operator's basis and layout.
  const detail::SlicedOperator<S>& inverse() const;
};

extern template class Fsai<float>;
extern template class Fsai<double>;
extern template class Fsai<long double>;
extern template class Isai<float>;
extern template class Isai<double>;
extern template class Isai<long double>;

}  // namespace heddle
