// The schedule of a tree's product in a GPU's memory, which the GPU makes.
#pragma once

#include <memory>
#include <span>

#include "heddle/detail/trees/leaf_schedule.hpp"
#include "heddle/detail/trees/tree_product_cuda.hpp"
#include "tree_pieces.hpp"

namespace heddle::cuda {

/// The leaves of block b of y begin at first[b].
struct TreeSchedule {
  Array<Offset> first;
  TreePieces cut;

  long long bytes() const {
    return static_cast<long long>(first.size() * sizeof(Offset) +
                                  cut.leaves.size() * sizeof(device::TreeLeaf) +
                                  cut.pieces.size() * sizeof(device::TreePiece));
  }
};

/// Made by a walk over the tree, level by level, and a sort of its leaves. `pools`: addresses of
/// the tree's pools in the memory of this GPU. Throws `Error` (memory).
TreeSchedule schedule_on_gpu(const detail::Tree& tree, std::span<const unsigned long long> pools,
                             bool by_columns, const Device& device);

}  // namespace heddle::cuda
