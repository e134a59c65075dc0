// The text of a program around a user's functor. Needs no GPU.
#pragma once

#include "heddle/detail/compiled_pass.hpp"
#include "kernel_compiler.hpp"

namespace heddle::cuda {

/// Its kernel `heddle_pass` calls the functor with the number of each thread that is below the
/// functor's `count`.
KernelSource pass_source(const CompiledFunctor& pass, int min_blocks);

/// Each block of its kernel `heddle_tiles` sums a tile.
KernelSource tiles_source(const CompiledFunctor& tile_sums);

}  // namespace heddle::cuda
