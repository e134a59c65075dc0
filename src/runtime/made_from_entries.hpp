// Preconditioners made from stored entries: by the storage itself, as on ranks, or from its entries
// in sliced storage. S is float or double.
#pragma once

#include <memory>
#include <optional>

#include "heddle/detail/sliced_operator.hpp"
#include "heddle/detail/stored_entries.hpp"

namespace heddle::detail {

/// The entries of a matrix while the parts of one preconditioner are made from them: each copy is
/// made once.
template <class S>
class EntriesOfParts final : public StoredEntries<S> {
 public:
  /// `takes_all`: a part is made from all entries, which include those on the diagonal. `stored`
  /// must outlive this.
  EntriesOfParts(const StoredEntries<S>& stored, bool takes_all)
      : stored_(stored), takes_all_(takes_all && stored.makes_copies()) {}

  bool has_inverses() const override { return stored_.has_inverses(); }
  SlicedOperator<S> sliced_diagonal() const override {
    if (takes_all_) return sliced();
    if (!diagonal_) diagonal_.emplace(stored_.sliced_diagonal());
    return *diagonal_;
  }
  SlicedOperator<S> sliced() const override {
    if (!all_) all_.emplace(stored_.sliced());
    return *all_;
  }
  /// Bytes of the copies, which the parts keep.
  long long copied_bytes() const {
    if (!stored_.makes_copies()) return 0;
    return (diagonal_ ? diagonal_->memory().total() : 0) + (all_ ? all_->memory().total() : 0);
  }

  std::shared_ptr<Preconditioner<S>> jacobi() const override { return stored_.jacobi(); }
  std::shared_ptr<Preconditioner<S>> make_inverse(
      const PreconditionerChoice& choice) const override {
    return stored_.make_inverse(choice);
  }
  MadeMultigrid<S> make_multigrid(int degree, const MultigridChoice& choice) const override {
    return stored_.make_multigrid(degree, choice);
  }

 private:
  const StoredEntries<S>& stored_;
  bool takes_all_;
  mutable std::optional<SlicedOperator<S>> diagonal_, all_;
};

/// Throws `Error` like `SlicedJacobi`.
template <class S>
std::shared_ptr<Preconditioner<S>> jacobi_of(const StoredEntries<S>& entries);
/// Block Jacobi, FSAI, ISAI or a factorization. Throws `Error` like their classes.
template <class S>
std::shared_ptr<Preconditioner<S>> inverse_of(const StoredEntries<S>& entries,
                                              const PreconditionerChoice& choice);
/// Throws `Error` like `Multigrid`.
template <class S>
MadeMultigrid<S> multigrid_of(const StoredEntries<S>& entries, int degree,
                              const MultigridChoice& choice);

}  // namespace heddle::detail
