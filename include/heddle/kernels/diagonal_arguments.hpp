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

/// M: scalars of fields.
template <class M, class D>
struct DiagonalArguments {
  const D* inverses;
  const M* q;
  M* r;
  M* z;
  Index rows;
  double alpha;
  LoopState* state;  // of a loop on the device, then alpha is there
  SumSpace sums;
  double* results;
};

}  // namespace heddle::device
