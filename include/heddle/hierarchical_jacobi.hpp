// The Jacobi preconditioner of a matrix in hierarchical storage, which follows edits. Solvers that
// are chosen by name take that of a copy of the diagonal in sliced storage instead.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "heddle/detail/entry_table.hpp"
#include "heddle/detail/trees/tree_diagonal.hpp"
#include "heddle/editable_matrix.hpp"
#include "heddle/export.hpp"
#include "heddle/hierarchical_matrix.hpp"
#include "heddle/jacobi.hpp"
#include "heddle/operator.hpp"
#include "heddle/preconditioner.hpp"
#include "heddle/tools/memory_error.hpp"
#include "heddle/tools/team.hpp"

namespace heddle {

/// The inverse of each diagonal entry, applied from the left, as `Jacobi` does for sliced storage.
/// If an `EditableMatrix` has changed since the last solve, only those entries are inverted again
/// whose leaves the trees do not share. On a GPU it is `Jacobi` of the diagonal, which is read
/// again there.
template <class E>
class HEDDLE_EXPORT HierarchicalJacobi final : public Preconditioner<vector_scalar_t<E>> {
  static_assert(has_inverse<E>, "HierarchicalJacobi: 'inverse(a)' of the entry is missing");
  using A = arithmetic_t<E>;

 public:
  using scalar = vector_scalar_t<E>;

  /// Keeps a handle of the matrix. Entries that are missing, or have no inverse, count as in
  /// `Jacobi`. Throws `Error`: size_mismatch unless the matrix is square, singular with the first
  /// row, counted from 0, whose diagonal entry is not finite, memory.
  explicit HierarchicalJacobi(const EditableMatrix<E>& matrix)
      : matrix_(matrix), unit_(detail::unit_entry(*detail::entry_table<E>())) {
    detail::check_jacobi_sizes(matrix.rows(), matrix.columns());
    if (!matrix.device().on_gpu()) {
      inverses_ = Array<A>(static_cast<std::size_t>(matrix.rows()), matrix.device());
    }
    refresh();
  }
  explicit HierarchicalJacobi(const HierarchicalMatrix<E>& matrix)
      : HierarchicalJacobi(EditableMatrix<E>(matrix)) {}

  std::optional<FieldShape> shape() const override {
    if (on_gpu_) return on_gpu_->shape();
    return FieldShape{matrix_.rows(), matrix_.row_components(), nullptr, std::nullopt,
                      matrix_.device().stream().gpu};
  }
  /// If it throws, the next call inverts all entries.
  void refresh() override;
  long long bytes_of_application() const override {
    return matrix_.rows() * static_cast<long long>(sizeof(A));
  }

  /// Throws `Error` (size_mismatch) for fields that are not the matrix's.
  void apply(const FieldView<const scalar>& r, const FieldView<scalar>& z,
             const Stream& stream) const override {
    if (on_gpu_) return on_gpu_->apply(r, z, stream);
    detail::check_tree_field(r.size, r.components, r.basis.get(), matrix_.rows(),
                             matrix_.row_components(), "r of Jacobi");
    check_same_shape(r, z, "Jacobi");
    detail::for_each_product_group(groups_of(r.size), r.scalars(), {}, stream, [&](Index group) {
      const Index first = group * rows_of_group;
      apply_rows(r, z, first,
                 static_cast<Index>(std::min<Offset>(r.size, Offset(first) + rows_of_group)));
    });
  }
  bool acts_by_rows() const override { return !on_gpu_; }
  void apply_rows(const FieldView<const scalar>& r, const FieldView<scalar>& z, Index begin,
                  Index end) const override {
    static const detail::EntryTable<scalar> unused;
    detail::apply_inverses<A, scalar>(unused, inverses_.data(), r, z, begin, end);
  }

 private:
  static Operator<E> diagonal_of(const HierarchicalMatrix<E>& matrix);
  Index count_missing_as_unit(const std::vector<detail::DiagonalLeaf>& leaves);

