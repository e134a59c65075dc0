#include "matrix_of_rank.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <variant>

#include "description/scaling.hpp"
#include "gathered_rows.hpp"
#include "heddle/distributed_operator.hpp"

namespace heddle::cli {

void distribute(PlanChoice& choice) {
  const Plan plan = distributed_plan(choice.plan);
  if (plan == choice.plan) return;
  choice.plan = plan;
  choice.reason += ", changed to what ranks can store";
}

namespace {

RankEntries entries_of(const AnyMatrix& matrix, bool has_all_rows, const Partition& partition,
                       int rank) {
  const PatternView pattern = matrix.pattern();
  if (has_all_rows) return entries_of_rank(pattern, matrix.values(), partition, rank);
  return entries_of_rank(pattern, matrix.values(), Partition({0, pattern.rows}), 0);
}

}  // namespace

MatrixOfRank::MatrixOfRank(Communicator& ranks, const Partition& partition, const AnyMatrix& matrix,
                           bool has_all_rows, const Plan& plan, const RankOptions& options,
                           const Device& device, bool keeps_adjoint)
    : ranks_(ranks), partition_(partition), precision_(matrix.precision()) {
  const RankEntries own = entries_of(matrix, has_all_rows, partition, ranks.rank());
  detail::ExchangeChoice exchange;
  if (const auto named = options.mode()) {
    exchange = {*named, "by --exchange"};
  } else {
    exchange = detail::choose_exchange(ranks, partition, matrix, device);
  }
  std::visit(
      [&]<class S>(const detail::EntryTableHandle<S>& entry) {
        auto made = std::make_shared<DistributedOperator<S>>(ranks, partition, entry, own.rows,
                                                             own.values, plan, exchange.mode,
                                                             device, options.boundary_storage());
        if (keeps_adjoint) made->keep_adjoint(own.rows, own.values);
        matrix_.emplace(matrix.entry(), std::shared_ptr<const LinearOperator<S>>(made));
        summary_ = [&ranks, made, reason = exchange.reason] {
          RankSummary summary = summary_of(ranks, *made);
          summary.exchange_reason = reason;
          return summary;
        };
      },
      detail::entry_table_of(matrix));
}

AnyLinearOperator MatrixOfRank::in_own_basis(const MatrixOfRank& other) const {
  return matrix_->visit([&]<class S>(const std::shared_ptr<const LinearOperator<S>>& own) {
    const auto theirs = std::get<std::shared_ptr<const LinearOperator<S>>>(
        other.matrix_->visit([](const auto& M) -> AnyLinearOperator::Matrix { return M; }));
    using Distributed = DistributedOperator<S>;
    return AnyLinearOperator(other.matrix_->entry(),
                             static_cast<const Distributed&>(*own).in_own_basis(
                                 std::static_pointer_cast<const Distributed>(theirs)));
  });
}

AnyField MatrixOfRank::part_of(const AnyField& all) const {
  AnyField part = matrix_->row_field();
  const Offset width = part.components();
  for (Offset own = 0; own < part.rows(); ++own) {
    const Offset row = row_at(own);
    for (Offset k = 0; k < width; ++k) part.set(own * width + k, all.get(row * width + k));
  }
  return part;
}

AnyField MatrixOfRank::gathered(AnyField& part) const {
  AnyField all(static_cast<Index>(partition_.rows()), part.components(), precision_, Device::cpu());
  gather_rows(ranks_, partition_, part, all);
  return all;
}

}  // namespace heddle::cli
