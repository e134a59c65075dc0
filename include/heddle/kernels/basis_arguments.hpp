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
  int side;            // of the state, that was written last
  int most;            // vectors that the basis has room for
  void* basis;         // V, and behind it Z of a flexible method
  Offset stride;       // scalars from one vector to the next
  const void* in;      // w: the image of u
  void* out;           // u: the newest vector
  const void* z;       // M^-1 u, of a flexible method
  double* sums;        // of blocks; or, where ranks share the rows, of all of these
  Offset of_product;   // doubles from those of one product to those of the next
  Offset of_block;     // from one block's to the next one's
  int summed;          // of each product, that the next kernel adds
  double* hessenberg;  // columns of `most` + 1 numbers
  double* column;      // the one that a decision turns, or the coefficients of a solution
  double* kept;        // numbers that decisions keep
  int staged;          // doubles of those, if decisions find them in shared memory; else 0
  int* count;          // vectors that a solution is formed of
};

/// Vectors whose products with two others a warp sums at once.
HEDDLE_HD constexpr int vectors_of_basis_warp(int ring) { return ring < 4 ? 4 / ring : 1; }

/// Doubles of the products of a basis with two vectors, and of the newer one with both.
HEDDLE_HD constexpr int products_of_basis(int most, int ring) { return 2 * (most + 1) * ring; }
/// Doubles of those, and of the sums of a block's warps.
HEDDLE_HD constexpr int numbers_of_basis(int most, int ring) {
  const int of_warp = vectors_of_basis_warp(ring), of_warps = threads_of_basis / 32 * of_warp;
  const int of_vectors = most + 1 + of_warp;
  return products_of_basis(most, ring) + 2 * (of_vectors > of_warps ? of_vectors : of_warps) * ring;
}

}  // namespace heddle::device
