// Kernel arguments: plain structs that the host fills in. Includes only slots.hpp.
#pragma once

#include "heddle/entries/slots.hpp"

namespace heddle::device {

/// The arrays of a matrix; see sliced.hpp. `first_row` and `threads` are null where T is one
/// number, `row_length` for C = 1, `target` where rows are stored in the order of y.
template <class S>
struct Matrix {
  const S* values;
  const Index* column;
  const Offset* offset;
  const Index* row_length;
  const Index* first_row;
  const unsigned char* threads;
  const Index* target;
  Offset slots;
  Index rows;
  Index slices;
  Index lanes;                         // C
  const unsigned short* short_column;  // null, like `column_base`, where columns take 32 bits
  const Index* column_base;            // base of each slice; negative for 32-bit columns
};

/// Threads whose sums make one partial sum.
inline constexpr int threads_of_group = 256;

/// Threads of a group whose sum a block of `block` threads leaves: the greatest common divisor of
/// both sizes, so that no block needs to know about another.
HEDDLE_HD constexpr int threads_of_part(int block) {
  return block % threads_of_group == 0 ? threads_of_group : block & -block;
}
/// Number of partial sums that such a block leaves, and of those that make a group's sum.
HEDDLE_HD constexpr int partials_of_block(int block) { return block / threads_of_part(block); }
HEDDLE_HD constexpr int parts_of_group(int block) {
  return threads_of_group / threads_of_part(block);
}

/// Room for the partial sums of a launch: N for each group of 256 threads, or part of a group, and
/// a counter of finished blocks that is zero between launches.
struct SumSpace {
  double* partials;
  unsigned* finished;
};

/// Partial sums that a launch left, of N numbers each, for later kernels.
struct PartialSums {
  const double* partials;
  unsigned count;
  int parts;  // partial sums that make the sum of one group: 1, 2, 4 or 8
};
/// Maximum number of values that every block of a kernel adds for itself: reading them takes less
/// time than a separate kernel, 2 to 3 microseconds.
inline constexpr unsigned max_for_every_block = 4096;

/// The operation on the sum of a row before it is stored as y.
enum Epilogue {
  store_scaled,         // y = alpha A x + beta y
  store_and_dot,        // y = A x, Re <with, y>
  store_and_dots,       // y = A x, <with, y> in the ring, and |y|^2
  store_and_plain_dot,  // y = A x, the bilinear with y in the ring
  store_residual        // y = with - A x, |y|^2
};

/// Sums that an epilogue leaves, over a ring of `ring` components.
HEDDLE_HD constexpr int sums_of(int epilogue, int ring) {
  return epilogue == store_and_dot || epilogue == store_residual ? 1
         : epilogue == store_and_dots                            ? ring + 1
         : epilogue == store_and_plain_dot                       ? ring
                                                                 : 0;
}

struct LoopState;

/// Operands of one of the products that a kernel computes side by side in a solver's loop.
struct ProductOperands {
  const void* x;
  void* y;
  const void* with;  // operand of the epilogue
  double* partials;
  LoopState* state;
};
inline constexpr int max_operands = 8;
/// Threads per block of that kernel, and lanes of the matrix that they share.
inline constexpr int threads_of_fields = 256;
inline constexpr int lanes_of_fields = 64;

/// S: stored scalars, M: scalars of fields, T: scalars of the sums of a row.
template <class S, class M, class T>
struct ProductArguments {
  Matrix<S> A;
  const M* x;
  Offset x_component_stride;
  M* y;
  const M* with;
  Offset y_component_stride;  // stride of y and `with`
  T alpha, beta;
  SumSpace sums;
  double* results;   // where the sums go
  LoopState* state;  // state of a solver's loop, if the kernel belongs to one
  unsigned* ticket;  // two tickets of a dynamic schedule; zero between launches
  unsigned blocks;   // blocks that the lanes make, whatever the grid
  unsigned kept;     // percentage of the matrix to keep in L2
  int chunk;         // blocks' worth of lanes taken at a time when dynamic
};

/// Same for several fields; `all` then has no x, y, with, partials or state.
template <class S, class M, class T>
struct ProductsArguments {
  ProductArguments<S, M, T> all;
  ProductOperands of[max_operands];
  int count;
};

}  // namespace heddle::device
