// A rank's rows of a matrix that has been read, and of fields that all ranks have.
#pragma once

#include <functional>
#include <optional>

#include "heddle/communicator.hpp"
#include "heddle/partition.hpp"
#include "heddle/plan_choice.hpp"
#include "heddle/runtime/any_matrix.hpp"
#include "heddle/runtime/any_operator.hpp"
#include "rank_options.hpp"
#include "rank_report.hpp"

namespace heddle::cli {

/// Changes a chosen plan to one that ranks can store.
void distribute(PlanChoice& choice);

class MatrixOfRank {
 public:
  /// The rank's rows of `matrix`, which has either all rows or only those of the rank, in its
  /// order; with an adjoint if least squares are to multiply by it. Collective. `ranks` and
  /// `partition` must outlive it.
  MatrixOfRank(Communicator& ranks, const Partition& partition, const AnyMatrix& matrix,
               bool has_all_rows, const Plan& plan, const RankOptions& options,
               const Device& device, bool keeps_adjoint = false);

  const AnyLinearOperator& matrix() const { return *matrix_; }
  /// Another matrix of the same ranks and partition, with equal entries and precision, for fields
  /// of this one, which must outlive it. Collective.
  AnyLinearOperator in_own_basis(const MatrixOfRank& other) const;

  /// This rank's rows of a field that all ranks have.
  AnyField part_of(const AnyField& all) const;
  /// All rows of a field that each rank has a part of. Collective.
  AnyField gathered(AnyField& part) const;
  /// Sums up all ranks. Collective.
  RankSummary summary() const { return summary_(); }

 private:
  /// The index among all rows of this rank's row `own`.
  Offset row_at(long long own) const {
    return partition_.row(partition_.first_row(ranks_.rank()) + own);
  }

  Communicator& ranks_;
  const Partition& partition_;
  Precision precision_;
  std::optional<AnyLinearOperator> matrix_;
  std::function<RankSummary()> summary_;
};

}  // namespace heddle::cli
