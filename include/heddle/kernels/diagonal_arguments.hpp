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
  const M* q;
  M* r;
  M* z;
  Index rows;
  double alpha;
  const LoopState* state;  // of a loop on the device: nothing is done once that has ended
  SumSpace sums;
  double* results;
};

/// Kernel 2 of conjugate gradient in a graph, with a diagonal preconditioner.
template <class M, class D>
struct DiagonalStepArguments {
  const D* inverses;
  const M* q;  // the product's y: A p, or A z
  M* r;
  M* z;
  M* p;  // the rest for one reduction an iteration only
  M* s;
  M* x;
  Index rows;
  LoopState* state;
  int side;
  PartialSums product;
  PartialSums before;
  double* partials;  // |r|^2 and <r, z>
};

}  // namespace heddle::device
