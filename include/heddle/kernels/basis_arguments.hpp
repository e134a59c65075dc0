// Arguments of the kernels of a basis; see basis.cuh.
#pragma once

#include "heddle/kernels/chunks.hpp"
#include "heddle/kernels/loop_state.hpp"

namespace heddle::device {

inline constexpr int threads_of_basis = 1024;
/// Maximum number of blocks whose sums each block of the next kernel adds for itself: at most one
/// per multiprocessor.
inline constexpr int max_blocks_of_basis = 160;

struct BasisArguments {
  cuda::Walk walk;
  Offset chunks_of_plane;
  Offset chunks;  // in all
  int blocks;     // blocks that share them
  int chunks_of_block;
  LoopState* state;
  int side;            // side of the state that was written last
  int most;            // vectors that the basis has room for
  void* basis;         // V, followed by Z for a flexible method
  Offset stride;       // scalars from one vector to the next
  const void* in;      // w: the image of u
  void* out;           // u: the newest vector
  const void* z;       // M^-1 u, for a flexible method
  double* sums;        // sums of blocks; if ranks share the rows, of the blocks of all ranks
  Offset of_product;   // doubles from those of one product to those of the next
  Offset of_block;     // from one block's to the next one's
  int summed;          // sums of each product that the next kernel adds
  double* hessenberg;  // columns of `most` + 1 numbers
  double* column;      // the one that a decision rotates, or the coefficients of a solution
  double* kept;        // numbers that decisions keep
  int staged;          // doubles of those, if decisions find them in shared memory; else 0
  int* count;          // number of vectors that a solution is formed from
};

/// Vectors whose products with two others a warp sums at once.
HEDDLE_HD constexpr int vectors_of_basis_warp(int ring) { return ring < 4 ? 4 / ring : 1; }

/// Doubles for the products of a basis with two vectors, and of the newer one with both.
HEDDLE_HD constexpr int products_of_basis(int most, int ring) { return 2 * (most + 1) * ring; }
/// Doubles for those products, and for the sums of a block's warps.
HEDDLE_HD constexpr int numbers_of_basis(int most, int ring) {
  const int of_warp = vectors_of_basis_warp(ring), of_warps = threads_of_basis / 32 * of_warp;
  const int of_vectors = most + 1 + of_warp;
  return products_of_basis(most, ring) + 2 * (of_vectors > of_warps ? of_vectors : of_warps) * ring;
}

}  // namespace heddle::device
