// Operators made from operators: A + sigma I, A + sigma M, alpha A + beta B, A B. None stores a
// matrix: each multiplies by its parts, and so sees their new values. Its adjoint is made from
// those of its parts.
#pragma once

#include <complex>
#include <memory>
#include <type_traits>
#include <utility>

#include "heddle/export.hpp"
#include "heddle/linear_operator.hpp"
#include "heddle/methods/coefficient.hpp"

namespace heddle {

namespace detail {

/// Properties that an operator takes from its two parts: rows from `left`, columns from `right`.
template <class S>
class HEDDLE_EXPORT OperatorOfTwo : public LinearOperator<S> {
 public:
  Index rows() const override { return left_->rows(); }
  Index columns() const override { return right_->columns(); }
  int row_components() const override { return left_->row_components(); }
  int column_components() const override { return right_->column_components(); }
  VectorLayout vector_layout() const override { return left_->vector_layout(); }
  std::shared_ptr<const Basis> row_basis() const override { return left_->row_basis(); }
  std::shared_ptr<const Basis> column_basis() const override { return right_->column_basis(); }
  Device device() const override { return left_->device(); }
  /// Numbers of two rings in the same components need not multiply them in the same way: the i of
  /// quaternions maps pairs of complex numbers differently from the complex i.
  Ring ring() const override { return ring_; }
  Recurrence recurrence() const override { return recurrence_; }
  bool has_adjoint() const override { return has_adjoint_; }
  /// True on a GPU if both parts only queue work.
  bool is_capturable() const override;

 protected:
  /// Throws `Error` for parts on two devices or of two vector layouts. `what`: "a sum".
  OperatorOfTwo(OperatorReference<S> left, OperatorReference<S> right, const char* what);

  const LinearOperator<S>& left() const { return *left_; }
  const LinearOperator<S>& right() const { return *right_; }
  long long bytes_of_field() const {
    return static_cast<long long>(rows()) * row_components() * static_cast<long long>(sizeof(S));
  }

 private:
  OperatorReference<S> left_, right_;
  // Asked once: if each part asked both of its own parts again, n levels would ask 2^n times.
  Ring ring_;
  Recurrence recurrence_;
  bool has_adjoint_;
};

/// A field between two steps of a product; every copy of the operator has its own.
template <class S>
class IntermediateField {
 public:
  IntermediateField() = default;
  IntermediateField(Index rows, int components, VectorLayout layout,
                    std::shared_ptr<const Basis> basis, const Device& device)
      : scalars_(static_cast<std::size_t>(rows) * static_cast<std::size_t>(components), device),
        shape_(FieldView<S>::unallocated(rows, components, layout)) {
    shape_.basis = std::move(basis);
  }

  /// Writable in a const operator too: its contents are not visible between two products.
  FieldView<S> view() const {
    FieldView<S> field = shape_;
    field.data = const_cast<S*>(scalars_.data());
    return field;
  }

 private:
  Array<S> scalars_;
  FieldView<S> shape_;
};

}  // namespace detail

/// y = A x + x sigma for a square A. sigma is real, or complex over the complex numbers, and then
/// acts from the right, as coefficients do.
template <class S>
class HEDDLE_EXPORT ShiftedOperator final : public detail::OperatorOfTwo<S> {
 public:
  /// Throws `Error`: size_mismatch unless A is square, usage for a shift that is not finite.
  ShiftedOperator(OperatorReference<S> A, S sigma)
      : ShiftedOperator(std::move(A), Coefficient<Ring::complex, S>{{sigma, 0}}) {}
  /// Also throws `Error` (unsupported) for an imaginary part if A's ring is not complex.
  ShiftedOperator(OperatorReference<S> A, const Coefficient<Ring::complex, S>& sigma);

  Coefficient<Ring::complex, S> shift() const { return sigma_; }

  long long bytes_of_product() const override;
  std::shared_ptr<const LinearOperator<S>> adjoint() const override;
  std::shared_ptr<const LinearOperator<S>> handle() const override {
    return std::make_shared<ShiftedOperator>(*this);
  }
  void apply(S alpha, const FieldView<const S>& x, S beta, const FieldView<S>& y,
             const Stream& stream) const override;
  sum_t<S> residual(const FieldView<const S>& b, const FieldView<const S>& x, const FieldView<S>& r,
                    Reduction<S>& reduction, const Stream& stream) const override;

 private:
  /// y += x sigma alpha.
  void add_shift(S alpha, const FieldView<const S>& x, const FieldView<S>& y,
                 const Stream& stream) const;

  Coefficient<Ring::complex, S> sigma_;
};

/// y = alpha A x + B x beta for operators of one shape, basis, vector layout and device. alpha is
/// real; beta is like the shift above. With a complex beta it keeps a field, and then makes one
/// product at a time.
template <class S>
class HEDDLE_EXPORT SumOperator final : public detail::OperatorOfTwo<S> {
 public:
  /// Throws `Error`: size_mismatch for parts that do not fit, usage for two devices and for
  /// coefficients that are not finite.
  SumOperator(S alpha, OperatorReference<S> A, S beta, OperatorReference<S> B)
      : SumOperator(alpha, std::move(A), Coefficient<Ring::complex, S>{{beta, 0}}, std::move(B)) {}
  /// Also throws `Error` (unsupported) for an imaginary part unless both rings are complex.
  SumOperator(S alpha, OperatorReference<S> A, const Coefficient<Ring::complex, S>& beta,
              OperatorReference<S> B);

