// Arguments of the kernels that set up approximate inverses, and the room that they need.
#pragma once

#include "heddle/kernels/arguments.hpp"

namespace heddle::device {

/// The part that a team computes: a row of FSAI's factor, a row of ISAI's inverse, or a whole block
/// of block Jacobi's.
enum class InversePart { factor_row, row, block };

/// Kinds of failure of a row of an inverse; the first row of each kind is kept.
enum RowFailure { row_is_singular, row_overflows, row_is_no_entry, row_failures };

/// From: scalars in which the matrix is stored, To: those of the inverse.
template <class From, class To>
struct InverseArguments {
  Matrix<From> A;
  Matrix<To> G;               // the factor, or the inverse; its values are written
  To* first;                  // those values
  To* second;                 // values of the adjoint factor; null where there is none
  const Offset* second_slot;  // for each slot of G, the slot of that entry in the adjoint factor
  Offset second_slots;
  const Index* stored_row;      // row of A for each row of the basis; null where both are the same
  const Index* row_of_inverse;  // row of G, likewise; only for blocks
  const Index* user_row;  // user's row for each row of the basis; null where both are the same,
                          // and a row's columns then increase
  const Index* rows;      // stored rows of G that this launch computes; of blocks, the first ones
  Index count;
  int words;                    // number of 8-byte words of a row's workspace
  double* scratch;              // `words` for each block; null: they lie in shared memory
  Index* failed[row_failures];  // the lowest user row of each kind
  double mirror_tolerance;      // only for blocks: see dense_blocks.hpp
};

/// Facts about a block, kept after the integers of rows.
enum BlockFact { is_not_hermitian, is_not_symmetric, is_not_finite, block_facts };

/// The size of the workspace for rows of `entries` tiles of size x size numbers of `ring` scalars,
/// in words of 8 bytes. `LocalMemory` defines its layout.
HEDDLE_HD constexpr long long words_of_system(InversePart part, long long entries, int size,
                                              int ring) {
  const bool is_factor = part == InversePart::factor_row, is_block = part == InversePart::block;
  const long long n = entries * size, row = n * (is_block ? n : size) * ring;
  const long long pairs = is_factor ? entries * (entries + 1) / 2 : entries * entries;
  const long long matrix = is_factor ? pairs * size * size * ring : n * (n | 1) * ring;
  const long long result = row > pairs ? row : pairs;
  const long long more = is_factor ? 0 : n * (2 + ring);
  const long long integers =
      4 * entries + (is_factor ? 0 : n) + row_failures + 1 + (is_block ? block_facts : 0);
  return matrix + result + more + (integers + 1) / 2;
}

}  // namespace heddle::device
