// The product of a tree with a field on the CPU: one thread sums each group of 256 rows of y, or a
// strip of several groups, leaf after leaf in the order of the schedule, so that every run has the
// same bits.
#pragma once

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>

#include "heddle/detail/product_cpu.hpp"
#include "heddle/detail/trees/leaf_schedule.hpp"
#include "heddle/entries/row_product.hpp"
#include "heddle/kernels/trees/tree_form.hpp"

namespace heddle::detail {

/// Entries that begin in one cache line.
template <class E>
inline constexpr int entries_of_line = std::max(1, int{64 / sizeof(E)});

/// If leaves do not follow one another in memory, the beginning of a leaf is prefetched this many
/// leaves ahead, and what its first entry needs of x half as many. That is all of a leaf with few
/// entries, which prefetches nothing else.
inline constexpr Offset leaves_ahead = 16;
inline constexpr Offset bytes_of_beginning = 128;
inline constexpr int few_entries = 16;

/// Prefetches lines of the matrix: those some pages ahead and, if leaves do not follow one another
/// in memory, those of the next leaf.
template <TreeForm form, class E>
class LeavesAhead {
 public:
  HEDDLE_INLINE LeavesAhead(const NodeView& leaf, const NodeView& next)
      : payloads_(leaf.payloads()), end_(leaf.data + leaf.bytes()), next_(next.data) {
    if (form != TreeForm::direct && leaf.count() > few_entries) {
      const int lines = (leaf.count() - 1) / entries_of_line<E> + 1;
      step_ = static_cast<int>(std::min(next.bytes(), distance)) / lines + 1;
    }
  }
  /// Called ahead of the entries from `i` on, a cache line of them or one entry.
  HEDDLE_INLINE void operator()(int i) {
    const unsigned char* const far = payloads_ + i * Offset{sizeof(E)} + distance;
    if (form == TreeForm::direct || far < end_) {
      for (Offset byte = 0; byte < Offset{sizeof(E)}; byte += 64) __builtin_prefetch(far + byte);
    }
    if constexpr (form != TreeForm::direct) {
      for (Offset byte = 0; byte < step_; byte += 64) __builtin_prefetch(next_ + byte);
      next_ += step_;
    }
  }