  long long bytes_of_product() const override;
  std::shared_ptr<const LinearOperator<S>> adjoint() const override;
  std::shared_ptr<const LinearOperator<S>> handle() const override {
    return std::make_shared<SumOperator>(*this);
  }
  void apply(S alpha, const FieldView<const S>& x, S beta, const FieldView<S>& y,
             const Stream& stream) const override;
  sum_t<S> residual(const FieldView<const S>& b, const FieldView<const S>& x, const FieldView<S>& r,
                    Reduction<S>& reduction, const Stream& stream) const override;

 private:
  /// y += B x beta factor.
  void add_second(S factor, const FieldView<const S>& x, const FieldView<S>& y,
                  const Stream& stream) const;

  S alpha_;
  Coefficient<Ring::complex, S> beta_;
  detail::IntermediateField<S> multiple_;  // x beta; used for a complex beta
};

/// y = A (B x), with one field of its own. It makes one product at a time.
template <class S>
class HEDDLE_EXPORT ProductOperator final : public detail::OperatorOfTwo<S> {
 public:
  /// Throws `Error`: size_mismatch unless the rows of B are the columns of A, in one basis and one
  /// vector layout, usage for two devices.
  ProductOperator(OperatorReference<S> A, OperatorReference<S> B);

  long long bytes_of_product() const override;
  std::shared_ptr<const LinearOperator<S>> adjoint() const override;
  std::shared_ptr<const LinearOperator<S>> handle() const override {
    return std::make_shared<ProductOperator>(*this);
  }
  void apply(S alpha, const FieldView<const S>& x, S beta, const FieldView<S>& y,
             const Stream& stream) const override;
  sum_t<S> residual(const FieldView<const S>& b, const FieldView<const S>& x, const FieldView<S>& r,
                    Reduction<S>& reduction, const Stream& stream) const override;

 private:
  detail::IntermediateField<S> image_;  // B x
};

// Functions that make these operators. They keep handles of an `Operator<E>`, take over
// temporaries, share pointers, and refer to any other operator, as solvers do. Solvers measure if
// the result is Hermitian.

/// A + sigma I.
template <class M, class S = operator_scalar_t<M>>
ShiftedOperator<S> shifted(M&& A, std::type_identity_t<S> sigma) {
  return {OperatorReference<S>(std::forward<M>(A)), sigma};
}
template <class M, class S = operator_scalar_t<M>>
ShiftedOperator<S> shifted(M&& A, std::complex<std::type_identity_t<S>> sigma) {
  return {OperatorReference<S>(std::forward<M>(A)),
          Coefficient<Ring::complex, S>{{sigma.real(), sigma.imag()}}};
}

/// A + sigma M.
template <class M, class N, class S = operator_scalar_t<M>>
  requires std::is_same_v<operator_scalar_t<N>, S>
SumOperator<S> shifted(M&& A, std::type_identity_t<S> sigma, N&& mass) {
  return {S(1), OperatorReference<S>(std::forward<M>(A)), sigma,
          OperatorReference<S>(std::forward<N>(mass))};
}
template <class M, class N, class S = operator_scalar_t<M>>
  requires std::is_same_v<operator_scalar_t<N>, S>
SumOperator<S> shifted(M&& A, std::complex<std::type_identity_t<S>> sigma, N&& mass) {
  return {S(1), OperatorReference<S>(std::forward<M>(A)),
          Coefficient<Ring::complex, S>{{sigma.real(), sigma.imag()}},
          OperatorReference<S>(std::forward<N>(mass))};
}

/// alpha A + beta B.
template <class M, class N, class S = operator_scalar_t<M>>
  requires std::is_same_v<operator_scalar_t<N>, S>
SumOperator<S> sum(std::type_identity_t<S> alpha, M&& A, std::type_identity_t<S> beta, N&& B) {
  return {alpha, OperatorReference<S>(std::forward<M>(A)), beta,
          OperatorReference<S>(std::forward<N>(B))};
}

/// A B.
template <class M, class N, class S = operator_scalar_t<M>>
  requires std::is_same_v<operator_scalar_t<N>, S>
ProductOperator<S> product(M&& A, N&& B) {
  return {OperatorReference<S>(std::forward<M>(A)), OperatorReference<S>(std::forward<N>(B))};
}

extern template class detail::OperatorOfTwo<float>;
extern template class detail::OperatorOfTwo<double>;
extern template class detail::OperatorOfTwo<long double>;
extern template class ShiftedOperator<float>;
extern template class ShiftedOperator<double>;
extern template class ShiftedOperator<long double>;
extern template class SumOperator<float>;
extern template class SumOperator<double>;
extern template class SumOperator<long double>;
extern template class ProductOperator<float>;
extern template class ProductOperator<double>;
extern template class ProductOperator<long double>;

}  // namespace heddle
