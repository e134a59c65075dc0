// The texts of a multigrid's cycle on a GPU. Need no GPU.
#pragma once

#include <optional>
#include <span>

#include "spmv/product_program.hpp"

namespace heddle::cuda {

/// What steps with one matrix are written for: its product, and the preconditioner by rows of the
/// level whose rows the product has, where steps smooth it.
struct CycleForm {
  ProductProgram product;
  std::optional<EntryText> rows;
};

/// Warps that share a row of the matrix in a step of its own, one for each row of its blocks; 1
/// where a row has a warp or less, as all rows have but few long ones of blocks.
int warps_of_row(const ProductProgram& product, Index rows);

/// One step. Its kernel is `heddle_step`, of blocks as the product's plan has them, or of `warps`
/// for each row where these are several.
KernelSource step_source(const CycleForm& form, int warps = 1);

/// Several steps, whose numbers of forms are places in `forms`. Its kernel is `heddle_cycle`.
KernelSource cycle_source(std::span<const CycleForm> forms);

}  // namespace heddle::cuda
