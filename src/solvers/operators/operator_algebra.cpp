#include "heddle/operator_algebra.hpp"

#include <cmath>
#include <string>

#include "applies_in_graph.hpp"
#include "base/long_double.hpp"
#include "operator_checks.hpp"

namespace heddle {

namespace operator_algebra {
namespace {

template <class S>
bool is_finite(const Coefficient<Ring::complex, S>& number) {
  return std::isfinite(number.component[0]) && std::isfinite(number.component[1]);
}
template <class S>
bool is_real(const Coefficient<Ring::complex, S>& number) {
  return number.component[1] == 0;
}
template <class S>
Coefficient<Ring::complex, S> times(const Coefficient<Ring::complex, S>& number, S factor) {
  return {{number.component[0] * factor, number.component[1] * factor}};
}

std::string text_of(Index rows, int components) {
  return std::to_string(rows) + " of " + std::to_string(components);
}

[[noreturn]] void refuse_complex(const char* what) {
  throw Error(
      ErrorKind::unsupported,
      std::string(what) + " with a complex coefficient needs operators over the complex numbers");
}

/// Bytes of an operator that multiplies by two parts once each; 0 if either reports none.
template <class S>
long long bytes_of_both(const LinearOperator<S>& a, const LinearOperator<S>& b, long long more) {
  const long long first = a.bytes_of_product(), second = b.bytes_of_product();
  return first == 0 || second == 0 ? 0 : first + second + more;
}

template <class S>
void copy_unless_same(const FieldView<const S>& b, const FieldView<S>& r, const Stream& stream) {
  if (b.data != r.data) copy<S>(b, r, stream);
}

}  // namespace
}  // namespace operator_algebra

using operator_algebra::is_real;
using operator_algebra::times;

template <class S>
detail::OperatorOfTwo<S>::OperatorOfTwo(OperatorReference<S> left, OperatorReference<S> right,
                                        const char* what)
    : left_(std::move(left)),
      right_(std::move(right)),
      ring_(left_->ring()),
      recurrence_(left_->recurrence()),
      has_adjoint_(left_->has_adjoint() && right_->has_adjoint()) {
  if (right_->ring() != ring_) ring_ = Ring::real;
  if (recurrence_ != Recurrence::real) recurrence_ = right_->recurrence();
  if (left_->device().stream().gpu != right_->device().stream().gpu) {
    throw Error(ErrorKind::usage, std::string(what) + " needs operators on one device");
  }
  if (left_->vector_layout() != right_->vector_layout()) {
    throw Error(ErrorKind::size_mismatch,
                std::string(what) + " needs operators of one vector layout; use one plan for both");
  }
}

template <class S>
bool detail::OperatorOfTwo<S>::is_capturable() const {
  const bool are_one = &left() == &right();  // true of a shift; in a chain each is asked once
  return device().on_gpu() && applies_in_graph(left()) && (are_one || applies_in_graph(right()));
}

template <class S>
ShiftedOperator<S>::ShiftedOperator(OperatorReference<S> A,
                                    const Coefficient<Ring::complex, S>& sigma)
    : detail::OperatorOfTwo<S>(A, A, "a shift"), sigma_(sigma) {
  detail::check_square(this->left(), "a shift");
  if (!operator_algebra::is_finite(sigma)) {
    throw Error(ErrorKind::usage, "the shift is not finite in the operator's precision");
  }
  if (!is_real(sigma) && this->ring() != Ring::complex) operator_algebra::refuse_complex("a shift");
}

template <class S>
long long ShiftedOperator<S>::bytes_of_product() const {
  const long long bytes = this->left().bytes_of_product();
  return bytes == 0 ? 0 : bytes + 3 * this->bytes_of_field();
}

template <class S>
std::shared_ptr<const LinearOperator<S>> ShiftedOperator<S>::adjoint() const {
  return std::make_shared<ShiftedOperator>(this->left().adjoint(), conj(sigma_));
}

template <class S>
void ShiftedOperator<S>::add_shift(S alpha, const FieldView<const S>& x, const FieldView<S>& y,
                                   const Stream& stream) const {
  if (is_real(sigma_)) {
    axpby<S>(alpha * sigma_.real(), x, S(1), y, stream);
  } else {
    axpby<S>(times(sigma_, alpha), x, Coefficient<Ring::complex, S>::from_real(1), y, stream);
  }
}

template <class S>
void ShiftedOperator<S>::apply(S alpha, const FieldView<const S>& x, S beta, const FieldView<S>& y,
                               const Stream& stream) const {
  this->left().apply(alpha, x, beta, y, stream);
  add_shift(alpha, x, y, stream);
}

/// b - x sigma is rounded once; the rest is as exact as A's own residual.
template <class S>
sum_t<S> ShiftedOperator<S>::residual(const FieldView<const S>& b, const FieldView<const S>& x,
                                      const FieldView<S>& r, Reduction<S>& reduction,
                                      const Stream& stream) const {
  check_apart(x, r, "x", "r");
  operator_algebra::copy_unless_same(b, r, stream);
  add_shift(S(-1), x, r, stream);
  return this->left().residual(r, x, r, reduction, stream);
}

template <class S>
SumOperator<S>::SumOperator(S alpha, OperatorReference<S> A,
                            const Coefficient<Ring::complex, S>& beta, OperatorReference<S> B)
    : detail::OperatorOfTwo<S>(std::move(A), std::move(B), "a sum"), alpha_(alpha), beta_(beta) {
  const LinearOperator<S>&a = this->left(), &b = this->right();
  if (a.rows() != b.rows() || a.row_components() != b.row_components() ||
      a.columns() != b.columns() || a.column_components() != b.column_components()) {
    using operator_algebra::text_of;
    throw Error(ErrorKind::size_mismatch,
                "a sum needs operators of one size, not rows " +
                    text_of(a.rows(), a.row_components()) + " and " +
                    text_of(b.rows(), b.row_components()) + " components, columns " +
                    text_of(a.columns(), a.column_components()) + " and " +
                    text_of(b.columns(), b.column_components()));
  }
  if (!detail::in_basis(a.row_basis(), b.row_basis()) ||
      !detail::in_basis(a.column_basis(), b.column_basis())) {
    throw Error(ErrorKind::size_mismatch,
                "a sum needs operators in one basis; make one in the other's, Operator<E>(matrix, "
                "plan, basis)");
  }
  if (!std::isfinite(alpha) || !operator_algebra::is_finite(beta)) {
    throw Error(ErrorKind::usage, "a coefficient of the sum is not finite");
  }
  if (is_real(beta)) return;
  if (a.ring() != Ring::complex || b.ring() != Ring::complex) {
    operator_algebra::refuse_complex("a sum");
  }
  multiple_ = {b.columns(), b.column_components(), b.vector_layout(), b.column_basis(), b.device()};
}

template <class S>
long long SumOperator<S>::bytes_of_product() const {
  const int passes = is_real(beta_) ? 1 : 3;
  return operator_algebra::bytes_of_both(this->left(), this->right(),
                                         passes * this->bytes_of_field());
}

template <class S>
std::shared_ptr<const LinearOperator<S>> SumOperator<S>::adjoint() const {
  return std::make_shared<SumOperator>(alpha_, this->left().adjoint(), conj(beta_),
                                       this->right().adjoint());
}

template <class S>
void SumOperator<S>::add_second(S factor, const FieldView<const S>& x, const FieldView<S>& y,
                                const Stream& stream) const {
  if (is_real(beta_)) return this->right().apply(factor * beta_.real(), x, S(1), y, stream);
  const FieldView<S> multiple = multiple_.view();
  axpby<S>(times(beta_, factor), x, Coefficient<Ring::complex, S>{}, multiple, stream);
  this->right().apply(S(1), multiple, S(1), y, stream);
}

template <class S>
void SumOperator<S>::apply(S alpha, const FieldView<const S>& x, S beta, const FieldView<S>& y,
                           const Stream& stream) const {
  this->left().apply(alpha * alpha_, x, beta, y, stream);
  add_second(alpha, x, y, stream);
}

template <class S>
sum_t<S> SumOperator<S>::residual(const FieldView<const S>& b, const FieldView<const S>& x,
                                  const FieldView<S>& r, Reduction<S>& reduction,
                                  const Stream& stream) const {
  if (alpha_ != 1) return LinearOperator<S>::residual(b, x, r, reduction, stream);
  check_apart(x, r, "x", "r");
  operator_algebra::copy_unless_same(b, r, stream);
  add_second(S(-1), x, r, stream);
  return this->left().residual(r, x, r, reduction, stream);
}

template <class S>
ProductOperator<S>::ProductOperator(OperatorReference<S> A, OperatorReference<S> B)
    : detail::OperatorOfTwo<S>(std::move(A), std::move(B), "a product") {
  const LinearOperator<S>&a = this->left(), &b = this->right();
  if (a.columns() != b.rows() || a.column_components() != b.row_components()) {
    using operator_algebra::text_of;
    throw Error(ErrorKind::size_mismatch, "a product needs columns that match rows, not " +
                                              text_of(a.columns(), a.column_components()) +
                                              " components and " +
                                              text_of(b.rows(), b.row_components()));
  }
  if (!detail::in_basis(a.column_basis(), b.row_basis())) {
    throw Error(ErrorKind::size_mismatch,
                "a product needs operators in one basis; make one in the other's, "
                "Operator<E>(matrix, plan, basis)");
  }
  image_ = {b.rows(), b.row_components(), b.vector_layout(), b.row_basis(), b.device()};
}

template <class S>
long long ProductOperator<S>::bytes_of_product() const {
  return operator_algebra::bytes_of_both(this->left(), this->right(), 0);
}

template <class S>
std::shared_ptr<const LinearOperator<S>> ProductOperator<S>::adjoint() const {
  return std::make_shared<ProductOperator>(this->right().adjoint(), this->left().adjoint());
}

template <class S>
void ProductOperator<S>::apply(S alpha, const FieldView<const S>& x, S beta, const FieldView<S>& y,
                               const Stream& stream) const {
  check_apart(x, y, "x", "y");
  const FieldView<S> image = image_.view();
  this->right().apply(S(1), x, S(0), image, stream);
  this->left().apply(alpha, image, beta, y, stream);
}

template <class S>
sum_t<S> ProductOperator<S>::residual(const FieldView<const S>& b, const FieldView<const S>& x,
                                      const FieldView<S>& r, Reduction<S>& reduction,
                                      const Stream& stream) const {
  check_apart(x, r, "x", "r");
  const FieldView<S> image = image_.view();
  this->right().apply(S(1), x, S(0), image, stream);
  return this->left().residual(b, image, r, reduction, stream);
}

#define HEDDLE_OPERATOR_ALGEBRA(S)         \
  template class detail::OperatorOfTwo<S>; \
  template class ShiftedOperator<S>;       \
  template class SumOperator<S>;           \
  template class ProductOperator<S>;
HEDDLE_OPERATOR_ALGEBRA(float)
HEDDLE_OPERATOR_ALGEBRA(double)
HEDDLE_IN_LONG_DOUBLE(HEDDLE_OPERATOR_ALGEBRA(long double))
#undef HEDDLE_OPERATOR_ALGEBRA

}  // namespace heddle
