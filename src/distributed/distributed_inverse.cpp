#include "heddle/distributed_inverse.hpp"

#include <span>
#include <string>
#include <vector>

#include "rank_transfer.hpp"
#include "root_exchange.hpp"
#include "solvers/inverse_parts.hpp"
#include "solvers/operator_checks.hpp"
#include "solvers/operator_field.hpp"
#include "solvers/preconditioner_fields.hpp"
#include "whole_matrix.hpp"

namespace heddle {

namespace distributed_inverse {
namespace {

detail::InverseForm form_of(PreconditionerKind kind) {
  switch (kind) {
    case PreconditionerKind::block_jacobi:
      return detail::InverseForm::blocks;
    case PreconditionerKind::fsai:
      return detail::InverseForm::factorized;
    case PreconditionerKind::isai:
      return detail::InverseForm::general;
    default:
      throw Error(ErrorKind::usage, "an inverse on ranks is block-jacobi, fsai or isai, not " +
                                        PreconditionerChoice(kind).text());
  }
}

PreconditionerChoice choice_of_root(Communicator& ranks, const PreconditionerChoice& choice) {
  const auto told =
      detail::told_by_root(ranks, std::vector{static_cast<int>(choice.kind), choice.number});
  return {static_cast<PreconditionerKind>(told[0]), told[1]};
}

template <class S>
Plan plan_of(const DistributedOperator<S>& matrix) {
  Plan plan = matrix.diagonal().plan();
  if (matrix.device().on_gpu()) plan.schedule.kind = ScheduleKind::full;
  return plan;
}

}  // namespace
}  // namespace distributed_inverse

template <class S>
struct DistributedInverse<S>::State {
  State(const DistributedOperator<S>& of, const PreconditionerChoice& given)
      : matrix(of),
        choice(distributed_inverse::choice_of_root(of.ranks(), given)),
        form(distributed_inverse::form_of(choice.kind)),
        plan(distributed_inverse::plan_of(of)),
        whole(of, plan) {
    together(ranks(), [&] {
      if (whole.is_root()) parts.emplace(whole.stored(), form, choice.number);
    });
    first = make_factor(parts ? &parts->first() : nullptr);
    if (form == detail::InverseForm::factorized) {
      second = make_factor(parts ? &parts->second() : nullptr);
      together(ranks(), [&] { between.emplace(detail::row_field_of<S>(matrix)); });
    }
    give_values();
  }

  Communicator& ranks() const { return matrix.ranks(); }

  /// Without values. Of `product` rank 0 keeps the rows, to send new values of them. Collective.
  struct Factor {
    detail::UserRows rows;
    std::shared_ptr<detail::RankTransfer<S>> product;
  };
  Factor make_factor(const detail::SlicedOperator<S>* of_all) {
    Factor factor;
    together(ranks(), [&] {
      if (of_all == nullptr) return;
      factor.rows = detail::stored_rows(of_all->pattern(), whole.host().stream());
    });
    PatternView pattern;
    if (of_all != nullptr) pattern = factor.rows.view();
    const RankRows own =
        detail::rows_from_root(ranks(), matrix.partition(), of_all != nullptr ? &pattern : nullptr);
    factor.product = std::make_shared<detail::RankTransfer<S>>(
        matrix, matrix, std::make_shared<const detail::EntryTable<S>>(matrix.diagonal().entry()),
        own, plan, matrix.device().sharing(nullptr));
    return factor;
  }

  void give(const Factor& factor, std::span<const std::byte> values) {
    PatternView pattern;
    if (parts) pattern = factor.rows.view();
    const auto bytes = static_cast<std::size_t>(matrix.diagonal().entry().bytes());
    const auto own = detail::values_from_root(ranks(), matrix.partition(),
                                              parts ? &pattern : nullptr, values, bytes);
    together(ranks(), [&] { factor.product->update_values(own); });
  }
  void give_values() {
    const std::span<const std::byte> none;
    give(first, parts ? parts->first_values() : none);
    if (second.product) give(second, parts ? parts->second_values() : none);
  }

  void refresh() {
    whole.refresh([&] {
      together(ranks(), [&] {
        if (parts) parts->refresh();
      });
      give_values();
    });
  }

  const DistributedOperator<S>& matrix;
  PreconditionerChoice choice;
  detail::InverseForm form;
  Plan plan;
  detail::WholeMatrix<S> whole;
  std::optional<detail::InverseParts<S>> parts;  // on rank 0
  Factor first, second;                          // G and G*, or the inverse alone
  std::optional<detail::OperatorField<S>> between;
};

template <class S>
DistributedInverse<S>::DistributedInverse(const DistributedOperator<S>& matrix,
                                          const PreconditionerChoice& choice)
    : state_(std::make_unique<State>(matrix, choice)) {}
template <class S>
DistributedInverse<S>::DistributedInverse(DistributedInverse&&) noexcept = default;
template <class S>
DistributedInverse<S>::~DistributedInverse() = default;

template <class S>
std::optional<FieldShape> DistributedInverse<S>::shape() const {
  return detail::shape_of<S>(state_->matrix);
}
template <class S>
void DistributedInverse<S>::refresh() {
  state_->refresh();
}
template <class S>
bool DistributedInverse<S>::is_hermitian() const {
  return state_->choice.info().is_hermitian;
}
template <class S>
bool DistributedInverse<S>::is_symmetric() const {
  return state_->choice.info().is_symmetric;
}
template <class S>
long long DistributedInverse<S>::bytes_of_application() const {
  long long bytes = state_->first.product->bytes_of_product();
  if (state_->second.product) bytes += state_->second.product->bytes_of_product();
  return bytes - 2 * detail::bytes_of_field<S>(state_->matrix);
}
template <class S>
long long DistributedInverse<S>::memory() const {
  long long bytes = state_->first.product->memory();
  if (state_->second.product) {
    bytes += state_->second.product->memory() + detail::bytes_of_field<S>(state_->matrix);
  }
  return bytes;
}

template <class S>
void DistributedInverse<S>::apply(const FieldView<const S>& r, const FieldView<S>& z,
                                  const Stream& stream) const {
  const State& state = *state_;
  const std::string who(state.choice.info().name);
  detail::check_operand(r, state.matrix.rows(), state.matrix.row_components(),
                        *state.matrix.row_basis(), who.c_str());
  check_same_shape(r, z, who.c_str());
  if (!state.between) return state.first.product->apply(S(1), r, S(0), z, stream);
  state.first.product->apply(S(1), r, S(0), state.between->view, stream);
  state.second.product->apply(S(1), FieldView<const S>(state.between->view), S(0), z, stream);
}

template <class S>
std::shared_ptr<Preconditioner<S>> DistributedOperator<S>::make_inverse(
    const PreconditionerChoice& choice) const {
  return std::make_shared<DistributedInverse<S>>(*this, choice);
}

template class DistributedInverse<float>;
template class DistributedInverse<double>;
template std::shared_ptr<Preconditioner<float>> DistributedOperator<float>::make_inverse(
    const PreconditionerChoice&) const;
template std::shared_ptr<Preconditioner<double>> DistributedOperator<double>::make_inverse(
    const PreconditionerChoice&) const;

}  // namespace heddle
