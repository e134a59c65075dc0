// A matrix whose rows several ranks share, as an operator that solvers take unchanged.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "heddle/communicator.hpp"
#include "heddle/detail/entry_table.hpp"
#include "heddle/detail/sliced_operator.hpp"
#include "heddle/detail/stored_entries.hpp"
#include "heddle/export.hpp"
#include "heddle/linear_operator.hpp"
#include "heddle/partition.hpp"
#include "heddle/preconditioner.hpp"
#include "heddle/rank_exchange.hpp"

namespace heddle {

/// The entries of one rank in a matrix of all rows. `values` holds all entries, which have equal
/// sizes.
HEDDLE_EXPORT RankEntries entries_of_rank(const PatternView& pattern,
                                          std::span<const std::byte> values,
                                          const Partition& partition, int rank);

/// A plan in which a distributed matrix can be stored, as close to `plan` as possible: rows in
/// their own order or sorted by length within windows of at most 256, in which case the columns of
/// a row keep their given order; one slice length and number of threads for all rows, fields of
/// type aos, no copy in floats. Its rows have the bits that they have in one process under the same
/// plan.
HEDDLE_EXPORT Plan distributed_plan(Plan plan);

/// This rank's rows of a square matrix. Rows of groups that need columns of other ranks, boundary
/// rows, are stored whole after the others, the interior rows, with their entries in the order of
/// all ranks' columns. So a product has the same bits for any number of ranks and in every mode,
/// under the same plan. The same holds for sums, and with them for solves, in which all ranks make
/// the same decisions. A `split` boundary has the same bits in every mode and for any number of
/// threads, but not for any number of ranks.
///
/// Fields are this rank's rows. Solvers also take them in their own order; products, and sums with
/// the stream of `device()`, need them in its basis. Products, solves and everything that sums are
/// collective: a caller that may throw on one rank alone runs them in `guard`. It serves one thread
/// of a rank at a time. Several fields are multiplied one after the other. The adjoint product uses
/// another matrix, see `keep_adjoint`.
template <class S>
class HEDDLE_EXPORT DistributedOperator final : public LinearOperator<S>,
                                                public detail::StoredEntries<S> {
 public:
  /// Collective: ranks pass equal partitions, entries, plans, modes and storages. `values` holds
  /// those of all entries, in the order of `rows`. Copies rows and values. Throws one `Error` on
  /// all ranks: usage or size_mismatch if they disagree, if the partition is for another number of
  /// ranks, or if the rows are not those of the partition; out_of_range for columns that do not
  /// exist; bad_plan unless `distributed_plan` leaves the plan unchanged; else like `Operator<E>`.
  /// Either all ranks are on GPUs, which exchange as `transfer_of(ranks)` says, or none. `ranks`
  /// must outlive this object.
  DistributedOperator(Communicator& ranks, const Partition& partition,
                      detail::EntryTableHandle<S> entry, const RankRows& rows,
                      std::span<const std::byte> values, const Plan& plan,
                      ExchangeMode mode = ExchangeMode::task, const Device& device = Device::cpu(),
                      BoundaryStorage boundary = BoundaryStorage::whole);
  ~DistributedOperator() override;

  /// Makes A*, which least squares multiplies by, from the rows and values that A was made of:
  /// another distributed matrix, as large as this one. `adjoint()` returns it from then on.
  /// Collective. Throws one `Error` on all ranks: unsupported for entries without an adjoint,
  /// size_mismatch for other rows or values.
  void keep_adjoint(const RankRows& rows, std::span<const std::byte> values);

  /// Like `Operator<E>::update_values`, for this rank's entries in the order of its rows.
  /// Collective if an adjoint is kept, which gets the values too.
  void update_values(std::span<const std::byte> values);

  /// This rank's diagonal entries as a sliced matrix in the operator's basis. It follows new
  /// values.
  const detail::SlicedOperator<S>& diagonal() const;

  const detail::StoredEntries<S>* stored_entries() const override { return this; }
  bool has_inverses() const override { return diagonal().has_inverses(); }
  detail::SlicedOperator<S> sliced_diagonal() const override { return diagonal(); }
  /// Throws `Error` (unsupported): each rank has its own rows only, see `entries`.
  detail::SlicedOperator<S> sliced() const override;

  /// The Jacobi preconditioner of this matrix. Collective; throws one `Error` on all ranks:
  /// singular, with the rank and its own row, unsupported for entries without an inverse.
  std::shared_ptr<Preconditioner<S>> jacobi() const override;

  /// `DistributedMultigrid` of this matrix. Collective.
  detail::MadeMultigrid<S> make_multigrid(int degree, const MultigridChoice& choice) const override;
  /// `DistributedInverse` of this matrix. Collective.
  std::shared_ptr<Preconditioner<S>> make_inverse(
      const PreconditionerChoice& choice) const override;

  /// Another matrix of the same ranks, partition and row, such as the mass of an eigenproblem, for
  /// fields in the basis of this one; it permutes them on the way if the bases differ. This
  /// operator must outlive it. Collective. Throws one `Error` (size_mismatch) on all ranks.
  std::shared_ptr<const LinearOperator<S>> in_own_basis(
      std::shared_ptr<const DistributedOperator> other) const;

  /// This rank's entries with their current values, the columns of each row growing.
  RankEntries entries() const;

  Communicator& ranks() const;
  const Partition& partition() const;
  ExchangeMode mode() const;
  BoundaryStorage boundary() const;
  Index interior_rows() const;
  /// Rows of x that come from other ranks, and the number of ranks that send them.
  Index halo() const;
  int neighbours() const;
  RankTimes times() const;
  /// Bytes of this rank's storage and buffers, including those of an adjoint.
  long long memory() const;

  Index rows() const override;
  int row_components() const override;
  std::shared_ptr<const Basis> row_basis() const override;
  Device device() const override;
  Ring ring() const override;
  Recurrence recurrence() const override;
  /// True if the entries have an adjoint, which a Hermitian matrix needs.
  bool has_adjoint() const override;
  /// The adjoint that is kept; this operator must outlive it. Throws `Error` (unsupported) if none
  /// is kept, since its rows are on other ranks.
  std::shared_ptr<const LinearOperator<S>> adjoint() const override;
  long long bytes_of_product() const override;

  void apply(S alpha, const FieldView<const S>& x, S beta, const FieldView<S>& y,
             const Stream& stream) const override;
  sum_t<S> apply_dot(const FieldView<const S>& x, const FieldView<S>& y, Reduction<S>& reduction,
                     const Stream& stream) const override;
  sum_t<S> residual(const FieldView<const S>& b, const FieldView<const S>& x, const FieldView<S>& r,
                    Reduction<S>& reduction, const Stream& stream) const override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

extern template class DistributedOperator<float>;
extern template class DistributedOperator<double>;

/// A distributed matrix of entries E, with one value for each entry.
template <class E>
std::shared_ptr<DistributedOperator<vector_scalar_t<E>>> distribute(
    Communicator& ranks, const Partition& partition, const RankRows& rows,
    std::span<const E> values, const Plan& plan = {}, ExchangeMode mode = ExchangeMode::task,
    const Device& device = Device::cpu(), BoundaryStorage boundary = BoundaryStorage::whole) {
  return std::make_shared<DistributedOperator<vector_scalar_t<E>>>(
      ranks, partition, detail::entry_table<E>(), rows, std::as_bytes(values), plan, mode, device,
      boundary);
}

}  // namespace heddle
