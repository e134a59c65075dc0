// The pencil A + sigma M of two trees, for one sigma after another (Saad, Numerical Methods for
// Large Eigenvalue Problems, chapter 9).
#pragma once

#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "heddle/detail/trees/tree_sum_again.hpp"
#include "heddle/export.hpp"
#include "heddle/hierarchical_matrix.hpp"

namespace heddle {

/// Makes A + sigma M as a tree repeatedly. The first has the places that A or M has; later ones
/// share its schedules, and are written over a matrix that has no other holder any more: `K =
/// pencil.at(sigma)` alternates between two blocks of memory. The values of A and M may change too,
/// and so may their patterns, which costs a new sum. If both lie on one GPU, the GPU writes the
/// sums, and the pencil keeps which leaves coincide; each block of memory has a schedule of its
/// own. Sums whose entries mix components are made on the host, and copied to the GPU. One thread
/// at a time.
template <class E>
class HEDDLE_EXPORT MatrixPencil {
  using S = vector_scalar_t<E>;

 public:
  /// Keeps both, written out if they have a state. Throws `Error` as `add` does for them.
  MatrixPencil(const HierarchicalMatrix<E>& A, const HierarchicalMatrix<E>& M)
      : A_(A.written_out()), M_(M.written_out()) {}

  const HierarchicalMatrix<E>& matrix() const { return A_; }
  const HierarchicalMatrix<E>& mass() const { return M_; }
  /// Replaces both matrices by others of the same sizes.
  void set(const HierarchicalMatrix<E>& A, const HierarchicalMatrix<E>& M) {
    A_ = A.written_out();
    M_ = M.written_out();
    is_known_ = false;
    kept_.reset();
  }

  /// A + sigma M, with the bits of `add(1, A, sigma, M)`. Throws the same `Error`.
  HierarchicalMatrix<E> at(S sigma) {
    if (sum_) {
      std::optional<HierarchicalMatrix<E>> again;
      if (has_leaves_of_sum()) again = is_summed_on_gpu() ? again_on_gpu(sigma) : again_at(sigma);
      if (again) return *std::move(again);
      pools_ = {};
      before_.reset();
      kept_.reset();
    }
    sum_.emplace(add(S(1), A_, sigma, M_));
    is_known_ = true;
    pools_ = {sum_->tree().pools.empty() ? nullptr : owned_pool(), nullptr};
    return *sum_;
  }
  /// Bytes of the sums that it keeps.
  long long memory() const {
    long long bytes = 0;
    for (const auto& pool : pools_) bytes += pool ? static_cast<long long>(pool->size()) : 0;
    if (before_) bytes += before_->memory().tree() + sum_->memory().tree();
    return bytes;
  }

 private:
  /// True if the leaves of the newest sum have the size and kinds of A's leaves.
  bool has_leaves_of_sum() const {
    const NodeShape &a = A_.tree().leaf, &c = sum_->tree().leaf;
    return a.log2_size == c.log2_size && a.dense_from == c.dense_from;
  }
  std::optional<HierarchicalMatrix<E>> again_at(S sigma);
  std::optional<HierarchicalMatrix<E>> again_on_gpu(S sigma);
  bool is_summed_on_gpu() const;
  /// True if only this pencil holds a matrix of a GPU and its pool, and the host has no copy of the
  /// pool.
  static bool is_free(const HierarchicalMatrix<E>& matrix) {
    constexpr int of_operator_and_gpu = 2;
    const auto& pool = matrix.tree().pools.front().pool;
    return matrix.shared().use_count() == of_operator_and_gpu && pool.use_count() == 1 &&
           !pool->is_on_host();
  }
  std::shared_ptr<detail::Pool> owned_pool() const {
    return std::const_pointer_cast<detail::Pool>(sum_->tree().pools.front().pool);
  }

  HierarchicalMatrix<E> A_, M_;
  std::optional<HierarchicalMatrix<E>> sum_;  // the newest sum
  bool is_known_ = false;                     // true if A and M are known to have its pattern
  std::array<std::shared_ptr<detail::Pool>, 2> pools_;  // pools of the newest sums, with one layout
  // On a GPU:
  std::optional<HierarchicalMatrix<E>> before_;  // the sum before the newest
  std::optional<cuda::KeptSum> kept_;
};

template <class E>
bool MatrixPencil<E>::is_summed_on_gpu() const {
  if constexpr (has_cuda) {
    const auto a = A_.on_gpu(), m = M_.on_gpu();
    return a && m && a->device().stream().gpu == m->device().stream().gpu &&
           detail::adds_components<E>();
  } else {
    return false;
  }
}

template <class E>
std::optional<HierarchicalMatrix<E>> MatrixPencil<E>::again_on_gpu(S sigma) {
  if constexpr (has_cuda) {
    if (sum_->entries() == 0 || !sum_->on_gpu()) return {};
    detail::check_sum(A_.tree(), M_.tree(), false);
    if (!kept_) kept_.emplace(*sum_->on_gpu(), A_.on_gpu(), M_.on_gpu());
    if (!kept_->fits()) return {};
    pools_ = {};  // the matrices hold them
    if (!before_ || !is_free(*before_)) {
      // Makes another pool with the same inner nodes, whose references hold no address.
      const Device device = sum_->device();
      detail::Tree tree = sum_->tree();
      auto& pool = tree.pools.front().pool;
      pool = std::make_shared<detail::Pool>(
          std::make_shared<const Array<std::byte>>(*pool->on(device)));
      before_.emplace(HierarchicalMatrix<E>(std::move(tree), *sum_));
    }
    const cuda::EntrySum sum{
        int{sizeof(S)}, E::components, false, {1, 0}, {static_cast<double>(sigma), 0}, {}};
    kept_->write(*before_->on_gpu(), sum);
    std::swap(sum_, before_);
    return sum_;
  } else {
    return {};
  }
}

template <class E>
std::optional<HierarchicalMatrix<E>> MatrixPencil<E>::again_at(S sigma) {
  auto& [newest, before] = pools_;
  if (!newest) return {};  // no entries
  const detail::ScheduledTree& sum = sum_->scheduled();
  // Every holder of a matrix also holds its pool.
  if (!before || before.use_count() > 1) {
    before = std::make_shared<detail::Pool>(newest->size(), sum_->team());
    std::memcpy(before->data(), newest->data(), newest->size());
  }
  const auto combine = [&](std::span<const detail::SumTerm> terms) {
    for (const detail::SumTerm& term : terms) {
      E a, b;
      if (term.a != nullptr) std::memcpy(&a, term.a, sizeof(E));
      if (term.b != nullptr) {
        std::memcpy(&b, term.b, sizeof(E));
        for (auto& component : b.component) component *= sigma;
      }
      const E total = term.a == nullptr ? b : term.b == nullptr ? a : add(a, b);
      std::memcpy(term.sum, &total, sizeof(E));
    }
  };
  if (!detail::write_sum_again(sum, A_.scheduled(), M_.scheduled(), is_known_, combine, *before,
                               sum_->team())) {
    return {};
  }
  is_known_ = true;
  detail::Tree tree = sum.tree();
  tree.pools.front().pool = before;
  std::swap(newest, before);
  sum_.emplace(HierarchicalMatrix<E>(
      std::make_shared<detail::ScheduledTree>(
          detail::EditedTree{std::move(tree), std::make_shared<const detail::LeafChanges>()}, sum,
          sum_->team()),
      *sum_));
  return sum_;
}

}  // namespace heddle
