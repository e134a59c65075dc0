// The product of a tree with a field on the CPU: each group of 256 rows of y is summed by one
// thread, leaf after leaf in the order of the schedule, so that every run has the same bits.
#pragma once

#include <algorithm>
#include <utility>

#include "heddle/detail/leaf_schedule.hpp"
#include "heddle/detail/product_cpu.hpp"
#include "heddle/entries/row_product.hpp"

namespace heddle::detail {

/// Which of a tree's matrices is multiplied by: A, A* or A^T.
enum class TreeForm { direct, adjoint, transpose };

template <class A>
concept is_complex_number = A::ring == Ring::complex && A::components == 2;

/// Whether A's entries have the form: A^T is that of real and complex numbers, and of blocks of
/// real ones.
template <TreeForm form, class A>
inline constexpr bool has_form = [] {
  constexpr bool turns = requires(const A& a) { adjoint(a); };
  if constexpr (form == TreeForm::direct) return true;
  if constexpr (form == TreeForm::adjoint) return turns;
  return is_complex_number<A> || (turns && A::ring == Ring::real);
}();

/// An entry of A as the product of the form applies it.
template <TreeForm form, class A>
HEDDLE_INLINE auto as_applied(const A& a) {
  if constexpr (form == TreeForm::direct || (form == TreeForm::transpose && is_complex_number<A>)) {
    return a;
  } else {
    return adjoint(a);
  }
}
template <TreeForm form, class E>
using applied_entry_t = decltype(as_applied<form>(std::declval<const arithmetic_t<E>&>()));

/// sums_i += what a leaf yields, x and the sums beginning at the leaf's own columns and rows, or
/// rows and columns.
template <class E, TreeForm form, class Vector, class Sum>
HEDDLE_INLINE void add_sparse_leaf(const NodeView leaf, const Vector x, Sum* sums) {
  using A = applied_entry_t<form, E>;
  const PackedValues<E> entries{reinterpret_cast<const stored_scalar_t<E>*>(leaf.payloads())};
  const LocalPlace* const places = leaf.places();
  const int count = leaf.count();
  if constexpr (form == TreeForm::direct) {
    for (int i = 0; i < count;) {
      const int row = places[i].row;
      row_sum_t<A> sum{};
      do {
        multiply_add(sum, load(entries(i, 0)), x(places[i].column));
        ++i;
      } while (i < count && places[i].row == row);
      sums[row] = add_components(sums[row], result_of(sum));
    }
  } else {
    for (int i = 0; i < count; ++i) {
      const LocalPlace place = places[i];
      multiply_add(sums[place.column], as_applied<form>(load(entries(i, 0))), x(place.row));
    }
  }
}

template <class E, TreeForm form, class Vector, class Sum>
HEDDLE_INLINE void add_dense_leaf(const NodeView leaf, const Vector x, Sum* sums) {
  using A = applied_entry_t<form, E>;
  const PackedValues<E> entries{reinterpret_cast<const stored_scalar_t<E>*>(leaf.payloads())};
  const int d = leaf.shape.size();
  const bool is_full = leaf.count() == leaf.shape.positions();
  for (int row = 0; row < d; ++row) {
    const int first = row << leaf.shape.log2_size;
    [[maybe_unused]] row_sum_t<A> sum{};
    for (int column = 0; column < d; ++column) {
      if (!is_full && !leaf.has(first + column)) continue;
      if constexpr (form == TreeForm::direct) {
        multiply_add(sum, load(entries(first, column)), x(column));
      } else {
        multiply_add(sums[column], as_applied<form>(load(entries(first, column))), x(row));
      }
    }
    if constexpr (form == TreeForm::direct) {
      sums[row] = add_components(sums[row], result_of(sum));
    }
  }
}

/// The blocks [begin, end) of y, without what was there.
template <class E, TreeForm form, class S, class Sum>
HEDDLE_INLINE void add_blocks(const Tree& tree, const LeafSchedule& schedule, const S* x,
                              Index begin, Index end, Sum* sums) {
  using V = vector_entry_t<applied_entry_t<form, E>>;
  const int log2_size = tree.leaf.log2_size;
  const NodeReference* const references = schedule.leaf.data();
  for (Index block = begin; block < end; ++block) {
    Sum* const own = sums + (Offset(block - begin) << log2_size);
    const Offset last = schedule.first[static_cast<std::size_t>(block) + 1];
    for (Offset i = schedule.first[static_cast<std::size_t>(block)]; i < last; ++i) {
      const Offset first_of_x = Offset(schedule.block[static_cast<std::size_t>(i)]) << log2_size;
      const PackedVector<V, S> own_x{x + first_of_x * V::components};
      const NodeView leaf = tree.node(references[i], 0);
      if (leaf.kind == NodeKind::dense) {
        add_dense_leaf<E, form>(leaf, own_x, own);
      } else {
        add_sparse_leaf<E, form>(leaf, own_x, own);
      }
    }
  }
}

// As `product_rows`: for every x86-64 machine, and for those with AVX2 and FMA.
template <class E, TreeForm form, class S, class Sum>
__attribute__((flatten)) void add_blocks_baseline(const Tree& tree, const LeafSchedule& schedule,
                                                  const S* x, Index begin, Index end, Sum* sums) {
  add_blocks<E, form>(tree, schedule, x, begin, end, sums);
}
template <class E, TreeForm form, class S, class Sum>
__attribute__((target("avx2,fma"), flatten)) void add_blocks_avx2(const Tree& tree,
                                                                  const LeafSchedule& schedule,
                                                                  const S* x, Index begin,
                                                                  Index end, Sum* sums) {
  add_blocks<E, form>(tree, schedule, x, begin, end, sums);
}

/// The tree's matrix in this form times x, an AoS field; `finish(row of y, sum)` takes what each
/// row yields. Its partial sums go to `reduction` where there is one.
template <class E, TreeForm form, class S, class Finish>
void tree_product(const ScheduledTree& matrix, const S* x, const Finish& finish,
                  Reduction<S>* reduction, const Stream& stream) {
  using Sum = result_entry_t<applied_entry_t<form, E>>;
  constexpr bool turned = form != TreeForm::direct;
  const Tree& tree = matrix.tree();
  const LeafSchedule& schedule = matrix.schedule(turned);
  const Index rows = turned ? tree.columns : tree.rows;
  const Index blocks_of_group = rows_of_group >> tree.leaf.log2_size;
  const auto add =
      has_avx2() ? add_blocks_avx2<E, form, S, Sum> : add_blocks_baseline<E, form, S, Sum>;
  parallel_for(team_size(stream, tree.entries + rows), groups_of(rows), 1, [&](Index group) {
    Sum sums[rows_of_group];
    std::fill_n(sums, rows_of_group, zero_vector<Sum>());
    const auto first = static_cast<Index>(group * blocks_of_group);
    add(tree, schedule, x, first, std::min(schedule.blocks(), first + blocks_of_group), sums);
    Finish own = finish;
    const Offset begin = Offset(group) * rows_of_group;
    const Offset end = std::min<Offset>(rows, begin + rows_of_group);
    for (Offset row = begin; row < end; ++row) own(static_cast<Index>(row), sums[row - begin]);
    if (reduction != nullptr) reduction->partials(group)[0] = own.partial();
  });
}

}  // namespace heddle::detail
