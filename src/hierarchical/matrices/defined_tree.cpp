#include "heddle/runtime/defined_tree.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "defined_tree_product.hpp"
#include "heddle/detail/component_rules.hpp"
#include "heddle/detail/trees/tree_building_cuda.hpp"
#include "heddle/detail/trees/tree_sum.hpp"
#include "heddle/hierarchical_matrix.hpp"
#include "heddle/runtime/defined_operator.hpp"
#include "spmv/defined_entry_text.hpp"

namespace heddle {

namespace detail {

namespace {

/// The real representation of a* is the transpose of that of a, so that the terms of a* x are those
/// of a x with x and the result exchanged, on a's own components.
std::shared_ptr<const EntryDefinition> applied_in(TreeForm form,
                                                  std::shared_ptr<const EntryDefinition> own) {
  if (form == TreeForm::direct) return own;
  auto transposed = std::make_shared<EntryDefinition>(*own);
  for (ProductTerm& term : transposed->product) std::swap(term.result, term.right);
  std::ranges::sort(transposed->product, {}, [](const ProductTerm& term) {
    return std::tuple(term.result, term.left, term.right);
  });
  return transposed;
}

[[noreturn]] void refuse_adjoint(const EntryDefinition& definition) {
  throw Error(ErrorKind::unsupported,
              "no adjoint: entry " + definition.name + " does not define one");
}

/// Like `components_of_adjoint` for a type; for a GPU.
[[maybe_unused]] std::optional<std::vector<int>> components_moved_by_adjoint(
    const EntryDefinition& definition) {
  return components_moved_by(definition.size(), [&](const std::vector<double>& a) {
    std::vector<double> adjoint(a.size()), registers;
    evaluate<double>(definition.adjoint, a.data(), nullptr, adjoint.data(), registers);
    return adjoint;
  });
}

}  // namespace

template <class S>
DefinedTreeOperator<S>::DefinedTreeOperator(std::shared_ptr<const EntryDefinition> definition,
                                            std::shared_ptr<const ScheduledTree> matrix,
                                            const Device& device, TreeForm form,
                                            const std::shared_ptr<const cuda::TreeOnGpu>& on_gpu)
    : TreeOperatorBase<S>(std::move(matrix), device, {form}),
      definition_(std::move(definition)),
      applied_(applied_in(form, definition_)) {
  if (!device.on_gpu()) return;
  const int K = definition_->size(), V = definition_->vector_size();
  this->make_product({text_of<S>(*definition_),
                      text_of<S, sum_t<S>>(*definition_),
                      {K, sizeof(S), V, V, sizeof(S), ring_size(definition_->ring)},
                      form,
                      V},
                     on_gpu);
}

template <class S>
std::shared_ptr<const LinearOperator<S>> DefinedTreeOperator<S>::adjoint() const {
  if (!has_adjoint()) refuse_adjoint(*definition_);
  return std::make_shared<DefinedTreeOperator>(definition_, this->shared(), this->device(),
                                               composed(this->state().form, TreeForm::adjoint),
                                               this->on_gpu());
}

template <class S>
std::shared_ptr<const LinearOperator<S>> DefinedTreeOperator<S>::handle() const {
  const auto same = std::make_shared<DefinedTreeOperator>(*this);
  same->separate();
  return same;
}

template <class S>
void DefinedTreeOperator<S>::sum_rows(const S* x, const RowStore<S>& y, Reduction<S>* reduction,
                                      const Stream& stream) const {
  const auto product = y.result == RowResult::residual ? defined_tree_product<sum_t<S>, S>
                                                       : defined_tree_product<S, S>;
  product(*applied_, this->is_transposed(), this->scheduled(), x, y, reduction, stream);
}

template class DefinedTreeOperator<float>;
template class DefinedTreeOperator<double>;

namespace {

template <class S>
std::shared_ptr<const ScheduledTree> build_tree(const DefinedMatrix<S>& matrix,
                                                const NodeLayout& nodes, const Device& device) {
  const NodeShape leaf = leaf_shape(nodes, matrix.entry_bytes());
  const Device team = team_of(device);
  const auto* const values = reinterpret_cast<const std::byte*>(matrix.values().data());
  return scheduled(tree_of(matrix.pattern(), leaf, values, team, {}), nodes.launch, team);
}

}  // namespace

}  // namespace detail

template <class S>
DefinedTree<S>::DefinedTree(const DefinedMatrix<S>& matrix, const NodeLayout& nodes,
                            const Device& device)
    : detail::DefinedTreeOperator<S>(matrix.definition(), detail::build_tree(matrix, nodes, device),
                                     device, detail::TreeForm::direct) {}

template <class S>
DefinedTree<S>::DefinedTree(detail::Tree tree, const DefinedTree& before)
    : detail::DefinedTreeOperator<S>(
          before.definition(),
          detail::scheduled(std::move(tree), before.tree().launch, before.team()), before.device(),
          detail::TreeForm::direct) {}

template <class S>
DefinedMatrix<S> DefinedTree<S>::to_rows() const {
  const detail::Tree& tree = this->tree();
  const Device team = this->team();
  const auto count = static_cast<std::size_t>(tree.entries);
  const auto K = static_cast<std::size_t>(this->definition()->size());
  detail::CsrArrays<S> made{tree.rows, tree.columns,
                            Array<Offset>(static_cast<std::size_t>(tree.rows) + 1, team),
                            Array<Index>(count, team), Array<S>(count * K, team)};
  detail::read_rows(this->scheduled(), false, made.offsets.span(), made.column.span(),
                    reinterpret_cast<std::byte*>(made.values.data()), team);
  return {this->definition(), std::move(made)};
}

template <class S>
bool DefinedTree<S>::has_inverses() const {
  return detail::defined_entry_table<S>(this->definition())->invert_diagonal != nullptr;
}
template <class S>
detail::SlicedOperator<S> DefinedTree<S>::sliced_diagonal() const {
  const int K = this->definition()->size();
  const DefinedMatrix<S> diagonal(
      this->definition(),
      detail::read_diagonal<S>(this->tree(), this->rows(), this->columns(), K, this->team()));
  return DefinedOperator<S>(diagonal, Plan{}, this->device());
}
template <class S>
detail::SlicedOperator<S> DefinedTree<S>::sliced() const {
  return DefinedOperator<S>(to_rows(), Plan{}, this->device());
}

template <class S>
std::shared_ptr<const LinearOperator<S>> DefinedTree<S>::handle() const {
  const auto same = std::make_shared<DefinedTree>(*this);
  same->separate();
  return same;
}

template <class S>
DefinedTree<S> DefinedTree<S>::plus(S alpha, S beta, const DefinedTree& B, bool adjoint_of_b,
                                    SumSchedule schedule) const {
  const EntryDefinition& definition = *this->definition();
  if (this->definition() != B.definition()) {
    throw Error(ErrorKind::usage, "entries of different definitions cannot be added");
  }
  if (adjoint_of_b && !definition.has_adjoint()) detail::refuse_adjoint(definition);
  detail::check_sum(this->tree(), B.tree(), adjoint_of_b);
  if constexpr (has_cuda) {
    const auto a = this->on_gpu(), b = B.on_gpu();
    const auto moved = adjoint_of_b ? detail::components_moved_by_adjoint(definition)
                                    : std::optional<std::vector<int>>(std::in_place);
    if (a && b && moved && a->device().stream().gpu == b->device().stream().gpu) {
      const cuda::EntrySum sum{int{sizeof(S)},
                               definition.size(),
                               false,
                               {static_cast<double>(alpha), 0},
                               {static_cast<double>(beta), 0},
                               *moved};
      return {cuda::sum_of_trees(a, b, adjoint_of_b, sum, schedule), *this};
    }
  }
  const int K = definition.size();
  const auto combine = [&](std::span<const detail::SumTerm> terms) {
    std::vector<S> registers;
    S a[EntryDefinition::max_components], b[EntryDefinition::max_components];
    const auto read = [&](const std::byte* from, S* to) {
      std::memcpy(to, from, static_cast<std::size_t>(K) * sizeof(S));
    };
    for (const detail::SumTerm& term : terms) {
      if (term.a != nullptr) {
        read(term.a, a);
        for (int k = 0; k < K; ++k) a[k] *= alpha;
      }
      if (term.b != nullptr) {
        read(term.b, b);
        if (adjoint_of_b) {
          S own[EntryDefinition::max_components];
          std::copy_n(b, K, own);
          evaluate<S>(definition.adjoint, own, nullptr, b, registers);
        }
        for (int k = 0; k < K; ++k) b[k] = term.a == nullptr ? beta * b[k] : a[k] + beta * b[k];
      }
      std::memcpy(term.sum, term.b == nullptr ? a : b, static_cast<std::size_t>(K) * sizeof(S));
    }
  };
  return {detail::sum_of_trees(this->scheduled(), B.scheduled(), adjoint_of_b, combine,
                               this->team(), schedule),
          *this};
}

template class DefinedTree<float>;
template class DefinedTree<double>;

}  // namespace heddle
