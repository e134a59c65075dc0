// Products as work that a graph can hold: of sliced storage, whose kernels know about a loop and
// form its sums, or of any operator that only queues work.
#pragma once

#include <memory>
#include <span>

#include "heddle/detail/product_cuda.hpp"
#include "heddle/linear_operator.hpp"
#include "step_program.hpp"

namespace heddle::cuda {

template <class S>
class QueuedProduct {
 public:
  virtual ~QueuedProduct() = default;

  /// A field of the operator, without data.
  virtual FieldView<S> shape() const = 0;
  /// Partial sums, of up to `Reduction::width` numbers each, that a call leaves.
  virtual Offset partials(int max_systems) const = 0;
  /// The number of those that make the sum of a group, see kernels/arguments.hpp.
  virtual int parts(int max_systems) const = 0;
  /// The operator's plan for loops; the default plan if it has none.
  virtual Plan plan() const = 0;
  /// True if `multiply` does nothing once the loop has ended; an operator's own work continues.
  virtual bool ends_with_loop() const = 0;
  /// Makes and compiles everything that `multiply` needs, before a graph records it.
  virtual void prepare_loop(int max_systems) = 0;
  /// Same for `residual`.
  virtual void prepare_residual() = 0;
  /// Same for `apply_dot`.
  virtual void prepare_dot() = 0;

  /// A call in a loop.
  struct Call {
    std::span<const device::ProductOperands> systems;  // partials: for `partials()` times the sums
    int max_systems = 1;                               // most that the loop may have
    unsigned* ticket = nullptr;                        // two counters, see `Product::Call`
    bool overlapped = false;                           // see `Product::Call`
  };
  /// y = A x. Returns the partial sums that its epilogue leaves for the first system.
  virtual device::PartialSums multiply(const Call& call, const Stream& stream) = 0;

  /// r = b - A x; to.results = |r|^2.
  virtual void residual(const FieldView<S>& b, const FieldView<S>& x, const FieldView<S>& r,
                        const DeviceSums& to, unsigned* ticket, const Stream& stream) = 0;
  /// y = A x; to.results = Re <x, y>.
  virtual void apply_dot(const FieldView<S>& x, const FieldView<S>& y, const DeviceSums& to,
                         unsigned* ticket, const Stream& stream) = 0;
};

/// The operator, on a GPU and with a `product_on_gpu` or `is_capturable`, outlives it.
template <class S>
std::unique_ptr<QueuedProduct<S>> make_queued_product(const LinearOperator<S>& matrix,
                                                      const LoopProduct& multiplies = {});

}  // namespace heddle::cuda
