// Arguments of kernels that run a whole solve.
#pragma once

#include "heddle/kernels/arguments.hpp"
#include "heddle/kernels/loop_state.hpp"

namespace heddle::device {

/// Maximum number of blocks of a cooperative launch, one per multiprocessor.
inline constexpr int max_blocks = 256;

/// A number that one block of a cooperative launch sends to the others. It arrives together with
/// the round that it belongs to: a reader that sees the round has the number too, so that sums need
/// one trip through the L2 cache instead of a barrier and a read.
struct alignas(16) Packet {
  double value;
  unsigned long long round;
};

/// Number of vectors of its rows that a block keeps in shared memory.
HEDDLE_HD constexpr int conjugate_gradient_vectors(bool jacobi) { return jacobi ? 6 : 5; }
HEDDLE_HD constexpr int bicgstab_vectors(bool jacobi) { return jacobi ? 8 : 6; }

/// Number of sums that blocks of BiCGStab exchange after the first and after the second product, in
/// a ring of R components.
HEDDLE_HD constexpr int sums_of_first(int R) { return 2 * R + 2; }
HEDDLE_HD constexpr int sums_of_second(int R) { return (R == 2 ? 2 : 1) + 2 + 2 * R; }

template <class S, class M, class A>
struct PersistentArguments {
  Matrix<S> matrix;
  const Index* first_slice;  // one per block, and one more
  M* x;
  M* r;                       // the residual of x
  M* u;                       // vectors that every block can read: M^-1 r, see the method
  const A* inverses;          // component k of row i at [k * rows + i]; null without Jacobi
  Packet* packets;            // for each block, see the method
  unsigned long long* flags;  // one per block, two for BiCGStab
  LoopState* state;
  unsigned long long* round;  // the last one: packets and flags hold those of earlier solves
};

}  // namespace heddle::device
