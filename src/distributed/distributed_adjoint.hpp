// The adjoint of a matrix whose rows ranks share: another such matrix.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "heddle/distributed_operator.hpp"
#include "heddle/rank_triplets.hpp"
#include "operator_in_basis.hpp"

namespace heddle::detail {

/// How a distributed matrix is stored.
struct DistributedForm {
  Plan plan;
  ExchangeMode mode;
  Device device;
  BoundaryStorage boundary;
  std::size_t entries;  // on a rank
};

/// Its rows are A's columns: every entry has been sent to the rank that has the row of its column.
/// Fields come in A's basis.
template <class S>
class DistributedAdjoint final : public LinearOperator<S> {
 public:
  /// Collective. `rows`, `values`: those that A was made from. `of` must outlive it. Throws one
  /// `Error` (unsupported) on all ranks for entries without a stored adjoint.
  DistributedAdjoint(const DistributedOperator<S>& of, Communicator& ranks,
                     const EntryTableHandle<S>& entry, const RankRows& rows,
                     std::span<const std::byte> values, const DistributedForm& form);

  /// Takes new values of A. Collective.
  void update_values(std::span<const std::byte> values);

  const DistributedOperator<S>& stored() const { return *adjoint_; }

  Index rows() const override { return of_.rows(); }
  int row_components() const override { return of_.row_components(); }
  std::shared_ptr<const Basis> row_basis() const override { return of_.row_basis(); }
  Device device() const override { return of_.device(); }
  Ring ring() const override { return of_.ring(); }
  Recurrence recurrence() const override { return of_.recurrence(); }
  long long bytes_of_product() const override;

  void apply(S alpha, const FieldView<const S>& x, S beta, const FieldView<S>& y,
             const Stream& stream) const override;

 private:
  std::vector<std::byte> values_of_rows(std::span<const std::byte> values) const;

  const DistributedOperator<S>& of_;
  EntryTableHandle<S> entry_;  // A's
  std::optional<TripletExchange> exchange_;
  OrderedTriplets ordered_;
  std::shared_ptr<DistributedOperator<S>> adjoint_;
  std::optional<OperatorInBasis<S>> in_basis_;
};

}  // namespace heddle::detail
