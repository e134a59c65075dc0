// Pools of a tree that is edited again and again on a GPU: like pool_merging.hpp, for nodes in the
// GPU's memory.
#pragma once

#include <vector>

#include "heddle/detail/trees/tree.hpp"

namespace heddle::cuda {

/// Merges the last pools of a tree after an edit, or all of them if pools hold more than three
/// times the tree's bytes plus 64 KiB. `addresses` are those of the pools in the memory of `gpu`,
/// and are updated. Throws `Error` (memory), and leaves the tree whole.
void merge_pools_on_gpu(heddle::detail::Tree& tree, std::vector<unsigned long long>& addresses,
                        const Device& gpu);

}  // namespace heddle::cuda
