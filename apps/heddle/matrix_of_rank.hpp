// A rank's rows of a matrix that has been read, and of fields that all ranks have.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "heddle/communicator.hpp"
#include "heddle/error.hpp"
#include "heddle/partition.hpp"
#include "heddle/plan_choice.hpp"
#include "heddle/runtime/any_matrix.hpp"
#include "heddle/runtime/any_solver.hpp"
#include "rank_options.hpp"
#include "rank_report.hpp"
#include "right_hand_side.hpp"

namespace heddle::cli {

/// Changes a chosen plan to one that ranks can store.
void distribute(PlanChoice& choice);

class MatrixOfRank {
 public:
  /// The rank's rows of `matrix`, which has all rows, or those of the rank alone in its order; with
  /// an adjoint if least squares are to multiply by it. Collective. `ranks` and `partition` must
  /// outlive it.
  MatrixOfRank(Communicator& ranks, const Partition& partition, const AnyMatrix& matrix,
               bool has_all_rows, const Plan& plan, const RankOptions& options,
               const Device& device, bool keeps_adjoint = false);

  const AnyLinearOperator& matrix() const { return *matrix_; }
  /// Another one of the same ranks and partition, of equal entries and precision, for fields of
  /// this one, which must outlive it. Collective.
  AnyLinearOperator in_own_basis(const MatrixOfRank& other) const;
  /// In sliced storage, for preconditioners of these rows alone.
  const AnyOperator& diagonal() const { return *diagonal_; }
  Communicator& ranks() const { return ranks_; }

  /// This rank's rows of a field that all ranks have.
  AnyField part_of(const AnyField& all) const;
  /// Zeros for all rows.
  AnyField whole_field() const;
  /// All rows of a field that each rank has a part of. Collective.
  AnyField gathered(AnyField& part) const;
  /// As `right_hand_side`: this rank's rows of b, and all rows of solutions. Collective.
  RightHandSide right_hand_side(const std::string& rhs, std::optional<int> count,
                                std::uint64_t seed, double shift) const;
  /// This rank's rows of fields in a file, see `cli::read_fields`.
  FieldsOfFile read_fields(const std::string& option, const std::string& path,
                           std::optional<int> count) const;
  /// Collective.
  RankSummary summary() const { return summary_(); }

 private:
  /// Among all rows, of this rank's.
  Offset row_at(long long own) const {
    return partition_.row(partition_.first_row(ranks_.rank()) + own);
  }

  Communicator& ranks_;
  const Partition& partition_;
  Precision precision_;
  std::optional<AnyLinearOperator> matrix_;
  std::optional<AnyOperator> diagonal_;
  std::function<RankSummary()> summary_;
};

}  // namespace heddle::cli
