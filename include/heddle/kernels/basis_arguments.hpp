// What the kernels of a basis are given; see basis.cuh.
#pragma once

#include "heddle/kernels/chunks.hpp"
#include "heddle/kernels/loop_state.hpp"

namespace heddle::device {

inline constexpr int threads_of_basis = 512;
/// Blocks whose sums each block of the next kernel adds for itself: about one a multiprocessor.
inline constexpr int most_blocks_of_basis = 128;

struct BasisArguments {
  cuda::Walk walk;
  Offset chunks_of_plane;
  Offset chunks;  // in all
  int blocks;     // that share them
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

/// Doubles of a block's coefficients and sums.
HEDDLE_HD constexpr int numbers_of_basis(int most, int ring) { return 2 * (most * ring + 1); }

}  // namespace heddle::device
