// The text of a Jacobi preconditioner's program. Needs no GPU.
#pragma once

#include "spmv/product_program.hpp"

namespace heddle::cuda {

/// The preconditioner as a type that acts by rows, see kernels/rows.cuh.
EntryText diagonal_rows(const EntryText& entry, VectorLayout layout);

/// Kernels `heddle_invert` and `heddle_apply` for the matrix of the product that `product`
/// describes. `scalar_bytes`: size of the scalars in which the entry computes.
KernelSource diagonal_source(const ProductProgram& product, int scalar_bytes);

}  // namespace heddle::cuda
