// Arguments of the kernels of preconditioners that act row by row.
#pragma once

#include "heddle/kernels/arguments.hpp"
#include "heddle/kernels/loop_state.hpp"

namespace heddle::device {

/// Threads per block of these kernels, one per row, whatever the product's.
inline constexpr int threads_of_rows = 256;
static_assert(threads_of_rows == threads_of_group, "a block leaves one partial sum");

/// Number of blocks for `rows` rows, and of the partial sums that they leave of each number.
HEDDLE_HD constexpr unsigned blocks_of_rows(Offset rows) {
  return static_cast<unsigned>((rows + threads_of_rows - 1) / threads_of_rows);
}

/// z = M^-1 r.
struct RowArguments {
  const void* data;  // data that the preconditioner reads besides r
  const void* r;
  void* z;
  Index rows;
  const LoopState* state;  // state of a loop on the device: nothing is done once the loop has ended
};

/// S: stored scalars, D: scalars of the inverses.
template <class S, class D>
struct InvertArguments {
  Matrix<S> matrix;
  D* inverses;
  const Index* user_row;  // user's row of each row; null where both are the same
  Index* first_singular;  // the lowest user row without an inverse
  const double* unit;     // components of the unit entry; null if there is none
};

}  // namespace heddle::device
