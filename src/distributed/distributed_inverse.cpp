#include "heddle/distributed_inverse.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "distributed/exchange/root_exchange.hpp"
#include "overlapping_rows.hpp"
#include "rank_groups.hpp"
#include "rank_operator.hpp"
#include "shared_rows.hpp"
#include "solvers/inverses/local_inverse.hpp"
#include "solvers/operators/operator_checks.hpp"
#include "solvers/operators/operator_field.hpp"
#include "solvers/preconditioners/preconditioner_fields.hpp"

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
      throw Error(ErrorKind::usage,
                  "the inverse on ranks must be block-jacobi, fsai or isai, not " +
                      PreconditionerChoice(kind).text());
  }
}

PreconditionerChoice choice_of_root(Communicator& ranks, const PreconditionerChoice& choice) {
  const auto of_root =
      detail::broadcast_from_root(ranks, std::vector{static_cast<int>(choice.kind), choice.number});
  return {static_cast<PreconditionerKind>(of_root[0]), of_root[1]};
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
  using D = sum_t<S>;

  State(const DistributedOperator<S>& of, const PreconditionerChoice& given)
      : matrix(of),
        choice(distributed_inverse::choice_of_root(of.ranks(), given)),
        form(distributed_inverse::form_of(choice.kind)),
        plan(distributed_inverse::plan_of(of)),
        entry(std::make_shared<const detail::EntryTable<S>>(of.diagonal().entry())) {
    RankEntries own;
    together(ranks(), [&] {
      const int threads = matrix.device().threads();
      local.emplace(*entry, entry, form, choice.number, Device::cpu(threads));
      own = matrix.entries();
    });
    make_pattern(own.rows);
    own.rows = {};
    make_factors();
    compute(own.values);
  }

  Communicator& ranks() const { return matrix.ranks(); }

  /// Makes the pattern of the rows that this rank has, and then of all that their systems need.
  /// Requests that cannot be met are refused by `together`; `guard` has exchanges.
  void make_pattern(const RankRows& own) {
    const Partition& partition = matrix.partition();
    if (form == detail::InverseForm::blocks) {
      detail::RankGroups groups;
      guard(ranks(), [&] {
        groups = detail::groups_of_rank(ranks(), partition, own, choice.number,
                                        local->max_rows_of_block());
        overlap.emplace(ranks(), partition, std::move(groups.ghosts));
        local->choose_rows(overlap->rows_of_rank());
      });
      together(ranks(), [&] { local->make_blocks(std::move(groups.starts)); });
    } else {
      guard(ranks(), [&] {
        auto reached = detail::reached_rows(ranks(), partition, own, choice.number);
        overlap.emplace(ranks(), partition, std::move(reached.numbers));
        overlap->set_rows(own, reached.known, reached.of_known);
        local->choose_rows(overlap->rows_of_rank());
      });
      const detail::UserRows& rows = overlap->rows();
      const Index row = local->first_without_diagonal(rows);
      refuse_first(row, rows.rows(), [&] { local->refuse_without_diagonal(row); });
      together(ranks(), [&] { local->make_powers(rows); });
    }
    guard(ranks(), [&] { overlap->fetch_rows(own, local->pattern()); });
    together(ranks(), [&] { local->check_memory(overlap->rows().entries()); });
  }

  /// The flag of ranks whose iterations a graph holds; null for others.
  const int* given_up() const {
    const auto* const rows =
        dynamic_cast<const detail::SharedRows*>(matrix.device().stream().share);
    return rows != nullptr && rows->may_be_captured(&matrix) ? rows->given_up() : nullptr;
  }
  std::shared_ptr<detail::RankOperator<S>> make_factor(const RankRows& own) {
    return std::make_shared<detail::RankOperator<S>>(matrix, matrix, entry, own, plan,
                                                     matrix.device().sharing(nullptr), given_up());
  }
  void make_factors() {
    RankRows rows;
    together(ranks(), [&] { rows = overlap->rows_among_all(local->pattern()); });
    first = make_factor(rows);
    if (form != detail::InverseForm::factorized) return;
    guard(ranks(), [&] {
      of_adjoint.emplace(*overlap, local->make_adjoint_pattern());
      rows = of_adjoint->take_rows();
    });
    second = make_factor(rows);
    together(ranks(), [&] { between.emplace(detail::row_field_of<S>(matrix)); });
  }

  /// Calls `refuse`, which throws, on the rank whose `row` comes first among all ranks, if any.
  template <class Refuse>
  void refuse_first(Index row, Index rows, const Refuse& refuse) {
    constexpr long long none = std::numeric_limits<long long>::max();
    const std::vector<long long> all = gather(ranks(), row < rows ? local->row_of_all(row) : none);
    const auto least = std::min_element(all.begin(), all.end());
    if (*least == none) return;
    together(ranks(), [&] {
      if (least - all.begin() == ranks().rank()) refuse();
    });
  }

  void compute(std::span<const std::byte> own) {
    const int count = entry->sizes.components, bytes = entry->sizes.stored_bytes;
    const detail::UserRows& rows = overlap->rows();
    const Index none = rows.rows();
    detail::FailedRows failed{none, none, none};
    Array<D> values;
    guard(ranks(), [&] { values = overlap->template components<D>(own, count, bytes); });
    together(ranks(), [&] { failed = local->compute(rows, std::as_const(values).span()); });
    values = {};
    // Same as in one process: the first singular row of all, then the other kinds.
    for (const auto kind : {&detail::FailedRows::singular, &detail::FailedRows::too_large,
                            &detail::FailedRows::without_entry}) {
      detail::FailedRows of_kind{none, none, none};
      of_kind.*kind = failed.*kind;
      refuse_first(failed.*kind, none, [&] { local->check_rows(of_kind, none); });
    }
    std::vector<std::byte> of_second;
    guard(ranks(), [&] {
      const auto size = static_cast<std::size_t>(entry->bytes());
      if (second) of_second = of_adjoint->values(local->second_values(), size);
    });
    together(ranks(), [&] {
      first->update_values(local->first_values());
      if (second) second->update_values(of_second);
      local->forget_values();
    });
    generation = matrix.diagonal().generation();
  }

  void refresh() {
    const bool has_news = matrix.diagonal().generation() != generation;
    const std::vector<long long> news = gather(ranks(), has_news ? 1 : 0);
    if (std::find(news.begin(), news.end(), 1) == news.end()) return;
    RankEntries own;
    together(ranks(), [&] { own = matrix.entries(); });
    compute(own.values);
  }

  const DistributedOperator<S>& matrix;
  PreconditionerChoice choice;
  detail::InverseForm form;
  Plan plan;
  detail::EntryTableHandle<S> entry;
  std::optional<detail::LocalInverse<S>> local;
  std::optional<detail::OverlappingRows> overlap;
  std::optional<detail::AdjointRows> of_adjoint;           // only for G*
  std::shared_ptr<detail::RankOperator<S>> first, second;  // G and G*, or the inverse alone
  std::optional<detail::OperatorField<S>> between;
  long long generation = -1;
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
bool DistributedInverse<S>::is_capturable() const {
  return state_->first->may_be_captured() && (!state_->second || state_->second->may_be_captured());
}
template <class S>
long long DistributedInverse<S>::bytes_of_application() const {
  long long bytes = state_->first->bytes_of_product();
  if (state_->second) bytes += state_->second->bytes_of_product();
  return bytes - 2 * detail::bytes_of_field<S>(state_->matrix);
}
template <class S>
long long DistributedInverse<S>::memory() const {
  long long bytes = state_->first->memory();
  if (state_->second) {
    bytes += state_->second->memory() + detail::bytes_of_field<S>(state_->matrix);
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
  if (!state.between) return state.first->apply(S(1), r, S(0), z, stream);
  state.first->apply(S(1), r, S(0), state.between->view, stream);
  state.second->apply(S(1), FieldView<const S>(state.between->view), S(0), z, stream);
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
