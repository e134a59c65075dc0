// A matrix of entries from a definition in hierarchical storage. On a GPU the definition is printed
// as a C++ type and runs as one; the CPU runs its table of terms.
#pragma once

#include <memory>

#include "heddle/detail/sliced_operator.hpp"
#include "heddle/detail/trees/tree_operator.hpp"
#include "heddle/detail/trees/tree_sum.hpp"
#include "heddle/export.hpp"
#include "heddle/hierarchical_memory.hpp"
#include "heddle/runtime/defined_matrix.hpp"

namespace heddle {

namespace detail {

/// A or, if the definition has an adjoint, A*.
template <class S>
class HEDDLE_EXPORT DefinedTreeOperator : public TreeOperatorBase<S> {
 public:
  /// `on_gpu` is as in `TreeOperator`.
  DefinedTreeOperator(std::shared_ptr<const EntryDefinition> definition,
                      std::shared_ptr<const ScheduledTree> matrix, const Device& device,
                      TreeForm form,
                      const std::shared_ptr<const cuda::TreeOnGpu>& on_gpu = nullptr);

  int row_components() const override { return definition_->vector_size(); }
  int column_components() const override { return definition_->vector_size(); }
  Ring ring() const override { return definition_->ring; }
  bool has_adjoint() const override { return definition_->has_adjoint(); }
  /// The adjoint of the same tree. Throws `Error` (unsupported) for definitions without one.
  std::shared_ptr<const LinearOperator<S>> adjoint() const override;
  std::shared_ptr<const LinearOperator<S>> handle() const override;

  const std::shared_ptr<const EntryDefinition>& definition() const { return definition_; }

 protected:
  void sum_rows(const S* x, const RowStore<S>& y, Reduction<S>* reduction,
                const Stream& stream) const override;

 private:
  std::shared_ptr<const EntryDefinition> definition_;
  std::shared_ptr<const EntryDefinition> applied_;  // the definition whose product the CPU uses
};

}  // namespace detail

/// Like `HierarchicalMatrix<E>`, without edits. S is float or double.
template <class S>
class HEDDLE_EXPORT DefinedTree final : public detail::DefinedTreeOperator<S>,
                                        public detail::StoredEntries<S> {
 public:
  /// The matrix is copied. Throws `Error`: usage for impossible nodes, memory.
  explicit DefinedTree(const DefinedMatrix<S>& matrix, const NodeLayout& nodes = {},
                       const Device& device = Device::cpu());

  /// The entries by rows, columns sorted.
  DefinedMatrix<S> to_rows() const;

  // The same as in `HierarchicalMatrix<E>`.
  const detail::StoredEntries<S>* stored_entries() const override { return this; }
  bool has_inverses() const override;
  detail::SlicedOperator<S> sliced_diagonal() const override;
  detail::SlicedOperator<S> sliced() const override;
  bool makes_copies() const override { return true; }
  std::shared_ptr<const LinearOperator<S>> handle() const override;

  /// alpha A + beta B at every place that either has, or alpha A + beta B*. Both have one and the
  /// same definition. Throws `Error`: usage for two definitions or nodes of another size,
  /// size_mismatch, unsupported for a definition without an adjoint, memory.
  DefinedTree plus(S alpha, S beta, const DefinedTree& B, bool adjoint_of_b = false,
                   SumSchedule schedule = SumSchedule::kept) const;

 private:
  DefinedTree(detail::Tree tree, const DefinedTree& before);
};

extern template class DefinedTree<float>;
extern template class DefinedTree<double>;

}  // namespace heddle
