// What the kernels of preconditioners that act row by row are given.
#pragma once

#include "heddle/kernels/arguments.hpp"
#include "heddle/kernels/loop_state.hpp"

namespace heddle::device {

/// Threads of a block of these kernels, one for each row, whatever the product's.
inline constexpr int threads_of_rows = 256;
static_assert(threads_of_rows == threads_of_group, "a block leaves one partial sum");

/// Blocks for so many rows, and the partial sums of each number that they leave.
HEDDLE_HD constexpr unsigned blocks_of_rows(Offset rows) {
  return static_cast<unsigned>((rows + threads_of_rows - 1) / threads_of_rows);
}

/// z = M^-1 r.
struct RowArguments {
  const void* data;  // what the preconditioner reads beside r
  const void* r;
  void* z;
  Index rows;
  const LoopState* state;  // of a loop on the device: nothing is done once that has ended
};

/// S: stored scalars, D: scalars of the inverses.
template <class S, class D>
struct InvertArguments {
  Matrix<S> matrix;
  D* inverses;
  const Index* user_row;  // of each row; null where that is itself
  Index* first_singular;  // the least user's row without an inverse
};

}  // namespace heddle::device
