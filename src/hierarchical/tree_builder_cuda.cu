#include "tree_builder_cuda.hpp"

#include <algorithm>
#include <utility>

#include "base/launch_cuda.cuh"
#include "base/returned_memory_cuda.hpp"
#include "heddle/kernels/trees/tree_arguments.hpp"

namespace heddle::cuda {

namespace {

/// The root: the one node of the last level.
NodeReference root_of(const LevelOnGpu& top) {
  const auto kind = std::ranges::find(top.counts.of_kind, 1) - top.counts.of_kind.begin();
  return NodeReference::make(static_cast<NodeKind>(kind), 0, top.begin);
}

}  // namespace

TreeBuilderOnGpu::TreeBuilderOnGpu(Index rows, Index columns, LevelOnGpu leaves,
                                   const Device& device, const Device& work,
                                   const std::optional<long long>& limit,
                                   std::optional<InnerLevels> inner)
    : work_(work), inner_(std::move(inner)) {
  tree_.rows = rows;
  tree_.columns = columns;
  tree_.leaf = leaves.shape;
  tree_.memory.leaves = leaves.counts;
  tree_.entries = leaves.counts.items;
  levels_.push_back(std::move(leaves));
  const int levels = heddle::detail::levels_of(rows, columns, tree_.leaf.log2_size);
  const bool suits =
      levels > 1 && tree_.entries > 0 && InnerLevels::suit(rows, columns, tree_.leaf.log2_size);
  if (suits && !inner_) inner_.emplace(levels_.front(), levels, work);
  if (inner_) {
    tree_.memory.inner = inner_->counts();
  } else {
    add_levels(levels);
  }
  HierarchicalMemory needed = tree_.memory;
  needed.schedule =
      levels_.front().nodes() * static_cast<long long>(sizeof(heddle::device::TreeLeaf)) +
      levels_.front().rows * static_cast<long long>(sizeof(heddle::device::TreePiece));
  heddle::detail::check_tree_memory(needed, limit ? *limit : device.available_memory());
  pool_ = std::make_shared<Array<std::byte>>(
      UnsetArray<std::byte>(static_cast<std::size_t>(tree_.memory.tree()), device).into_array());
}

void TreeBuilderOnGpu::add_levels(int levels) {
  while (static_cast<int>(levels_.size()) < levels) {
    const LevelOnGpu& below = levels_.back();
    bool inside = true;
    LevelOnGpu level =
        level_of({below.row.data(), below.column.data(), below.nodes(), below.rows, below.columns},
                 tree_.shape(1), inside, work_);
    level.begin = below.begin + below.counts.bytes;
    NodeCounts& inner = tree_.memory.inner;
    for (std::size_t kind = 0; kind < inner.of_kind.size(); ++kind) {
      inner.of_kind[kind] += level.counts.of_kind[kind];
    }
    inner.bytes += level.counts.bytes;
    inner.items += level.counts.items;
    levels_.push_back(std::move(level));
  }
}

heddle::detail::Tree TreeBuilderOnGpu::finish() {
  if (inner_) {
    inner_->write(levels_.front(), pool(), work_);
  } else {
    heddle::detail::fill_bytes(pool() + tree_.memory.leaves.bytes, 0,
                               static_cast<std::size_t>(tree_.memory.inner.bytes), work_.stream());
  }
  for (std::size_t above = 1; above < levels_.size(); ++above) {
    const LevelOnGpu& children = levels_[above - 1];
    UnsetArray<NodeReference> reference(static_cast<std::size_t>(children.nodes()), work_);
    for_each_index(
        work_.stream(), children.nodes(),
        [shape = children.shape, held = children.held.data(), byte = children.byte.data(),
         begin = children.begin, reference = reference.data()] __device__(Offset child) {
          reference[child] =
              NodeReference::make(shape.kind_of(held[child]), 0, begin + byte[child]);
        });
    write_level(levels_[above], {reference.data(), int{sizeof(NodeReference)}}, pool(), nullptr,
                work_);
    wait_before_memory_goes_back(work_);
  }
  if (tree_.entries > 0) {
    tree_.root = inner_ ? inner_->root() : root_of(levels_.back());
    tree_.pools = {{std::make_shared<heddle::detail::Pool>(std::move(pool_)), tree_.memory.tree()}};
  }
  work_.synchronize();  // so that other streams find it there too
  return std::move(tree_);
}

}  // namespace heddle::cuda
