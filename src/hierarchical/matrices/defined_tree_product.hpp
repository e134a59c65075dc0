// The product of a tree of entries from a definition on the CPU: like tree_product.hpp, for several
// entries side by side.
#pragma once

#include <algorithm>

#include "heddle/detail/product_cpu.hpp"
#include "heddle/detail/trees/leaf_schedule.hpp"
#include "spmv/entry_batch.hpp"

namespace heddle::detail {

/// Adds the blocks [begin, end) of y, entry after entry, so that no sum depends on where a batch
/// began. `is_transposed`: rows and columns are exchanged.
template <class T, class S>
HEDDLE_INLINE void add_defined_blocks(const EntryDefinition& definition, bool is_transposed,
                                      const Tree& tree, const LeafSchedule& schedule, const S* x,
                                      Index begin, Index end, T* sums) {
  using Batch = EntryBatch<T>;
  const int K = definition.size(), V = definition.vector_size();
  const int log2_size = tree.leaf.log2_size;
  const LeafPlaces& places = *schedule.places;
  Batch batch{};
  Offset row_in[Batch::width];
  int filled = 0;
  const auto add_batch = [&] {
    batch.multiply(definition);
    for (int w = 0; w < filled; ++w) {
      T* const sum = sums + row_in[w] * V;
      for (int i = 0; i < V; ++i) sum[i] += batch.y[i][w];
    }
    filled = 0;
  };
  for (Index block = begin; block < end; ++block) {
    const Offset first_row = Offset(block - begin) << log2_size;
    const Offset last = places.first[static_cast<std::size_t>(block) + 1];
    for (Offset i = places.first[static_cast<std::size_t>(block)]; i < last; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const S* const own_x = x + (Offset(places.block[at]) << log2_size) * V;
      const NodeView leaf = tree.node((*schedule.references)[at], 0);
      const auto* const entries = reinterpret_cast<const S*>(leaf.payloads());
      leaf.for_each([&](LocalPlace place, int payload) {
        batch.set_entry(filled, entries + Offset(payload) * K, K);
        batch.set_vector(filled, own_x + Offset(is_transposed ? place.row : place.column) * V, 1,
                         V);
        row_in[filled++] = first_row + (is_transposed ? place.column : place.row);
        if (filled == Batch::width) add_batch();
      });
    }
  }
  add_batch();
}

// Like `product_rows`: for every x86-64 machine, and for those with AVX2 and FMA.
template <class T, class S>
__attribute__((flatten)) void add_defined_blocks_baseline(const EntryDefinition& definition,
                                                          bool is_transposed, const Tree& tree,
                                                          const LeafSchedule& schedule, const S* x,
                                                          Index begin, Index end, T* sums) {
  add_defined_blocks(definition, is_transposed, tree, schedule, x, begin, end, sums);
}
template <class T, class S>
__attribute__((target("avx2,fma"), flatten)) void add_defined_blocks_avx2(
    const EntryDefinition& definition, bool is_transposed, const Tree& tree,
    const LeafSchedule& schedule, const S* x, Index begin, Index end, T* sums) {
  add_defined_blocks(definition, is_transposed, tree, schedule, x, begin, end, sums);
}

/// Like `tree_product`, computed in T. For A* `definition` is the one whose product is that of the
/// adjoints.
template <class T, class S>
void defined_tree_product(const EntryDefinition& definition, bool is_transposed,
                          const ScheduledTree& matrix, const S* x, const RowStore<S>& y,
                          Reduction<S>* reduction, const Stream& stream) {
  const Tree& tree = matrix.tree();
  const LeafSchedule& schedule = matrix.schedule(is_transposed);
  const int V = definition.vector_size();
  const Index rows = is_transposed ? tree.columns : tree.rows;
  const Index blocks_of_group = rows_of_group >> tree.leaf.log2_size;
  const auto add = has_avx2() ? add_defined_blocks_avx2<T, S> : add_defined_blocks_baseline<T, S>;
  parallel_for(team_size(stream, tree.entries + rows), groups_of(rows), 1, [&](Index group) {
    T sums[rows_of_group * EntryDefinition::max_components];
    std::fill_n(sums, rows_of_group * V, T(0));
    const auto first = static_cast<Index>(group * blocks_of_group);
    add(definition, is_transposed, tree, schedule, x, first,
        std::min(schedule.blocks(), first + blocks_of_group), sums);
    RowStore<S> own = y;
    DefinedSum<T> sum{V, {}};
    const Offset begin = Offset(group) * rows_of_group;
    const Offset end = std::min<Offset>(rows, begin + rows_of_group);
    for (Offset row = begin; row < end; ++row) {
      std::copy_n(sums + (row - begin) * V, V, sum.component);
      own(static_cast<Index>(row), sum);
    }
    if (reduction != nullptr) reduction->partials(group)[0] = own.partial;
  });
}

}  // namespace heddle::detail
