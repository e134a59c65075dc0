// The text of a Jacobi preconditioner's program. Needs no GPU.
#pragma once

#include "../spmv/product_program.hpp"

namespace heddle::cuda {

/// Threads of a block of its kernels, whatever the product's.
inline constexpr int threads_of_diagonal = 256;

/// Kernels `heddle_invert`, `heddle_apply` and `heddle_update` beside the product that `product`
/// names; `scalar_bytes` of the scalars in which the entry computes.
KernelSource diagonal_source(const ProductProgram& product, int scalar_bytes);

/// Kernel `heddle_step`: kernel 2 of conjugate gradient in a graph.
KernelSource diagonal_step_source(const ProductProgram& product, int scalar_bytes,
                                  bool one_reduction);

}  // namespace heddle::cuda
