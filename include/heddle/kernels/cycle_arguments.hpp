// Arguments of the kernels of a multigrid cycle: its steps.
#pragma once

#include "heddle/kernels/arguments.hpp"

namespace heddle::device {

/// A step over all rows of one level. All fields except x are of these rows; for each row:
///
///   v = sign (A x) + with            y = v
///   d = b M^-1 v + a own             to = d
///   s = base + (added + d)           sum = s
///
/// A null x leaves A x out; `with`, `own`, `base` and `added` count as 0 if they are null, and y,
/// `to` and `sum` are not written if they are null. The second and third lines are for steps that
/// smooth, with `numbers`. Data of other rows is read as x only, and x is no field that the step
/// writes.
struct CycleStep {
  Matrix<char> A;
  const void* x;
  const void* with;
  void* y;
  const void* inverses;  // data of M^-1, by rows, see kernels/rows.cuh
  const void* numbers;   // a and b, in the memory of the fields
  const void* own;
  void* to;
  const void* added;
  const void* base;
  void* sum;
  double sign;
  Index rows;
  Index columns;  // rows of x
  int form;       // in a kernel for several steps: the number of A's layout
  unsigned kept;  // percentage of A to keep in L2
};

/// Placeholders, among a step's pointers, for the fields that come with each application.
inline constexpr unsigned long long field_r = 1, field_z = 2;

template <class T>
HEDDLE_HD void fill_in(T*& field, T* r, T* z) {
  const auto number = reinterpret_cast<unsigned long long>(field);
  if (number == field_r) field = r;
  if (number == field_z) field = z;
}
/// r is read, z written.
HEDDLE_HD inline void fill_in(CycleStep& s, const void* r, void* z) {
  fill_in<const void>(s.with, r, z);
  fill_in<void>(s.sum, nullptr, z);
}

struct CycleArguments {
  const CycleStep* steps;
  int count;
  const void* r;
  void* z;
  unsigned long long* flags;  // one for each block
  unsigned long long* round;  // the last round of the launch before
};

/// Threads per block of the kernel that makes several steps.
inline constexpr int threads_of_cycle = 256;

}  // namespace heddle::device
