// What a loop on a GPU asks of ranks that share the rows: none of it waits for a GPU.
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

  /// Whether a graph may hold `queue` and `apply`, if kernels can wait for those of other ranks.
  virtual bool may_be_captured() const = 0;
  /// Whether the plan wants conjugate gradient's sums to meet once an iteration.
  virtual bool sums_once() const = 0;
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
  /// come so far. On a stream that is being captured no hosts meet: the kernel waits for those of
  /// the other ranks.
  virtual void queue_join(double* partials, int parts, int count, double* to,
                          const Stream& stream) = 0;

  /// What the next kernel on a stream that is being captured joins its sums by, so that none need
  /// stand before it; or nothing, where `queue_join` is to join them.
  virtual device::SumsOfRanks next_sums(const Stream& stream) = 0;

  /// Of the operator whose share this is; null for any other.
  virtual RankProduct* product_of(const void* matrix) const = 0;

  /// Whether a graph may hold iterations over that operator: each rank has a GPU of its own, which
  /// reaches the others' memory.
  virtual bool may_be_captured(const void* matrix) const = 0;
  /// The hosts of all ranks, behind each launch of such a graph: whatever a host then waits for, no
  /// GPU waits for a launch. Wishes for an end travel with it.
  virtual void meet() = 0;
  /// After an error: no kernel of any rank waits for another rank any more.
  virtual void give_up() noexcept = 0;
  /// Whether a rank has: rounds of kernels may differ since, and no graph is to follow.
  virtual bool has_given_up() const = 0;
};

/// Whether ranks share the rows of a matrix and a graph may hold iterations over it.
template <class S>
bool are_captured(const LinearOperator<S>& matrix) {
  const auto* const ranks = dynamic_cast<const RanksInLoop*>(matrix.device().stream().share);
  return ranks != nullptr && ranks->may_be_captured(&matrix);
}

}  // namespace heddle::cuda
