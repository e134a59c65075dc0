// The text of a Jacobi preconditioner's program. Needs no GPU.
#pragma once

#include "spmv/product_program.hpp"
#include "step_program.hpp"

namespace heddle::cuda {

/// Threads of a block of its kernels, whatever the product's.
inline constexpr int threads_of_diagonal = 256;

/// Kernels `heddle_invert` and `heddle_apply` beside the product that `product` names;
/// `scalar_bytes` of the scalars in which the entry computes.
KernelSource diagonal_source(const ProductProgram& product, int scalar_bytes);
/// Kernels `heddle_STEP` for each update that the preconditioner is joined to.
KernelSource preconditioned_step_source(const ProductProgram& product, int scalar_bytes,
                                        const detail::MethodProgram& method, int parts_of_product);

}  // namespace heddle::cuda
