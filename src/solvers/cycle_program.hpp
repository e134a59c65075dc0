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

/// One step. Its kernel is `heddle_step`, of blocks as the product's plan has them.
KernelSource step_source(const CycleForm& form);

/// Several steps, whose numbers of forms are places in `forms`. Its kernel is `heddle_cycle`.
KernelSource cycle_source(std::span<const CycleForm> forms);

}  // namespace heddle::cuda
