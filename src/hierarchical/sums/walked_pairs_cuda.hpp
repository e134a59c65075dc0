// The leaves of a sum of two trees in a GPU's memory, found by a walk over both (Derler et al.
// 2017, section 6).
#pragma once

#include <memory>

#include "base/sort_cuda.hpp"
#include "base/unset_array.hpp"
#include "heddle/detail/trees/tree_product_cuda.hpp"
#include "heddle/kernels/trees/tree_arguments.hpp"

namespace heddle::cuda {

/// Records of leaves, see `LeafRecords`, and their numbers by block rows and then by columns.
struct WalkedPairs {
  UnsetArray<device::TreeLeaf> a, b;
  Array<int> held;
  UnsetArray<unsigned long long> place;
  UnsetArray<Index> order;
  Offset count = 0;
  int column_bits = 0;
};

/// Also counts the entries of each leaf; the host waits for the walk. Throws `Error`: memory;
/// unsupported for 2^31 leaves or more; internal if the GPU could not launch a kernel.
WalkedPairs walked_pairs(const std::shared_ptr<const TreeOnGpu>& A,
                         const std::shared_ptr<const TreeOnGpu>& B, bool transposes_b,
                         const Device& device);

}  // namespace heddle::cuda
