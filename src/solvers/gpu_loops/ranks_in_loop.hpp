// Operations that a loop on a GPU needs from ranks that share the rows; none of them waits for a
// GPU.
#pragma once

#include "heddle/device.hpp"
#include "heddle/kernels/arguments.hpp"
#include "heddle/kernels/rank_arguments.hpp"
#include "heddle/linear_operator.hpp"
#include "step_program.hpp"

namespace heddle::cuda {

/// The product of a distributed matrix as work of a loop.
class RankProduct {
 public:
  virtual ~RankProduct() = default;

  /// True if a graph may hold `queue` and `apply`, if kernels can wait for those of other ranks.
  virtual bool may_be_captured() const = 0;
  /// True if the plan requests that conjugate gradient's sums meet once per iteration.
  virtual bool sums_once() const = 0;
  /// Number of partial sums that its kernels leave for each group of 256 rows; 0: they form none.
  virtual int parts() const = 0;
  /// Compiles the kernels that `queue` needs.
  virtual void prepare(const LoopProduct& multiplies) = 0;
  /// y = A x, and the partial sums of the epilogue, for the rank's groups in the order of the
  /// basis. Collective.
  virtual void queue(const LoopProduct& multiplies, const device::ProductOperands& operands,
                     const Stream& stream) = 0;
};

/// An additional interface of a `RowShare`.
class RanksInLoop {
 public:
  virtual ~RanksInLoop() = default;

  /// Like `RowShare::join_on_gpu`, for sums, with `parts` of them per group and `to` in the memory
  /// of the GPU. Collective: meets the hosts of the other ranks, and returns before any GPU has got
  /// that far. On a stream that is being captured no hosts meet: the kernel waits for those of the
  /// other ranks.
  virtual void queue_join(double* partials, int parts, int count, double* to,
                          const Stream& stream) = 0;

  /// Arguments by which the next kernel on a stream that is being captured joins its sums, so that
  /// no other kernel has to join them before it; or nothing, if `queue_join` is to join them.
  virtual device::SumsOfRanks next_sums(const Stream& stream) = 0;

  /// The product of the operator whose share this is; null for any other.
  virtual RankProduct* product_of(const void* matrix) const = 0;

  /// True if a graph may hold iterations over that operator: each rank has a GPU of its own, which
  /// can access the others' memory.
  virtual bool may_be_captured(const void* matrix) const = 0;
  /// Lets the hosts of all ranks meet, after each launch of such a graph: whatever a host then
  /// waits for, no GPU waits for a launch. Requests for an end travel along.
  virtual void meet() = 0;
  /// After an error: no kernel of any rank waits for another rank any more.
  virtual void give_up() noexcept = 0;
  /// True if a rank has given up: rounds of kernels may differ since then, and no graph may follow.
  virtual bool has_given_up() const = 0;
};

/// True if ranks share the rows of a matrix and a graph may hold iterations over it.
template <class S>
bool are_captured(const LinearOperator<S>& matrix) {
  const auto* const ranks = dynamic_cast<const RanksInLoop*>(matrix.device().stream().share);
  return ranks != nullptr && ranks->may_be_captured(&matrix);
}

}  // namespace heddle::cuda
