// The texts of a tree's product, for exactly one entry, form and size of nodes, and of scheduled
// operations. Need no GPU.
#pragma once

#include <cstddef>
#include <string>

#include "heddle/detail/trees/tree_product_cuda.hpp"
#include "spmv/kernel_compiler.hpp"

namespace heddle::cuda {

struct TreeProgram {
  EntryText entry;
  EntryShape shape;
  detail::TreeForm form;
  int log2_size;
  int sum_bytes;  // for a row of y as it is summed
  device::Epilogue epilogue;
  int run;    // entries that a thread takes at once
  int warps;  // in a block of threads, as far as there is room; 0: by the rule
};

/// The program for `entry`'s products with this epilogue. `run` is that of `run_of` for a tree,
/// `warps` that of its launch.
TreeProgram tree_program(const TreeEntry& entry, int log2_size, int run, device::Epilogue epilogue,
                         int warps = 0);

/// Warps of a block of threads, each of which keeps sums of a block of y. Throws `Error`
/// (unsupported) if not even those of one warp find room.
int warps_of(const TreeProgram& program);

/// Its kernel is `heddle_tree_product`, whose bound on registers is for this architecture.
KernelSource tree_source(const TreeProgram& program, int architecture);

/// The controller `heddle_control_tasks` of an operation on trees
/// (kernels/trees/task_scheduler.cuh) and the kernels that it launches. The type of `operation` is
/// a class of `operation_bytes`.
KernelSource scheduler_source(const EntryText& operation, std::size_t operation_bytes);

}  // namespace heddle::cuda
