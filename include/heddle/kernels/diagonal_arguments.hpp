// What the kernels of the Jacobi preconditioner are given.
#pragma once

#include "heddle/kernels/arguments.hpp"
#include "heddle/kernels/loop_state.hpp"

namespace heddle::device {

/// S: stored scalars, D: scalars of the inverses.
template <class S, class D>
struct InvertArguments {
  Matrix<S> matrix;
  D* inverses;
  const Index* user_row;  // of each row; null where that is itself
  Index* first_singular;  // the least user's row without an inverse
};

/// M: scalars of fields, D: scalars of the inverses.
template <class M, class D>
struct DiagonalArguments {
  const D* inverses;
  const M* r;
  M* z;
  Index rows;
  const LoopState* state;  // of a loop on the device: nothing is done once that has ended
};

}  // namespace heddle::device
