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

  /// Keeps a handle of the matrix. Throws `Error`: size_mismatch unless it is square, singular with
  /// the first row, counted from 0, whose diagonal entry is missing or has no inverse, memory.
  explicit HierarchicalJacobi(const EditableMatrix<E>& matrix) : matrix_(matrix) {
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

  EditableMatrix<E> matrix_;
  std::optional<HierarchicalMatrix<E>> inverted_;  // whose inverses these are; none after a failure
  Array<A> inverses_;                              // row by row; on the CPU
  std::optional<Jacobi<E>> on_gpu_;
};

/// The diagonal of a matrix on a GPU, read there; if an entry is missing, the host's error names
/// its row.
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
  // No leaf of a complete diagonal may be missing.
  Index first_singular = tree.rows;
  if (!has_same_size) {
    Index block = 0;
    for (const detail::DiagonalLeaf& leaf : leaves) block += leaf.block == block ? 1 : 0;
    if (block < tree.leaf.blocks_of(tree.rows)) first_singular = block * tree.leaf.size();
  }
  const int team =
      team_size(now.device().stream(), static_cast<Offset>(leaves.size()) * tree.leaf.size());
  const Index singular =
      parallel_min(team, leaves.size(), first_singular, [&](std::size_t i, Index& least) {
        detail::for_each_on_diagonal(tree, leaves[i], [&](Index row, const std::byte* stored) {
          E entry;
          if (stored != nullptr) {
            std::memcpy(&entry, stored, sizeof(E));
            const A a = load(now.as_stated(entry)), of_a = inverse(a);
            inverses_[static_cast<std::size_t>(row)] = of_a;
            if (!detail::is_singular(a, of_a)) return;
          }
          least = std::min(least, row);
        });
      });
  if (singular < tree.rows) detail::refuse_singular_diagonal(singular);
  inverted_ = now;
}

}  // namespace heddle
