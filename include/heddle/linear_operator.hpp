// What a solver needs of an operator: any matrix-free code may be one.
#pragma once

#include <memory>

#include "heddle/basis.hpp"
#include "heddle/export.hpp"
#include "heddle/field.hpp"
#include "heddle/plan.hpp"
#include "heddle/reduction.hpp"
#include "heddle/vector_operations.hpp"

namespace heddle {

namespace cuda {
class Product;
}

/// A linear map between fields of scalar S. Only `rows` and `apply` have to be written; the fused
/// forms exist for operators that save a pass over memory with them.
template <class S>
class HEDDLE_EXPORT LinearOperator {
 public:
  virtual ~LinearOperator() = default;

  /// Rows of y and of x, and scalars a row of either.
  virtual Index rows() const = 0;
  virtual Index columns() const { return rows(); }
  virtual int row_components() const { return 1; }
  virtual int column_components() const { return row_components(); }

  /// How fields that it takes are laid out and numbered; null means the user's order.
  virtual VectorLayout vector_layout() const { return VectorLayout::aos; }
  virtual std::shared_ptr<const Basis> row_basis() const { return nullptr; }
  virtual std::shared_ptr<const Basis> column_basis() const { return row_basis(); }
  virtual Device device() const { return Device::cpu(); }

  /// The coefficients that commute with it from the right, and those that BiCGStab should take.
  virtual Ring ring() const { return Ring::real; }
  virtual Recurrence recurrence() const { return Recurrence::ring; }
  /// False where the transpose is not of the same kind (dual quaternions): then it is never
  /// Hermitian.
  virtual bool has_adjoint() const { return true; }
  /// Bytes that one product has to move, for models; 0 = unknown.
  virtual long long bytes_of_product() const { return 0; }

  /// Of an operator on a GPU: whether `apply` only queues work on the stream that it is given,
  /// which need not be the device's, and the same each time: kernels, copies and fills, on memory
  /// that stays where it is. It allocates nothing, waits for nothing, and uses no number of the
  /// host that may change. Then solvers record it in the graph of a loop that lives there;
  /// otherwise the host drives the loop.
  virtual bool only_queues() const { return false; }

  /// Sliced storage on a GPU, for loops that run there; null for any other operator.
  virtual const cuda::Product* product_on_gpu() const { return nullptr; }

  /// What the iterations of a solver multiply by: this, or the same matrix kept in a narrower
  /// scalar, which takes less memory traffic and is off by its rounding. This operator's own
  /// `apply` and `residual` are always of the matrix as it was given.
  virtual const LinearOperator& iterated() const { return *this; }

  /// y = alpha A x + beta y; y is not read when beta = 0. x and y do not overlap.
  virtual void apply(S alpha, const FieldView<const S>& x, S beta, const FieldView<S>& y,
                     const Stream& stream) const = 0;

  /// y = A x; returns Re <x, y>. Square operators only.
  virtual sum_t<S> apply_dot(const FieldView<const S>& x, const FieldView<S>& y,
                             Reduction<S>& reduction, const Stream& stream) const {
    apply(S(1), x, S(0), y, stream);
    return real_dot<S>(x, y, reduction, stream);
  }

  /// r = b - A x; returns |r|^2.
  virtual sum_t<S> residual(const FieldView<const S>& b, const FieldView<const S>& x,
                            const FieldView<S>& r, Reduction<S>& reduction,
                            const Stream& stream) const {
    copy<S>(b, r, stream);
    apply(S(-1), x, S(1), r, stream);
    return real_dot<S>(r, r, reduction, stream);
  }
};

}  // namespace heddle
