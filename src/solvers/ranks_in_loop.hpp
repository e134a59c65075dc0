// What a loop on a GPU asks of ranks that share the rows: none of it waits for a GPU.
#pragma once

#include "heddle/device.hpp"
#include "heddle/kernels/arguments.hpp"
#include "step_program.hpp"

namespace heddle::cuda {

/// The product of a distributed matrix as work of a loop.
class RankProduct {
 public:
  virtual ~RankProduct() = default;

  /// Partial sums that its kernels leave of each group of 256 rows; 0: they form none.
  virtual int parts() const = 0;
  /// Compiles what `queue` needs.
  virtual void prepare(const LoopProduct& multiplies) = 0;
  /// y = A x, and the partial sums of the epilogue, of the rank's groups in the order of the basis.
  /// Collective.
  virtual void queue(const LoopProduct& multiplies, const device::ProductOperands& operands,
                     const Stream& stream) = 0;
};

/// Beside a `RowShare`.
class RanksInLoop {
 public:
  virtual ~RanksInLoop() = default;

  /// As `RowShare::join_on_gpu`, of sums, with `parts` of them for a group and `to` in the memory
  /// of the GPU. Collective: meets the hosts of the other ranks, and returns before any GPU has
  /// come so far.
  virtual void queue_join(double* partials, int parts, int count, double* to,
                          const Stream& stream) = 0;

  /// Of the operator whose share this is; null for any other.
  virtual RankProduct* product_of(const void* matrix) const = 0;
};

}  // namespace heddle::cuda
