// The parts from which a method's loop on a CPU is made.
#pragma once

#include <functional>
#include <vector>

#include "heddle/detail/basis_storage.hpp"
#include "heddle/detail/method_loop.hpp"
#include "heddle/linear_operator.hpp"
#include "heddle/preconditioner.hpp"

namespace heddle::detail {

/// The vectors that a loop has for one system.
template <class S>
struct LoopVectors {
  std::vector<FieldView<S>> work;  // the method's vectors after x and r
  BasisStorage basis;              // for a method that keeps one
};

/// The objects that a loop works with, and that outlive it.
template <class S>
struct LoopParts {
  const LinearOperator<S>* matrix = nullptr;
  const Preconditioner<S>* preconditioner = nullptr;  // null for none
  std::function<void(const FieldView<S>&)> project;   // out of a null space; empty without one
  std::vector<LoopVectors<S>> systems;                // that it may run side by side
  Reduction<S>* reduction = nullptr;
};

}  // namespace heddle::detail
