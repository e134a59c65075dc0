#include "operator_in_basis.hpp"

#include <utility>

namespace heddle {

namespace detail {

template <class S>
OperatorInBasis<S>::OperatorInBasis(const DistributedOperator<S>& of,
                                    std::shared_ptr<const DistributedOperator<S>> stored)
    : of_(of),
      stored_(std::move(stored)),
      permutes_(!same_basis(*of.row_basis(), *stored_->row_basis())) {
  if (!permutes_) return;
  const auto count =
      static_cast<std::size_t>(of.rows()) * static_cast<std::size_t>(of.row_components());
  constexpr std::size_t line = 64 / sizeof(S);
  const std::size_t apart = (count + line - 1) / line * line;
  scalars_ = Array<S>(apart + count, of.device());
  x_ = {scalars_.data(), of.rows(), of.row_components(), VectorLayout::aos, stored_->row_basis()};
  y_ = x_;
  y_.data += apart;
}

template <class S>
void OperatorInBasis<S>::apply(S alpha, const FieldView<const S>& x, S beta, const FieldView<S>& y,
                               const Stream& stream) const {
  check_operand(x, rows(), row_components(), *row_basis(), "x");
  if (!x.is_aos() || !y.is_aos()) {  // all ranks refuse it, those that permute too
    throw Error(ErrorKind::size_mismatch, "x, y: rows must lie one after the other");
  }
  check_apart(x, y, "x", "y");
  Stream own = stream;
  own.share = stored_->device().stream().share;
  if (!permutes_) {
    // Comparing bases row by row would take longer than the product.
    const auto named = [&](auto field) {
      if (field.basis == of_.row_basis()) field.basis = stored_->row_basis();
      return field;
    };
    return stored_->apply(alpha, named(x), beta, named(y), own);
  }
  permute<S>(x, x_, S(1), stream);
  if (beta != S(0)) permute<S>(FieldView<const S>(y), y_, S(1), stream);
  stored_->apply(alpha, x_, beta, y_, own);
  permute<S>(FieldView<const S>(y_), y, S(1), stream);
}

template class OperatorInBasis<float>;
template class OperatorInBasis<double>;

}  // namespace detail

template <class S>
std::shared_ptr<const LinearOperator<S>> DistributedOperator<S>::in_own_basis(
    std::shared_ptr<const DistributedOperator> other) const {
  std::shared_ptr<const LinearOperator<S>> made;
  together(ranks(), [&] {
    if (other == nullptr || &other->ranks() != &ranks() || other->partition() != partition() ||
        other->row_components() != row_components() ||
        other->device().stream().gpu != device().stream().gpu) {
      throw Error(ErrorKind::size_mismatch,
                  "operators of different ranks, partitions, entries or devices share no basis");
    }
    made = std::make_shared<detail::OperatorInBasis<S>>(*this, std::move(other));
  });
  return made;
}

template std::shared_ptr<const LinearOperator<float>> DistributedOperator<float>::in_own_basis(
    std::shared_ptr<const DistributedOperator>) const;
template std::shared_ptr<const LinearOperator<double>> DistributedOperator<double>::in_own_basis(
    std::shared_ptr<const DistributedOperator>) const;

}  // namespace heddle