 private:
  static constexpr Offset distance = 4096;
  const unsigned char* payloads_;
  const unsigned char* end_;
  const unsigned char* next_;
  Offset step_ = 0;
};

/// Adds a leaf's results to the sums. x and the sums begin at the leaf's own columns and rows, or
/// rows and columns.
template <class E, TreeForm form, class Vector, class Sum>
HEDDLE_INLINE void add_sparse_leaf(const NodeView leaf, const NodeView next, const Vector x,
                                   Sum* sums) {
  using A = applied_entry_t<form, E>;
  const PackedValues<E> entries{reinterpret_cast<const stored_scalar_t<E>*>(leaf.payloads())};
  const LocalPlace* const places = leaf.places();
  const int count = leaf.count();
  LeavesAhead<form, E> ahead(leaf, next);
  if constexpr (form == TreeForm::direct) {
    // Long rows are summed in registers. Short ones would end before that pays, and the processor
    // would mispredict their ends.
    if (count >= 2 * leaf.shape.size()) {
      for (int i = 0; i < count;) {
        const int row = places[i].row;
        row_sum_t<A> sum{};
        do {
          ahead(i);
          multiply_add(sum, load(entries(i, 0)), x(places[i].column));
          ++i;
        } while (i < count && places[i].row == row);
        sums[row] = add_components(sums[row], result_of(sum));
      }
      return;
    }
  }
  for (int first = 0; first < count; first += entries_of_line<E>) {
    ahead(first);
    for (int i = first; i < std::min(count, first + entries_of_line<E>); ++i) {
      const LocalPlace place = places[i];
      const int to = form == TreeForm::direct ? place.row : place.column;
      const int from = form == TreeForm::direct ? place.column : place.row;
      multiply_add(sums[to], as_applied<form>(load(entries(i, 0))), x(from));
    }
  }
}

/// Calls `body(column)` for the entries of a dense leaf's row.
template <class Body>
HEDDLE_INLINE void for_each_of_row(const NodeView& leaf, int row, const Body& body) {
  const int d = leaf.shape.size(), step = std::min(d, 64);
  const unsigned char* const bits = leaf.data + NodeShape::places_byte(NodeKind::dense);
  const unsigned long long all = ~0ULL >> (64 - step);
  for (int begin = 0; begin < d; begin += step) {
    const int first = (row << leaf.shape.log2_size) + begin;
    unsigned long long left = 0;
    std::memcpy(&left, bits + first / 8, static_cast<std::size_t>(std::max(1, step / 8)));
    left = left >> (first % 8) & all;
    if (left == all) {
      for (int column = begin; column < begin + step; ++column) body(column);
      continue;
    }
    for (; left != 0; left &= left - 1) body(begin + __builtin_ctzll(left));
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
    const auto add = [&](int column) {
      if constexpr (form == TreeForm::direct) {
        multiply_add(sum, load(entries(first, column)), x(column));
      } else {
        multiply_add(sums[column], as_applied<form>(load(entries(first, column))), x(row));
      }
    };
    if (is_full) {
      for (int column = 0; column < d; ++column) add(column);
    } else {
      for_each_of_row(leaf, row, add);
    }
    if constexpr (form == TreeForm::direct) {
      sums[row] = add_components(sums[row], result_of(sum));
    }
  }
}

/// Sums the blocks [begin, end) of y, without their previous values. `goes_by_rows`: the schedule
/// is that of A x, and A* x or A^T x visits the leaves of these block columns in its order. Entries
/// of a column come by rows either way.
template <class E, TreeForm form, class S, class Sum>
HEDDLE_INLINE void add_blocks(const Tree& tree, const LeafSchedule& schedule, bool goes_by_rows,
                              const S* x, Index begin, Index end, Sum* sums) {
  const bool by_rows = form != TreeForm::direct && goes_by_rows;
  using V = vector_entry_t<applied_entry_t<form, E>>;
  const int log2_size = tree.leaf.log2_size;
  const LeafPlaces& places = *schedule.places;
  const NodeReference* const references = schedule.references->data();
  const auto last_leaf = static_cast<Offset>(schedule.references->size()) - 1;
  const Index last_outer = by_rows ? schedule.blocks() : end;
  for (Index outer = by_rows ? 0 : begin; outer < last_outer; ++outer) {
    Offset i = places.first[static_cast<std::size_t>(outer)];
    Offset last = places.first[static_cast<std::size_t>(outer) + 1];
    if (by_rows) {
      i = places.block.first_from(begin, i, last);
      last = places.block.first_from(end, i, last);
    }
    for (; i < last; ++i) {
      const Index inner = places.block[static_cast<std::size_t>(i)];
      Sum* const own_sums = sums + (Offset((by_rows ? inner : outer) - begin) << log2_size);
      const Offset first_of_x = Offset(by_rows ? outer : inner) << log2_size;
      const PackedVector<V, S> own_x{x + first_of_x * V::components};
      const NodeView leaf = tree.node(references[i], 0);
      const NodeView next = tree.node(references[std::min(i + 1, last_leaf)], 0);
      if constexpr (form != TreeForm::direct) {
        const auto* const far =
            tree.node(references[std::min(i + leaves_ahead, last_leaf)], 0).data;
        for (Offset byte = 0; byte < bytes_of_beginning; byte += 64) __builtin_prefetch(far + byte);
        if (!by_rows) {
          const Offset soon = std::min(i + leaves_ahead / 2, last_leaf);
          const Index row = tree.node(references[soon], 0).places()[0].row;
          const Offset block_of_x = places.block[static_cast<std::size_t>(soon)];
          __builtin_prefetch(x + ((block_of_x << log2_size) + row) * V::components);
        }
      }
      if (leaf.kind == NodeKind::dense) {
        add_dense_leaf<E, form>(leaf, own_x, own_sums);
      } else {
        add_sparse_leaf<E, form>(leaf, next, own_x, own_sums);
      }
    }
  }
}

// Like `product_rows`: for every x86-64 machine, and for those with AVX2 and FMA.
template <class E, TreeForm form, class S, class Sum>
__attribute__((flatten)) void add_blocks_baseline(const Tree& tree, const LeafSchedule& schedule,
                                                  bool by_rows, const S* x, Index begin, Index end,
                                                  Sum* sums) {
  add_blocks<E, form>(tree, schedule, by_rows, x, begin, end, sums);
}
template <class E, TreeForm form, class S, class Sum>
__attribute__((target("avx2,fma"), flatten)) void add_blocks_avx2(const Tree& tree,
                                                                  const LeafSchedule& schedule,
                                                                  bool by_rows, const S* x,
                                                                  Index begin, Index end,
                                                                  Sum* sums) {
  add_blocks<E, form>(tree, schedule, by_rows, x, begin, end, sums);
}

/// The most groups of rows of y that a thread sums at once: one, or in A* x and A^T x a strip whose
/// sums stay in a core's second-level cache.
template <class Sum, TreeForm form>
inline constexpr Index max_groups =
    form == TreeForm::direct ? 1
                             : static_cast<Index>(std::bit_floor(std::max<std::size_t>(
                                   1, (128 << 10) / (rows_of_group * sizeof(Sum)))));

/// Groups of rows of y = A* x, at most `most`, that a thread sums at once in the order of A's
/// leaves; 0 if the schedule by block columns is better. In a matrix with few entries per leaf,
/// each leaf along a block column is a jump in memory; along a block row a strip has many leaves
/// that lie together.
inline Index groups_by_rows(const Tree& tree, Index most, int team) {
  constexpr Offset min_together = 16;
  const Offset leaves = tree.memory.leaves.nodes();
  if (tree.entries > few_entries * leaves) return 0;
  const Index groups = groups_of(tree.columns);
  const Index strip = team == 1 ? most : std::clamp<Index>(groups / (4 * team), 1, most);
  const Offset strips = (groups + strip - 1) / strip;
  return leaves >= min_together * strips * tree.leaf.blocks_of(tree.rows) ? strip : 0;
}

/// The tree's matrix in this form, times `scale`, times x, an AoS field; y takes the result of each
/// row. Its partial sums go to `reduction` if there is one.
template <class E, TreeForm form, class S>
void tree_product(const ScheduledTree& matrix, S scale, const S* x, const RowStore<S>& y,
                  Reduction<S>* reduction, const Stream& stream) {
  using Sum = result_entry_t<applied_entry_t<form, E>>;
  constexpr bool is_transposed = form != TreeForm::direct;
  const Tree& tree = matrix.tree();
  const Index rows = is_transposed ? tree.columns : tree.rows;
  const int team = team_size(stream, tree.entries + rows);
  const Index groups_at_once =
      is_transposed ? groups_by_rows(tree, max_groups<Sum, form>, team) : 0;
  const bool by_rows = groups_at_once > 0;
  const LeafSchedule& schedule = matrix.schedule(is_transposed && !by_rows);
  const auto add =
      has_avx2() ? add_blocks_avx2<E, form, S, Sum> : add_blocks_baseline<E, form, S, Sum>;
  const Index groups = groups_of(rows), step = by_rows ? groups_at_once : 1;
  const Index blocks_of_group = rows_of_group >> tree.leaf.log2_size;
  const auto blocks = static_cast<Index>(tree.leaf.blocks_of(rows));
  parallel_for(team, (groups + step - 1) / step, 1, [&](Index strip) {
    Sum sums[max_groups<Sum, form> * rows_of_group];
    const Index first_group = strip * step, last_group = std::min(groups, first_group + step);
    std::fill_n(sums, (last_group - first_group) * rows_of_group, zero_vector<Sum>());
    add(tree, schedule, by_rows, x, first_group * blocks_of_group,
        std::min(blocks, last_group * blocks_of_group), sums);
    const Offset first_row = Offset(first_group) * rows_of_group;
    if (scale != S(1)) {
      for (Sum& sum : std::span(sums, (last_group - first_group) * rows_of_group)) {
        for (auto& component : sum.component) component *= scale;
      }
    }
    for (Index group = first_group; group < last_group; ++group) {
      RowStore<S> own = y;
      const Offset begin = Offset(group) * rows_of_group;
      const Offset end = std::min<Offset>(rows, begin + rows_of_group);
      for (Offset row = begin; row < end; ++row)
        own(static_cast<Index>(row), sums[row - first_row]);
      if (reduction != nullptr) reduction->partials(group)[0] = own.partial;
    }
  });
}

}  // namespace heddle::detail
