// The kernels that a product or a solve under a plan will ask for, as far as they are known before
// the matrix is on a GPU.
#pragma once

#include <vector>

#include "heddle/detail/sliced.hpp"
#include "heddle/runtime/any_matrix.hpp"
#include "heddle/tuning/search_space.hpp"
#include "spmv/kernel_compiler.hpp"

namespace heddle::cuda {

/// Kernels in the order in which they are needed. `use` is the layout's account. A kernel of
/// loop=persistent is a guess: the contents of its blocks are known only once slices are shared
/// out. Throws `Error` for an entry whose text is unknown.
std::vector<KernelSource> kernels_of_plan(const AnyMatrix& matrix, const Plan& plan,
                                          const MemoryUse& use, Objective objective,
                                          const DeviceProperties& gpu);

}  // namespace heddle::cuda
