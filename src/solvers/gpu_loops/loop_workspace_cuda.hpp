// The memory that a method in one kernel allocates, known before the method is made.
#pragma once

#include "heddle/detail/product_cuda.hpp"
#include "heddle/detail/workspace.hpp"
#include "persistent_program.hpp"

namespace heddle::cuda {

/// Blocks of its launch.
int persistent_blocks(const SlicedPattern& pattern, const Device& device);

Workspace workspace_of_persistent(PersistentMethod method, int ring, const Product& product,
                                  bool jacobi, const Device& device);

}  // namespace heddle::cuda
