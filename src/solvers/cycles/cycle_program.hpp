// The texts of a multigrid's cycle on a GPU. Writing them needs no GPU.
#pragma once

#include <optional>
#include <span>

#include "spmv/product_program.hpp"

namespace heddle::cuda {

/// The form that steps with one matrix are written for: its product, and, if steps smooth the level
/// whose rows the product has, that level's preconditioner by rows.
struct CycleForm {
  ProductProgram product;
  std::optional<EntryText> rows;
};

/// Warps that share a row of the matrix in a step with its own kernel, one for each row of its
/// blocks. 1 if a row takes at most one warp, as all do except few long rows of blocks.
int warps_of_row(const ProductProgram& product, Index rows);

/// Source of one step. Its kernel is `heddle_step`, with blocks as in the product's plan, or of
/// `warps` warps for each row if there are several.
KernelSource step_source(const CycleForm& form, int warps = 1);

/// Source of several steps, whose form numbers index `forms`. Its kernel is `heddle_cycle`.
KernelSource cycle_source(std::span<const CycleForm> forms);

}  // namespace heddle::cuda
