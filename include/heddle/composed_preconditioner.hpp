// Preconditioners made of preconditioners: applied one after the other, or each to the residual
// that the earlier ones have left.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "heddle/export.hpp"
#include "heddle/linear_operator.hpp"
#include "heddle/preconditioner.hpp"

namespace heddle {

namespace detail {

/// The base of both compositions. Parts may be the same object more than once.
template <class S>
class HEDDLE_EXPORT ComposedPreconditioner : public Preconditioner<S> {
 public:
  std::optional<FieldShape> shape() const override;
  /// Renews each part.
  void refresh() override;
  void set_watch(const InnerWatch* watch) override;
  Workspace workspace() const override;
  bool is_constant() const override;
  /// True for Hermitian parts that read the same from both ends, such as {a, b, a}.
  bool is_hermitian() const override { return is_palindrome() && all_hermitian(); }
  bool is_symmetric() const override { return is_palindrome() && all_symmetric(); }
  bool is_capturable() const override;
  bool refreshes_in_graph() const override;
  bool can_queue_refresh() const override;
  void queue_refresh(Index* singular_row, const Stream& stream) override;

 protected:
  using Parts = std::vector<std::shared_ptr<Preconditioner<S>>>;

  ComposedPreconditioner(OperatorReference<S> matrix, Parts parts, const char* name, int fields);

  const LinearOperator<S>& matrix() const { return *matrix_; }
  const Parts& parts() const { return parts_; }
  const FieldView<S>& field(std::size_t i) const { return fields_[i]; }
  void check_operands(const FieldView<const S>& r, const FieldView<S>& z) const;
  /// Bytes of all parts, and one read and one written field for each.
  long long bytes_of_parts() const;
  long long bytes_of_field() const;

 private:
  bool is_palindrome() const;
  bool all_hermitian() const;
  bool all_symmetric() const;
  /// True if part i is not the same object as an earlier one.
  bool is_first(std::size_t i) const;

  OperatorReference<S> matrix_;
  Parts parts_;
  const char* name_;
  std::vector<Array<S>> storage_;
  std::vector<FieldView<S>> fields_;
};

}  // namespace detail

/// z = P_1 P_2 ... P_n r: in {a, b}, b comes first, as in a product of matrices. {a, b, a} is
/// Hermitian if a and b are, and positive definite if b is and a is regular: the symmetric form
/// that conjugate gradient accepts, such as a scaling on both sides of b.
///
/// Keeps one field of its own. One application at a time.
template <class S>
class HEDDLE_EXPORT ProductPreconditioner final : public detail::ComposedPreconditioner<S> {
 public:
  /// `matrix` is the operator whose fields the parts take. Throws `Error`: usage for no part or a
  /// null one, size_mismatch or usage for a part of other fields.
  ProductPreconditioner(OperatorReference<S> matrix,
                        std::vector<std::shared_ptr<Preconditioner<S>>> parts);

  long long bytes_of_application() const override;
  /// Throws `Error` (size_mismatch) for fields that are not the operator's.
  void apply(const FieldView<const S>& r, const FieldView<S>& z,
             const Stream& stream) const override;
};

/// z = P_1 r, then z += P_k (r - A z) for each other part: the multiplicative combination of Saad,
/// Iterative Methods for Sparse Linear Systems, 14.3, with I - M^-1 A = (I - P_n A) ... (I - P_1
/// A). {a, b, a} is Hermitian if A, a and b are. It is positive definite if b is and all
/// eigenvalues of a A lie below 2; Chebyshev's meets this, so put it on both sides.
///
/// Takes one product for each part except the first, and keeps two fields of its own. One
/// application at a time. Under iteration-precision=single it multiplies with the copy in floats.
template <class S>
class HEDDLE_EXPORT MultiplicativePreconditioner final : public detail::ComposedPreconditioner<S> {
 public:
  /// Throws `Error` like `ProductPreconditioner`.
  MultiplicativePreconditioner(OperatorReference<S> matrix,
                               std::vector<std::shared_ptr<Preconditioner<S>>> parts);

  bool is_capturable() const override;
  long long bytes_of_application() const override;
  /// Throws `Error` (size_mismatch) for fields that are not the operator's.
  void apply(const FieldView<const S>& r, const FieldView<S>& z,
             const Stream& stream) const override;
};

namespace detail {

template <class S, class P>
std::shared_ptr<Preconditioner<S>> shared_part(std::shared_ptr<P> part) {
  return part;
}
template <class S, class P>
  requires std::is_base_of_v<Preconditioner<S>, P>
std::shared_ptr<Preconditioner<S>> shared_part(P part) {
  return std::make_shared<P>(std::move(part));
}

}  // namespace detail

/// P Q as a preconditioner of A. Takes its parts by value, or shares pointers.
template <class M, class P, class Q, class S = operator_scalar_t<M>>
ProductPreconditioner<S> product(M&& A, P first, Q second) {
  return {OperatorReference<S>(std::forward<M>(A)),
          {detail::shared_part<S>(std::move(first)), detail::shared_part<S>(std::move(second))}};
}
/// P Q P, Hermitian if both are.
template <class M, class P, class Q, class S = operator_scalar_t<M>>
ProductPreconditioner<S> symmetric_product(M&& A, P outer, Q inner) {
  const std::shared_ptr<Preconditioner<S>> both = detail::shared_part<S>(std::move(outer));
  return {OperatorReference<S>(std::forward<M>(A)),
          {both, detail::shared_part<S>(std::move(inner)), both}};
}

/// P, then Q on the residual that P leaves.
template <class M, class P, class Q, class S = operator_scalar_t<M>>
MultiplicativePreconditioner<S> multiplicative(M&& A, P first, Q second) {
  return {OperatorReference<S>(std::forward<M>(A)),
          {detail::shared_part<S>(std::move(first)), detail::shared_part<S>(std::move(second))}};
}
/// P, Q and P again: Hermitian if both are.
template <class M, class P, class Q, class S = operator_scalar_t<M>>
MultiplicativePreconditioner<S> symmetric_multiplicative(M&& A, P outer, Q inner) {
  const std::shared_ptr<Preconditioner<S>> both = detail::shared_part<S>(std::move(outer));
  return {OperatorReference<S>(std::forward<M>(A)),
          {both, detail::shared_part<S>(std::move(inner)), both}};
}

extern template class detail::ComposedPreconditioner<float>;
extern template class detail::ComposedPreconditioner<double>;
extern template class detail::ComposedPreconditioner<long double>;
extern template class ProductPreconditioner<float>;
extern template class ProductPreconditioner<double>;
extern template class ProductPreconditioner<long double>;
extern template class MultiplicativePreconditioner<float>;
extern template class MultiplicativePreconditioner<double>;
extern template class MultiplicativePreconditioner<long double>;

}  // namespace heddle
