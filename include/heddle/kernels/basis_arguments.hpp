// What the kernels of a basis are given; see basis.cuh.
#pragma once

#include "heddle/kernels/chunks.hpp"
#include "heddle/kernels/loop_state.hpp"

namespace heddle::device {

inline constexpr int threads_of_basis = 1024;
/// Blocks whose sums each block of the next kernel adds for itself: at most one a multiprocessor.
inline constexpr int most_blocks_of_basis = 160;

struct BasisArguments {
  cuda::Walk walk;
  Offset chunks_of_plane;
  Offset chunks;  // in all
  int blocks;     // that share them
  int chunks_of_block;
  LoopState* state;
  int side;  // of the state, that was written last
  int most;  // vectors that the basis has room for
  void* basis;
  Offset stride;  // scalars from one vector to the next
  const void* in;
  void* rest;  // what is left of `in`
  void* out;
  const double* before;  // sums of the kernel before: one of each block behind the other
  double* partials;      // where the kernel leaves its own
  double* first;         // `most` coefficients, those of the first products
  double* column;        // and both together
  double* kept;          // numbers that decisions keep
  int staged;            // doubles of those, if decisions find them in shared memory; else 0
  int* count;            // vectors that a solution is formed of
};

/// Vectors whose products with another a warp sums at once.
HEDDLE_HD constexpr int vectors_of_basis_warp(int ring) { return ring == 1 ? 4 : 2; }

/// Doubles of a block's coefficients, and of the sums of its warps.
HEDDLE_HD constexpr int numbers_of_basis(int most, int ring) {
  const int of_warp = vectors_of_basis_warp(ring), of_warps = threads_of_basis / 32 * of_warp;
  const int rounded_up = most + of_warp;
  return most * ring + 1 + (rounded_up > of_warps ? rounded_up : of_warps) * ring;
}

}  // namespace heddle::device