  EditableMatrix<E> matrix_;
  std::optional<HierarchicalMatrix<E>> inverted_;  // whose inverses these are; none after a failure
  Array<A> inverses_;                              // row by row; on the CPU
  std::vector<double> unit_;
  std::optional<Jacobi<E>> on_gpu_;
};

/// The diagonal of a matrix on a GPU, read there; by the host if an entry is missing.
template <class E>
Operator<E> HierarchicalJacobi<E>::diagonal_of(const HierarchicalMatrix<E>& matrix) {
  const Device device = matrix.device();
  if constexpr (has_cuda) {
    if (const auto there = matrix.is_plain() ? matrix.on_gpu() : nullptr) {
      const auto rows = static_cast<std::size_t>(matrix.rows());
      Array<Offset> offsets(rows + 1, device);
      Array<Index> column(rows, device);
      Array<stored_scalar_t<E>> values(rows * E::components, device);
      if (cuda::diagonal_of_tree(*there, offsets.data(), column.data(), values.data())) {
        return Operator<E>(CsrView<E>{matrix.rows(), matrix.columns(), offsets.data(),
                                      column.data(), values.data(), row_major, device},
                           parse_plan("CSR"));
      }
    }
  }
  return Operator<E>(matrix.diagonal(), parse_plan("CSR"), device);
}

/// Rows in whose place the tree has no leaf. Returns the first one if there is no unit.
template <class E>
Index HierarchicalJacobi<E>::count_missing_as_unit(
    const std::vector<detail::DiagonalLeaf>& leaves) {
  const detail::Tree& tree = matrix_.matrix().tree();
  A unit{};
  detail::put_inverse(A{}, unit_.empty() ? nullptr : unit_.data(), unit);
  if (!unit_.empty()) std::fill(inverses_.begin(), inverses_.end(), unit);
  Index block = 0;
  for (const detail::DiagonalLeaf& leaf : leaves) block += leaf.block == block ? 1 : 0;
  const bool has_all = block >= tree.leaf.blocks_of(tree.rows);
  return has_all || !unit_.empty() ? tree.rows : block * tree.leaf.size();
}

template <class E>
void HierarchicalJacobi<E>::refresh() {
  const HierarchicalMatrix<E> now = matrix_.matrix();
  const bool has_same_state = inverted_ && inverted_->state() == now.state();
  if (has_same_state && &inverted_->scheduled() == &now.scheduled()) return;
  if (now.device().on_gpu()) {
    on_gpu_.emplace(diagonal_of(now));
    inverted_ = now;
    return;
  }
  const detail::Tree& tree = now.tree();
  const bool has_same_size = has_same_state && inverted_->node_size() == now.node_size();
  const std::optional<HierarchicalMatrix<E>> before = std::exchange(inverted_, std::nullopt);
  const auto leaves = detail::or_refuse_memory(
      "leaves of the diagonal", static_cast<std::size_t>(tree.leaf.blocks_of(tree.rows)),
      sizeof(detail::DiagonalLeaf),
      [&] { return detail::diagonal_leaves(tree, has_same_size ? &before->tree() : nullptr); });
  const double* const unit = unit_.empty() ? nullptr : unit_.data();
  Index first_singular = tree.rows;
  if (!has_same_size) first_singular = count_missing_as_unit(leaves);
  const int team =
      team_size(now.device().stream(), static_cast<Offset>(leaves.size()) * tree.leaf.size());
  const Index singular =
      parallel_min(team, leaves.size(), first_singular, [&](std::size_t i, Index& least) {
        detail::for_each_on_diagonal(tree, leaves[i], [&](Index row, const std::byte* stored) {
          A a{};
          if (stored != nullptr) {
            E entry;
            std::memcpy(&entry, stored, sizeof(E));
            a = load(now.as_stated(entry));
          }
          if (detail::put_inverse(a, unit, inverses_[static_cast<std::size_t>(row)])) return;
          least = std::min(least, row);
        });
      });
  if (singular < tree.rows) detail::refuse_diagonal(singular, unit != nullptr);
  inverted_ = now;
}

}  // namespace heddle
