// Operators and preconditioners that call functions of the caller.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "guard.hpp"
#include "heddle/linear_operator.hpp"
#include "heddle/preconditioner.hpp"
#include "solvers/operators/operator_field.hpp"
#include "views.hpp"

namespace heddle::c {

/// The location of a callback's fields.
inline heddle_location location_on(const Device& device) {
  return device.on_gpu() ? HEDDLE_DEVICE : HEDDLE_HOST;
}

struct Callback {
  heddle_apply function;
  void* user;
  NamedEntry entry;
  const char* name;
  heddle_location location;  // where the fields are

  /// Takes fields that are stored row by row. Throws `CallbackFailed`.
  template <class S>
  void operator()(const FieldView<const S>& x, const FieldView<S>& y) const {
    const heddle_view from = view_of(x, entry.number, location),
                      to = view_of(y, entry.number, location);
    const int code = function(user, &from, &to);
    if (code != 0) {
      throw CallbackFailed(std::string("the callback of the ") + name + " returned " +
                           std::to_string(code));
    }
  }
};

/// `adjoint`: its function is null for none. Works in the user's order. On a GPU the host drives
/// its loops: functions may do more than queue work.
template <class S>
class CallbackOperator final : public LinearOperator<S> {
 public:
  CallbackOperator(Index rows, Index columns, Device device, const Callback& callback,
                   const Callback& adjoint)
      : rows_(rows),
        columns_(columns),
        device_(std::move(device)),
        callback_(callback),
        adjoint_(adjoint) {
    if (const auto& definition = callback.entry.entry.definition()) {
      components_ = definition->vector_size();
      ring_ = definition->ring;
      has_adjoint_ = definition->has_adjoint();
      return;
    }
    visit_entry<S>(callback.entry.entry.kind(), [&]<class E>() {
      components_ = vector_entry_t<E>::components;
      ring_ = arithmetic_t<E>::ring;
      has_adjoint_ = heddle::has_adjoint<E>;
    });
  }

  Index rows() const override { return rows_; }
  Index columns() const override { return columns_; }
  int row_components() const override { return components_; }
  Device device() const override { return device_; }
  Ring ring() const override { return ring_; }
  bool has_adjoint() const override { return has_adjoint_; }
  std::shared_ptr<const LinearOperator<S>> adjoint() const override {
    if (adjoint_.function == nullptr) return LinearOperator<S>::adjoint();
    return std::make_shared<const CallbackOperator>(columns_, rows_, device_, adjoint_, callback_);
  }

  void apply(S alpha, const FieldView<const S>& x, S beta, const FieldView<S>& y,
             const Stream& stream) const override {
    if (alpha == S(1) && beta == S(0)) {
      callback_(x, y);
      return;
    }
    const detail::OperatorField<S> image = detail::row_field_of<S>(*this);
    callback_(x, image.view);
    axpby<S>(alpha, image.view, beta, y, stream);
  }

 private:
  Index rows_, columns_;
  Device device_;
  int components_ = 1;
  Ring ring_ = Ring::real;
  bool has_adjoint_ = false;
  Callback callback_, adjoint_;
};

/// Calls the function with fields in the user's order, whatever that of the operator is.
template <class S>
class CallbackPreconditioner final : public Preconditioner<S> {
 public:
  CallbackPreconditioner(const LinearOperator<S>& matrix, const Callback& callback, bool varies)
      : callback_(callback),
        varies_(varies),
        basis_(matrix.row_basis()),
        shape_{matrix.rows(), matrix.row_components(), basis_, matrix.vector_layout(),
               matrix.device().stream().gpu} {
    if ((basis_ == nullptr || basis_->is_natural()) &&
        (matrix.vector_layout() == VectorLayout::aos || shape_.components == 1)) {
      return;
    }
    const auto scalars =
        static_cast<std::size_t>(shape_.rows) * static_cast<std::size_t>(shape_.components);
    r_ = Array<S>(scalars, matrix.device());
    z_ = Array<S>(scalars, matrix.device());
    passes_through_ = true;
  }

  std::optional<FieldShape> shape() const override { return shape_; }
  bool is_constant() const override { return !varies_; }

  void apply(const FieldView<const S>& r, const FieldView<S>& z,
             const Stream& stream) const override {
    if (!passes_through_) {
      callback_(r, z);
      return;
    }
    const FieldView<S> own_r(r_.data(), shape_.rows, shape_.components);
    const FieldView<S> own_z(z_.data(), shape_.rows, shape_.components);
    permute<S>(r, own_r, S(1), stream);
    callback_(FieldView<const S>(own_r), own_z);
    permute<S>(own_z, z, S(1), stream);
  }

 private:
  Callback callback_;
  bool varies_;
  std::shared_ptr<const Basis> basis_;
  FieldShape shape_;
  bool passes_through_ = false;
  mutable Array<S> r_, z_;  // in the user's order
};

}  // namespace heddle::c
