// Hierarchical storage of a sparse matrix: a tree of small nodes, for both A x and A* x, for sums
// and for edits (HiSparse: Derler, Zayer, Seidel and Steinberger 2017). See
// docs/guide/hierarchical.md.
#pragma once

#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "heddle/config.hpp"
#include "heddle/coo.hpp"
#include "heddle/csr.hpp"
#include "heddle/detail/component_rules.hpp"
#include "heddle/detail/trees/tree_building_cuda.hpp"
#include "heddle/detail/trees/tree_diagonal.hpp"
#include "heddle/detail/trees/tree_edit.hpp"
#include "heddle/detail/trees/tree_operator.hpp"
#include "heddle/detail/trees/tree_sum.hpp"
#include "heddle/edit_batch.hpp"
#include "heddle/expansion.hpp"
#include "heddle/export.hpp"
#include "heddle/hierarchical_memory.hpp"
#include "heddle/operator.hpp"
#include "heddle/runtime/entry_kind.hpp"
#include "heddle/tools/memory_error.hpp"
#include "heddle/tools/team.hpp"
#include "heddle/triplets.hpp"

namespace heddle {

namespace detail {

/// Reads a tree's matrix by rows, or its transpose, columns sorted. `offsets` holds rows + 1 zeros
/// on entry; values are as they lie in the tree.
HEDDLE_EXPORT void read_rows(const ScheduledTree& matrix, bool transposes,
                             std::span<Offset> offsets, std::span<Index> column, std::byte* values,
                             const Device& device);

/// A tree without entries. Throws `Error`: out_of_range for sizes below 0.
HEDDLE_EXPORT Tree empty_tree(Index rows, Index columns, const NodeShape& leaf);

}  // namespace detail

template <class E>
class HierarchicalJacobi;
template <class E>
class DynamicProduct;
template <class Operation>
class TreeScheduler;
template <class E>
class MatrixPencil;

/// An immutable matrix, and a handle: copies share it. Edits and sums make another one. As an
/// operator it takes fields in the user's order, has the same bits in every run, and gives A* and
/// A^T without a second copy. Its state, a form and a factor, is apart from the tree (section 3.1
/// of the paper): everything below takes the matrix as its state has it. On a GPU fields are AoS. A
/// GPU makes trees from arrays in its memory, and adds and edits them there; the host has a copy of
/// such a tree as soon as it reads it.
template <class E>
class HEDDLE_EXPORT HierarchicalMatrix final : public detail::TreeOperator<E>,
                                               public detail::StoredEntries<vector_scalar_t<E>> {
  static_assert(check_entry<E>());
  static_assert(sizeof(stored_scalar_t<E>) <= 8, "hierarchical storage aligns scalars to 8 bytes");
  using Base = detail::TreeOperator<E>;
  using TreeForm = detail::TreeForm;
  static constexpr bool can_add = std::is_same_v<E, arithmetic_t<E>>;
  static constexpr bool has_transpose =
      heddle::has_adjoint<E> && detail::has_form<TreeForm::transpose, arithmetic_t<E>>;

 public:
  using scalar = vector_scalar_t<E>;

  /// Made from assembled rows, which are copied; columns need not be sorted. The GPU builds it from
  /// arrays in its memory; from arrays in the host's memory a team of threads builds it. The tree
  /// is the same either way. Throws `Error`: usage for impossible nodes, malformed_file and
  /// out_of_range for a pattern like `check_pattern`, memory, before the tree is allocated, if the
  /// tree and the schedule of a product exceed `memory_limit` bytes, by default the available
  /// memory. Building takes some more bytes per node.
  explicit HierarchicalMatrix(const CsrView<E>& matrix, const NodeLayout& nodes = {},
                              const Device& device = Device::cpu(),
                              const std::optional<long long>& memory_limit = {})
      : Base(build(matrix, nodes, device, memory_limit), device) {}
  explicit HierarchicalMatrix(const CsrMatrix<E>& matrix, const NodeLayout& nodes = {},
                              const Device& device = Device::cpu())
      : HierarchicalMatrix(matrix.view(), nodes, device) {}
  /// Made from entries in any order, each in a place of its own, as above.
  explicit HierarchicalMatrix(const CooView<E>& matrix, const NodeLayout& nodes = {},
                              const Device& device = Device::cpu(),
                              const std::optional<long long>& memory_limit = {})
      : Base(build(matrix, nodes, device, memory_limit), device) {}
  /// Made without entries, to be filled by edits, with memory for those alone. Throws `Error`:
  /// out_of_range for sizes below 0, usage as above.
  HierarchicalMatrix(Index rows, Index columns, const NodeLayout& nodes = {},
                     const Device& device = Device::cpu())
      : Base(detail::scheduled(
                 detail::empty_tree(rows, columns, detail::leaf_shape(nodes, int{sizeof(E)})),
                 nodes.launch, detail::team_of(device)),
             device) {}
  /// Made from triplets in any order; triplets in one place are added in the order given. No
  /// compressed rows are made. Also throws `Error`: out_of_range for a triplet beyond the matrix,
  /// usage for two encoded entries in one place, memory.
  HierarchicalMatrix(Index rows, Index columns, std::span<const Triplet<E>> triplets,
                     const NodeLayout& nodes = {}, const Device& device = Device::cpu())
      : HierarchicalMatrix(HierarchicalMatrix(rows, columns, nodes, device)
                               .edited(detail::batch_of(rows, columns, triplets))) {}

  /// The same matrix with another team for its work, or on a GPU, to whose memory its nodes are
  /// copied unless another matrix there shares them.
  HierarchicalMatrix on(const Device& device) const {
    return HierarchicalMatrix(this->shared(), device, this->state());
  }

  /// A* or A^T as a matrix that shares the tree, for entries that are not encoded and have that
  /// form. Throws `Error` (unsupported) for (A*)^T and (A^T)* of complex numbers.
  HierarchicalMatrix adjoint_matrix() const
    requires(can_add && heddle::has_adjoint<E>)
  {
    return with_state(this->template state_by<TreeForm::adjoint>());
  }
  HierarchicalMatrix transposed() const
    requires(can_add && has_transpose)
  {
    return with_state(this->template state_by<TreeForm::transpose>());
  }
  /// factor A, which shares the tree: each value is multiplied when it is read. Products and sums
  /// take the factor into their coefficients, so they round in another place than those of
  /// `written_out()`. Factors of factors are multiplied.
  HierarchicalMatrix scaled(scalar factor) const
    requires can_add
  {
    return with_state({this->state().form, this->state().scale * factor});
  }
  /// The same matrix, whose own tree holds it as it is; itself if that is so already. Throws
  /// `Error` (memory).
  HierarchicalMatrix written_out() const;
  /// The same matrix and state, whose tree has nodes with equal bytes only once (section 1 of the
  /// paper): equal parts share their subtrees wherever they lie on the grid of nodes.
  /// `memory().shared` is what that saves. Edits give each place that they touch its own nodes;
  /// sums share none. One thread compares all nodes, in the host's memory. Throws `Error` (memory).
  HierarchicalMatrix with_shared_nodes() const {
    return HierarchicalMatrix(
        detail::scheduled(detail::with_shared_nodes(this->tree(), this->team()),
                          this->tree().launch, this->team()),
        this->device(), this->state());
  }

  /// A^T without conjugation, for real and complex numbers and blocks of real ones. Throws `Error`
  /// (unsupported) for others.
  std::shared_ptr<const LinearOperator<scalar>> transpose() const {
    return this->template in_form<TreeForm::transpose>();
  }

  /// The entry at (row, column), or nothing if there is none.
  std::optional<E> find(Index row, Index column) const;
  /// The entries by rows, columns sorted.
  CsrMatrix<E> to_csr() const;
  /// The same arrays in the memory of `device()`: a GPU makes them there.
  detail::CsrArrays<stored_scalar_t<E>> to_rows() const;
  std::vector<Triplet<E>> to_triplets() const;
  /// The entries on the diagonal alone, read from the tree by all threads. `HierarchicalJacobi`
  /// makes no such copy.
  CsrMatrix<E> diagonal() const;

  const detail::StoredEntries<scalar>* stored_entries() const override { return this; }
  bool has_inverses() const override { return has_inverse<E>; }
  detail::SlicedOperator<scalar> sliced_diagonal() const override;
  detail::SlicedOperator<scalar> sliced() const override;
  bool makes_copies() const override { return true; }
  std::shared_ptr<const LinearOperator<scalar>> handle() const override {
    const auto same = std::make_shared<HierarchicalMatrix>(*this);
    same->separate();
    return same;
  }

  /// A matrix with the edits applied, all or none of them. Nodes that they do not touch are shared,
  /// and both matrices stay valid independently. A matrix with a factor is written out first, since
  /// a value divided by the factor would round. Throws `Error`: out_of_range for a place outside
  /// the matrix or a removal without an entry, usage for two edits of one place, unsupported for
  /// adding encoded entries, memory.
  HierarchicalMatrix edited(const EditBatch<E>& edits) const;
  /// The same for arrays. A matrix on a GPU is edited there, and the host copies nothing of it.
  /// This also holds for batches if the host does not have all of the tree. The host adds entries
  /// whose sum is not that of their components. Also throws `Error`: size_mismatch for views of
  /// another size, unsupported for 2^31 edits or more on a GPU.
  HierarchicalMatrix edited(const EditViews<E>& edits) const;

  /// alpha A + beta B at every place that either has, even if the sum is 0. Its leaves are dense
  /// where A's are, and it is in the form of A: A* + B* is (A + B)* and shares that tree's layout,
  /// A^T + B is (A + B^T)^T. A zero may differ in its sign from that of matrices written out.
  /// The bits do not depend on the schedule. Throws `Error`: size_mismatch for matrices of other
  /// sizes, usage for nodes of another size, memory; by a walk over both trees, unsupported for
  /// 2^31 leaves or more.
  friend HierarchicalMatrix add(scalar alpha, const HierarchicalMatrix& A, scalar beta,
                                const HierarchicalMatrix& B,
                                SumSchedule schedule = SumSchedule::kept)
    requires can_add
  {
    return A.plus(alpha, beta, B, false, schedule);
  }
  /// The same with complex coefficients, for entries that commute with them: complex numbers and
  /// blocks of these. Other entries take real coefficients.
  friend HierarchicalMatrix add(std::complex<scalar> alpha, const HierarchicalMatrix& A,
                                std::complex<scalar> beta, const HierarchicalMatrix& B,
                                SumSchedule schedule = SumSchedule::kept)
    requires(can_add && E::ring == Ring::complex)
  {
    return A.plus(alpha, beta, B, false, schedule);
  }
  /// alpha A + beta B*.
  friend HierarchicalMatrix add_adjoint(scalar alpha, const HierarchicalMatrix& A, scalar beta,
                                        const HierarchicalMatrix& B,
                                        SumSchedule schedule = SumSchedule::kept)
    requires(can_add && has_adjoint<E>)
  {
    return A.plus(alpha, beta, B, true, schedule);
  }
  friend HierarchicalMatrix add_adjoint(std::complex<scalar> alpha, const HierarchicalMatrix& A,
                                        std::complex<scalar> beta, const HierarchicalMatrix& B,
                                        SumSchedule schedule = SumSchedule::kept)
    requires(can_add && has_adjoint<E> && E::ring == Ring::complex)
  {
    return A.plus(alpha, beta, B, true, schedule);
  }

  /// Bytes that several matrices hold together: shared nodes are counted once. Included are nodes
  /// that only earlier matrices of an edit still use, and the schedules that products have made,
  /// also an earlier matrix's schedule that waits to be mended, with the changes since.
  static long long held_memory(std::initializer_list<HierarchicalMatrix> matrices) {
    detail::HeldBytes held;
    for (const HierarchicalMatrix& matrix : matrices) matrix.scheduled().add_to(held);
    long long bytes = 0;
    for (const auto& [part, of_part] : held) bytes += of_part;
    return bytes;
  }

 private:
  template <class>
  friend class HierarchicalJacobi;
  template <class>
  friend class DynamicProduct;
  template <class>
  friend class TreeScheduler;
  template <class>
  friend class MatrixPencil;

  using State = detail::TreeState<scalar>;

  HierarchicalMatrix(std::shared_ptr<const detail::ScheduledTree> matrix, const Device& device,
                     const State& state = {})
      : Base(std::move(matrix), device, state) {}
  /// Made from a tree that is derived from `before`'s, in its form.
  HierarchicalMatrix(std::shared_ptr<const detail::ScheduledTree> matrix,
                     const HierarchicalMatrix& before)
      : Base(std::move(matrix), before.device(), {before.state().form}, before.on_gpu()) {}
  HierarchicalMatrix(detail::Tree tree, const HierarchicalMatrix& before)
      : HierarchicalMatrix(detail::scheduled(std::move(tree), before.tree().launch, before.team()),
                           before) {}

  HierarchicalMatrix(const HierarchicalMatrix& same, const State& state)
      : Base(same.shared(), same.device(), state, same.on_gpu()) {}

  /// The same tree in another state.
  HierarchicalMatrix with_state(const State& state) const { return {*this, state}; }
  bool is_plain() const { return this->state() == State(); }
  /// An entry of the tree as the matrix has it.
  E as_stated(E entry) const {
    if constexpr (can_add) {
      const auto& [form, scale] = this->state();
      if (scale != scalar(1)) {
        for (auto& component : entry.component) component *= scale;
      }
      if constexpr (heddle::has_adjoint<E>) {
        if (form == TreeForm::adjoint) entry = adjoint(entry);
      }
    }
    return entry;
  }
  /// Makes entries of the tree those of the matrix.
  void apply_state(Array<stored_scalar_t<E>>& values) const;
  /// A tree of this matrix's sizes and nodes, without any.
  detail::Tree without_entries() const {
    return detail::empty_tree(this->rows(), this->columns(), this->tree().leaf);
  }
  /// The edits as those of a matrix in direct form. Throws `Error` like `edited`.
  EditBatch<E> edits_of_tree(const EditBatch<E>& edits) const;

  static std::shared_ptr<const detail::ScheduledTree> build(
      const CsrView<E>& matrix, const NodeLayout& nodes, const Device& device,
      const std::optional<long long>& memory_limit);
  static std::shared_ptr<const detail::ScheduledTree> build(
      const CooView<E>& matrix, const NodeLayout& nodes, const Device& device,
      const std::optional<long long>& memory_limit);
  static cuda::EntriesToStore entries_to_store(const stored_scalar_t<E>* values,
                                               ComponentOrder order) {
    return {values, int{sizeof(stored_scalar_t<E>)},
            order == column_major ? detail::components_by_rows<E>() : std::vector<int>{}};
  }
  /// True if a GPU can make edits; `adds` says whether they add to entries.
  static bool is_edited_on_gpu(bool adds);
  void check_views(const EditViews<E>& edits) const;
  /// The tree of B as a sum in the form of A reads it.
  struct Reading {
    bool transposes;  // places
    bool conjugates;  // entries
  };
  /// Coefficients are real or complex.
  template <class C>
  std::optional<detail::Tree> sum_on_gpu(C alpha, C beta, const HierarchicalMatrix& B,
                                         const Reading& of_b, SumSchedule schedule) const;
  template <class C>
  HierarchicalMatrix plus(C alpha, C beta, const HierarchicalMatrix& B, bool adjoint_of_b,
                          SumSchedule schedule) const;
};

template <class E>
std::optional<E> HierarchicalMatrix<E>::find(Index row, Index column) const {
  const detail::Tree& tree = this->tree();
  if (this->is_transposed()) std::swap(row, column);
  if (row < 0 || row >= tree.rows || column < 0 || column >= tree.columns) return std::nullopt;
  const auto at = detail::find_node(tree, 0, tree.leaf.block_of(row), tree.leaf.block_of(column));
  if (!at) return std::nullopt;
  const NodeView leaf = tree.node(*at, 0);
  const int payload = leaf.find(tree.leaf.place_of(row, column));
  if (payload < 0) return std::nullopt;
  E entry;
  std::memcpy(&entry, leaf.payloads() + Offset(payload) * Offset{sizeof entry}, sizeof entry);
  return as_stated(entry);
}

template <class E>
void HierarchicalMatrix<E>::apply_state(Array<stored_scalar_t<E>>& values) const {
  if (is_plain()) return;
  const std::size_t count = values.size() / E::components;
  parallel_for(team_size(this->team().stream(), static_cast<Offset>(count)), count,
               [&](std::size_t i) {
                 auto* const at = values.data() + i * E::components;
                 E entry;
                 std::memcpy(&entry, at, sizeof entry);
                 entry = as_stated(entry);
                 std::memcpy(at, &entry, sizeof entry);
               });
}

template <class E>
CsrMatrix<E> HierarchicalMatrix<E>::diagonal() const {
  auto made = detail::read_diagonal<stored_scalar_t<E>>(this->tree(), this->rows(), this->columns(),
                                                        E::components, this->team());
  apply_state(made.values);
  return CsrMatrix<E>(std::move(made));
}

template <class E>
detail::CsrArrays<stored_scalar_t<E>> HierarchicalMatrix<E>::to_rows() const {
  using Stored = stored_scalar_t<E>;
  const Device device = this->device();
  if (device.on_gpu() && !is_plain()) return written_out().to_rows();
  const auto rows = static_cast<std::size_t>(this->rows());
  const auto count = static_cast<std::size_t>(this->entries());
  detail::CsrArrays<Stored> made{this->rows(), this->columns(), Array<Offset>(rows + 1, device),
                                 Array<Index>(count, device),
                                 Array<Stored>(count * E::components, device)};
  if constexpr (has_cuda) {
    if (const auto there = this->on_gpu()) {
      cuda::rows_of_tree(*there, made.offsets.data(), made.column.data(), made.values.data());
      return made;
    }
  }
  detail::read_rows(this->scheduled(), this->is_transposed(), made.offsets.span(),
                    made.column.span(), reinterpret_cast<std::byte*>(made.values.data()), device);
  apply_state(made.values);
  return made;
}

template <class E>
CsrMatrix<E> HierarchicalMatrix<E>::to_csr() const {
  detail::CsrArrays<stored_scalar_t<E>> made = to_rows();
  const auto here = [&](const auto& array) {
    std::remove_cvref_t<decltype(array)> copy(array.size(), this->team());
    detail::copy_bytes(copy.data(), array.data(), array.size() * sizeof(array[0]),
                       this->device().stream());
    return copy;
  };
  if (!this->device().on_gpu()) return CsrMatrix<E>(std::move(made));
  return CsrMatrix<E>(made.rows, made.columns, here(made.offsets), here(made.column),
                      here(made.values));
}

template <class E>
std::vector<Triplet<E>> HierarchicalMatrix<E>::to_triplets() const {
  const CsrMatrix<E> rows = to_csr();
  const auto count = static_cast<std::size_t>(rows.entries());
  return detail::or_refuse_memory("triplets", count, sizeof(Triplet<E>), [&] {
    std::vector<Triplet<E>> triplets;
    triplets.reserve(count);
    for (Index row = 0; row < rows.rows(); ++row) {
      for (Offset i = rows.offsets()[static_cast<std::size_t>(row)];
           i < rows.offsets()[static_cast<std::size_t>(row) + 1]; ++i) {
        triplets.push_back({row, rows.column()[static_cast<std::size_t>(i)], rows.entry(i)});
      }
    }
    return triplets;
  });
}

template <class E>
detail::SlicedOperator<vector_scalar_t<E>> HierarchicalMatrix<E>::sliced_diagonal() const {
  return Operator<E>(diagonal(), Plan{}, this->device());
}
template <class E>
detail::SlicedOperator<vector_scalar_t<E>> HierarchicalMatrix<E>::sliced() const {
  return Operator<E>(to_csr(), Plan{}, this->device());
}

#define HEDDLE_EXTERN_HIERARCHICAL(...)                    \
  extern template class detail::TreeOperator<__VA_ARGS__>; \
  extern template class HierarchicalMatrix<__VA_ARGS__>;
HEDDLE_FOR_EACH_ENTRY(HEDDLE_EXTERN_HIERARCHICAL, float)
HEDDLE_FOR_EACH_ENTRY(HEDDLE_EXTERN_HIERARCHICAL, double)
#undef HEDDLE_EXTERN_HIERARCHICAL

}  // namespace heddle

#include "heddle/detail/trees/hierarchical_building.hpp"
#include "heddle/detail/trees/hierarchical_edits.hpp"
#include "heddle/detail/trees/hierarchical_sum.hpp"
