// What kernels are given that run a whole solve.
#pragma once

#include "heddle/kernels/arguments.hpp"
#include "heddle/kernels/loop_state.hpp"

namespace heddle::device {

/// Of a cooperative launch, one a multiprocessor.
inline constexpr int most_blocks = 256;

/// A number that one block of a cooperative launch tells the others. It comes together with the
/// round that it belongs to: whoever sees the round has the number too, so that sums need one trip
/// through the L2 cache instead of a barrier and a read.
struct alignas(16) Packet {
  double value;
  unsigned long long round;
};

template <class S, class M, class A>
struct PersistentArguments {
  Matrix<S> matrix;
  const Index* first_slice;  // of each block, and one more
  M* x;
  M* r;                       // the residual of x
  M* u;                       // M^-1 r where every block can read it
  const A* inverses;          // component k of row i at [k * rows + i]; null without Jacobi
  Packet* packets;            // 4 for each block
  unsigned long long* flags;  // one for each block
  LoopState* state;
  unsigned long long* round;  // the last one: packets and flags hold those of earlier solves
};

}  // namespace heddle::device
