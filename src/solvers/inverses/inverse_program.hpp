// The text of the programs that set up approximate inverses on a GPU. Needs no GPU.
#pragma once

#include "heddle/kernels/inverse_arguments.hpp"
#include "heddle/plan.hpp"
#include "solvers/tiles/entry_tiles.hpp"
#include "spmv/kernel_compiler.hpp"

namespace heddle::cuda {

/// The storage of a matrix, in the form that kernels need.
struct StoredMatrix {
  Layout layout;
  Index lanes = 1;  // C of the pattern
  int stored_bytes = 8;
};

/// The parameters of a program, for any entry whose tiles are made of its components.
struct InverseProgram {
  detail::EntryTiles tiles;
  device::InversePart part = device::InversePart::factor_row;
  StoredMatrix matrix;
  StoredMatrix inverse;
};

/// Threads per row or block: 4, 8, 16 or 32 lanes of blocks of `threads_of_teams`, or a block of
/// `threads_of_long_row`, whose workspace may lie in global memory.
inline constexpr int threads_of_teams = 128, threads_of_long_row = 256;
struct InverseTeam {
  int lanes = 32;
  bool in_shared = true;
};

/// Its kernel is `heddle_invert_rows`.
KernelSource inverse_source(const InverseProgram& program, const InverseTeam& team);

}  // namespace heddle::cuda
