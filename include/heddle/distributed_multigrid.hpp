// Algebraic multigrid for matrices whose rows several ranks share.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "heddle/distributed_operator.hpp"
#include "heddle/export.hpp"
#include "heddle/multigrid.hpp"
#include "heddle/preconditioner.hpp"
#include "heddle/runtime/preconditioner_choice.hpp"

namespace heddle {

namespace detail {
template <class S>
class RankHierarchy;
}

/// z = M r by one cycle of `Multigrid`, with the same bits for any number of ranks: rank 0 gathers
/// the matrix, sets its hierarchy up as one process does, and gives each rank its rows of all
/// levels. So rank 0 needs room for the whole matrix and its hierarchy, on its host, and keeps both
/// for new values. A rank has the rows of a coarse level that were made mostly of its own, in whole
/// groups of 256; a level of fewer than two groups for each rank, and the exact level, is on rank 0
/// alone. A sweep of Gauss-Seidel exchanges rows after each of its colours.
///
/// Set-up, `refresh` and applications are collective. `refresh` takes new values if any rank has
/// them. One application at a time.
template <class S>
class HEDDLE_EXPORT DistributedMultigrid final : public Preconditioner<S> {
 public:
  /// `candidates`: fields of this rank's rows, in its order or in A's basis. The options are those
  /// of rank 0. The matrix must outlive this object. Throws one `Error` on all ranks, as
  /// `Multigrid` does; usage also if the ranks differ in the number of candidates.
  explicit DistributedMultigrid(const DistributedOperator<S>& matrix,
                                const MultigridOptions& options = {},
                                std::span<const FieldView<const S>> candidates = {});
  /// The preconditioner that the options name. The points and candidates of the choice are those of
  /// the rows of all ranks, and rank 0's are taken.
  DistributedMultigrid(const DistributedOperator<S>& matrix, int degree,
                       const MultigridChoice& choice);
  DistributedMultigrid(DistributedMultigrid&&) noexcept;
  ~DistributedMultigrid() override;

  std::optional<FieldShape> shape() const override;
  void refresh() override;
  bool is_constant() const override;
  bool is_symmetric() const override;
  long long bytes_of_application() const override;
  /// Throws `Error` (size_mismatch) for fields that are not the operator's.
  void apply(const FieldView<const S>& r, const FieldView<S>& z,
             const Stream& stream) const override;

  /// A report on the levels of all ranks, the same on each. `host_bytes` are those of rank 0,
  /// `device_bytes` those of all ranks together.
  MultigridReport report() const;

 private:
  std::unique_ptr<detail::RankHierarchy<S>> hierarchy_;
};

extern template class DistributedMultigrid<float>;
extern template class DistributedMultigrid<double>;

}  // namespace heddle
