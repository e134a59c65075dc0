// The text of a solver's loop in one kernel. Needs no GPU.
#pragma once

#include "heddle/method_info.hpp"
#include "spmv/product_program.hpp"

namespace heddle::cuda {

enum class PersistentMethod { conjugate_gradient, bicgstab };
/// The method for a row with `has_one_kernel`.
inline PersistentMethod persistent_method(const MethodInfo& method) {
  return method.needs_positive ? PersistentMethod::conjugate_gradient : PersistentMethod::bicgstab;
}

/// Parameters of a method in one kernel, along with the product, whose ring is the recurrence's.
struct PersistentProgram {
  ProductProgram product;
  int threads = 256;  // per block
  bool jacobi = false;
  bool in_shared = false;  // the matrix lies in shared memory
  PersistentMethod method = PersistentMethod::conjugate_gradient;
};

/// Memory that a method takes.
struct PersistentNeeds {
  int vectors;    // parts that a block keeps in shared memory
  int published;  // whole vectors that all blocks read
  int packets;    // per block
  int flags;      // per block
};
PersistentNeeds needs_of(PersistentMethod method, bool jacobi, int ring);
/// Bytes of a block's shared memory that its kernel keeps for itself.
inline constexpr long long persistent_static_shared = 12288;

/// Throws `Error` (bad_plan) unless slices have a constant number of lanes, and rows lie in the
/// order of y.
void check_plan_for_persistent_loop(const Plan& plan, bool is_scattered);

/// True if a block's part of the matrix is one piece of memory.
inline bool may_lie_in_shared_memory(const Plan& plan) {
  return plan.layout.inner != InnerLayout::soa;
}

/// Its kernel is `heddle_solve`.
KernelSource persistent_source(const PersistentProgram& program);

}  // namespace heddle::cuda
