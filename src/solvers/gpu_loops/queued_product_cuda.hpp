// Products as work that a graph can hold: of sliced storage, whose kernels know of a loop and form
// its sums, or of any operator that only queues work.
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

  /// A field of the operator's, without data.
  virtual FieldView<S> shape() const = 0;
  /// Partial sums, of up to `Reduction::width` numbers each, that a call leaves.
  virtual Offset partials(int most_systems) const = 0;
  /// Of those, how many make the sum of a group, see kernels/arguments.hpp.
  virtual int parts(int most_systems) const = 0;
  /// What it says of loops; the default's where the operator has none.
  virtual Plan plan() const = 0;
  /// Whether `multiply` does nothing once the loop has ended; an operator's own work goes on.
  virtual bool ends_with_loop() const = 0;
  /// Makes and compiles what `multiply` needs, before a graph records it.
  virtual void prepare_loop(int most_systems) = 0;
  /// The same for `residual`.
  virtual void prepare_residual() = 0;
  /// The same for `apply_dot`.
  virtual void prepare_dot() = 0;

  /// In a loop.
  struct Call {
    std::span<const device::ProductOperands> systems;  // partials: for `partials()` times the sums
    int most_systems = 1;                              // that the loop may have
    unsigned* ticket = nullptr;                        // two counters, see `Product::Call`
    bool overlapped = false;                           // see `Product::Call`
  };
  /// y = A x, and what is left of the sums of its epilogue for the first system.
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
