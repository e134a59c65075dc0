// The interface that a solver needs of an operator; any matrix-free code may implement it.
#pragma once

#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include "heddle/basis.hpp"
#include "heddle/detail/reduction.hpp"
#include "heddle/error.hpp"
#include "heddle/export.hpp"
#include "heddle/field.hpp"
#include "heddle/plan.hpp"
#include "heddle/vector_operations.hpp"

namespace heddle {

namespace cuda {
class Product;
}
namespace detail {
template <class S>
class StoredEntries;
}

/// A linear map between fields of scalar S. Only `rows` and `apply` are mandatory; the fused forms
/// are for operators that save a pass over memory with them. x does not overlap with the result; b
/// and r may be one field.
template <class S>
class HEDDLE_EXPORT LinearOperator {
 public:
  virtual ~LinearOperator() = default;

  /// Rows of y and of x, and scalars per row of either.
  virtual Index rows() const = 0;
  virtual Index columns() const { return rows(); }
  virtual int row_components() const { return 1; }
  virtual int column_components() const { return row_components(); }

  /// Layout and numbering of the fields that it takes; null means the user's order.
  virtual VectorLayout vector_layout() const { return VectorLayout::aos; }
  virtual std::shared_ptr<const Basis> row_basis() const { return nullptr; }
  virtual std::shared_ptr<const Basis> column_basis() const { return row_basis(); }
  virtual Device device() const { return Device::cpu(); }

  /// The coefficients that commute with it from the right, and those that BiCGStab and GMRES
  /// should take.
  virtual Ring ring() const { return Ring::real; }
  virtual Recurrence recurrence() const { return Recurrence::ring; }
  /// The combination of both: the coefficients of methods that support other than real ones.
  Ring coefficient_ring() const { return recurrence() == Recurrence::real ? Ring::real : ring(); }
  /// False if the transpose is not of the same kind (dual quaternions): then the operator is never
  /// Hermitian.
  virtual bool has_adjoint() const { return true; }
  /// A*, for which Re <A x, y> = Re <x, A* y> for all x and y: rows and columns exchange places,
  /// with their bases. It multiplies by the values that A has at that time, including new ones.
  /// Throws `Error` (unsupported) if the operator states none.
  virtual std::shared_ptr<const LinearOperator> adjoint() const {
    throw Error(ErrorKind::unsupported,
                "this operator defines no adjoint; override LinearOperator::adjoint");
  }
  /// The bytes that one product has to move, for models; 0 = unknown.
  virtual long long bytes_of_product() const { return 0; }

  /// On a GPU: true if `apply` only queues work on the stream that it is given, which need not be
  /// the device's, and the same work each time: kernels, copies and fills, on memory that stays in
  /// place. It allocates nothing, waits for nothing, and uses no number on the host that may
  /// change. Then solvers record it in the graph of a loop on the GPU; otherwise the host drives
  /// the loop.
  virtual bool is_capturable() const { return false; }

  /// The entries that preconditioners are made from; null for an operator that stores none.
  virtual const detail::StoredEntries<S>* stored_entries() const { return nullptr; }

  /// Sliced storage on a GPU, for loops that run there; null for any other operator.
  virtual const cuda::Product* product_on_gpu() const { return nullptr; }

  /// The operator of a solver's iterations: this one, or the same matrix in a narrower scalar,
  /// which takes less memory traffic and adds a rounding error. `apply` and `residual` of this
  /// operator always use the matrix as given.
  virtual const LinearOperator& iterated() const { return *this; }

  /// A copy for a solver to keep, if copies are cheap and share the matrix. Null for any other
  /// operator, to which a solver keeps a reference.
  virtual std::shared_ptr<const LinearOperator> handle() const { return nullptr; }

  /// y = alpha A x + beta y; y is not read when beta = 0.
  virtual void apply(S alpha, const FieldView<const S>& x, S beta, const FieldView<S>& y,
                     const Stream& stream) const = 0;

  /// y = A x; returns Re <x, y>. Square operators only.
  virtual sum_t<S> apply_dot(const FieldView<const S>& x, const FieldView<S>& y,
                             Reduction<S>& reduction, const Stream& stream) const {
    apply(S(1), x, S(0), y, stream);
    return real_dot<S>(x, y, reduction, stream);
  }

  /// y_k = A x_k for up to `Reduction::width` fields, which an operator may do in one pass over its
  /// matrix; `dots`, unless empty, are Re <x_k, y_k>. Each has the bits of a product alone.
  virtual void apply_all(std::span<const FieldView<const S>> x, std::span<const FieldView<S>> y,
                         std::span<sum_t<S>> dots, Reduction<S>& reduction,
                         const Stream& stream) const {
    for (std::size_t k = 0; k < x.size(); ++k) {
      if (dots.empty()) {
        apply(S(1), x[k], S(0), y[k], stream);
      } else {
        dots[k] = apply_dot(x[k], y[k], reduction, stream);
      }
    }
  }

  /// r = b - A x; returns |r|^2.
  virtual sum_t<S> residual(const FieldView<const S>& b, const FieldView<const S>& x,
                            const FieldView<S>& r, Reduction<S>& reduction,
                            const Stream& stream) const {
    copy<S>(b, r, stream);
    apply(S(-1), x, S(1), r, stream);
    return real_dot<S>(r, r, reduction, stream);
  }

  /// The form in which `iterated` keeps the entries, if it is another operator. If it is this
  /// operator, an exact encoding that is named here has refused the values.
  virtual StoredScalar iterated_as() const { return StoredScalar::single; }
  /// The matrix in floats, for iterations that make no further progress on a copy of 16 bits; made
  /// at the first request. Null if `iterated` is no such copy, or if it would not fit.
  virtual std::shared_ptr<const LinearOperator> iterated_in_floats() const { return nullptr; }
};

/// An operator as a solver keeps it: its handle if it has one; a temporary or shared object that
/// was passed; otherwise a reference, whose target must outlive the solver.
template <class S>
class OperatorReference {
 public:
  OperatorReference(const LinearOperator<S>& matrix)
      : kept_(matrix.handle()), matrix_(kept_ ? kept_.get() : &matrix) {}

  template <class M>
    requires(!std::is_lvalue_reference_v<M> && std::is_base_of_v<LinearOperator<S>, M>)
  OperatorReference(M&& matrix)
      : kept_(std::make_shared<std::remove_cv_t<M>>(std::forward<M>(matrix))),
        matrix_(kept_.get()) {}

  /// Throws `Error` (usage) for null.
  template <class M>
    requires std::is_convertible_v<const M*, const LinearOperator<S>*>
  OperatorReference(std::shared_ptr<M> matrix)
      : kept_(std::move(matrix)), matrix_(kept_ ? kept_.get() : nullptr) {
    if (!kept_) throw Error(ErrorKind::usage, "a null pointer to an operator");
  }

  const LinearOperator<S>& operator*() const { return *matrix_; }
  const LinearOperator<S>* operator->() const { return matrix_; }

 private:
  std::shared_ptr<const LinearOperator<S>> kept_;
  const LinearOperator<S>* matrix_;
};

namespace detail {
template <class S>
S scalar_of(const LinearOperator<S>&);
template <class S>
S scalar_of(const OperatorReference<S>&);
template <class M>
auto scalar_of(const std::shared_ptr<M>& matrix) -> decltype(scalar_of(*matrix));
}  // namespace detail

/// The scalar of an operator, or of a shared one.
template <class M>
using operator_scalar_t = decltype(detail::scalar_of(std::declval<const M&>()));

}  // namespace heddle
