// The leaves of a sum of two trees, found by a walk over both (Derler et al. 2017, section 6).
#pragma once

#include <cstddef>
#include <vector>

#include "heddle/detail/trees/tree.hpp"
#include "heddle/kernels/trees/tree_arguments.hpp"

namespace heddle::detail {

/// The leaves of either tree that make a leaf of the sum, as `device::TreeLeaf::node`; 0 for none.
struct LeafSources {
  unsigned long long a = 0;
  unsigned long long b = 0;
};

/// The leaves of a sum by block rows and then by block columns.
struct PairedLeaves {
  NodeLevel leaves;
  std::vector<LeafSources> sources;
};

/// Also counts the entries of each leaf. Throws `Error`: memory; unsupported for 2^31 leaves or
/// more.
PairedLeaves walked_pairs(const Tree& a, const Tree& b, bool transposes_b, const Device& device);

/// Room for the leaves of both trees. Throws `Error` (unsupported) as above.
std::size_t max_walked_pairs(const Tree& a, const Tree& b);

}  // namespace heddle::detail
