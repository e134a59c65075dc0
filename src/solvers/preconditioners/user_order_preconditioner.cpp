#include "heddle/user_order_preconditioner.hpp"

#include <optional>
#include <string>
#include <utility>

#include "base/stream_order.hpp"
#include "fields/fits_in_place.hpp"
#include "heddle/vector_operations.hpp"
#include "solvers/operators/operator_checks.hpp"
#include "solvers/operators/operator_field.hpp"

namespace heddle {

namespace {

[[noreturn]] void refuse_capture(const char* why) {
  throw Error(ErrorKind::usage,
              std::string("this preconditioner cannot become part of a graph: ") + why);
}

}  // namespace

template <class S>
class UserOrderPreconditioner<S>::Parts {
 public:
  Parts(OperatorReference<S> matrix, std::shared_ptr<Preconditioner<S>> preconditioner)
      : matrix_(std::move(matrix)),
        preconditioner_(std::move(preconditioner)),
        device_(matrix_->device()) {
    detail::check_square(*matrix_, "a preconditioner");
    if (preconditioner_) detail::check_fits(*preconditioner_, *matrix_);
    if (device_.on_gpu()) singular_row_ = Array<Index>(1, device_);
  }

  bool is_capturable() const { return !preconditioner_ || preconditioner_->is_capturable(); }

  void update(const Stream& stream) {
    if (!preconditioner_) return;
    const bool captured = is_being_captured(stream);
    if (captured && !can_queue_update()) refuse_capture("the host takes part in its update");
    InOrderOf caller(stream.queue, device_.stream());
    if (captured) {
      preconditioner_->queue_refresh(singular_row_.data(), device_.stream());
    } else {
      preconditioner_->refresh();
    }
    caller.leave();
  }

  void apply(const FieldView<const S>& r, const FieldView<S>& z, const Stream& stream) {
    check(r, "r");
    check(z, "z");
    check_apart(r, z, "r", "z");
    if (is_being_captured(stream)) {
      if (!is_capturable()) refuse_capture("the host drives it");
      check_prepared(r, r_);
      check_prepared(z, z_);
    }
    InOrderOf caller(stream.queue, device_.stream());
    apply(r, z);
    caller.leave();
    was_applied_ = true;
  }

 private:
  using OwnField = std::optional<detail::OperatorField<S>>;

  bool can_queue_update() const {
    return device_.on_gpu() && preconditioner_ && preconditioner_->can_queue_refresh();
  }

  template <class T>
  void check(const FieldView<T>& field, const char* name) const {
    field.check();
    if (field.size == matrix_->rows() && field.components == matrix_->row_components()) return;
    throw Error(ErrorKind::size_mismatch, std::string(name) + " has " + std::to_string(field.size) +
                                              " rows of " + std::to_string(field.components) +
                                              " components, the preconditioner " +
                                              std::to_string(matrix_->rows()) + " of " +
                                              std::to_string(matrix_->row_components()));
  }

  bool fits(const FieldView<const S>& field) const {
    return detail::fits_in_place<S>(field, matrix_->vector_layout(), matrix_->row_basis(),
                                    device_.stream());
  }
  void check_prepared(const FieldView<const S>& field, const OwnField& own) const {
    if constexpr (has_cuda) {
      if (field.size > 0 && !cuda::is_device_memory(field.data, device_.stream())) {
        refuse_capture("a field is in the host's memory");
      }
    }
    const bool is_in_place = !preconditioner_ || own || fits(field);
    if (!was_applied_ || !is_in_place) {
      refuse_capture("apply it to these fields once before the capture");
    }
  }
  const FieldView<S>& own(OwnField& field) const {
    if (!field) field.emplace(detail::row_field_of<S>(*matrix_));
    return field->view;
  }

  /// On the device's own stream, in whose order memory is released and M is renewed.
  void apply(const FieldView<const S>& r, const FieldView<S>& z) {
    const Stream stream = device_.stream();
    if (!preconditioner_) return permute<S>(r, z, S(1), stream);
    FieldView<const S> from = r;
    if (!fits(r)) {
      permute<S>(r, own(r_), S(1), stream);
      from = r_->view;
    }
    if (fits(z)) return preconditioner_->apply(from, z, stream);
    preconditioner_->apply(from, own(z_), stream);
    permute<S>(z_->view, z, S(1), stream);
  }

  OperatorReference<S> matrix_;
  std::shared_ptr<Preconditioner<S>> preconditioner_;  // null for the identity
  Device device_;
  Array<Index> singular_row_;
  OwnField r_, z_;  // of the operator's form
  bool was_applied_ = false;
};

template <class S>
UserOrderPreconditioner<S>::UserOrderPreconditioner(
    OperatorReference<S> matrix, std::shared_ptr<Preconditioner<S>> preconditioner)
    : parts_(std::make_unique<Parts>(std::move(matrix), std::move(preconditioner))) {}
template <class S>
UserOrderPreconditioner<S>::UserOrderPreconditioner(UserOrderPreconditioner&&) noexcept = default;
template <class S>
UserOrderPreconditioner<S>::~UserOrderPreconditioner() = default;

template <class S>
void UserOrderPreconditioner<S>::update(const Stream& stream) {
  parts_->update(stream);
}
template <class S>
void UserOrderPreconditioner<S>::apply(const FieldView<const S>& r, const FieldView<S>& z,
                                       const Stream& stream) const {
  parts_->apply(r, z, stream);
}
template <class S>
bool UserOrderPreconditioner<S>::is_capturable() const {
  return parts_->is_capturable();
}

template class UserOrderPreconditioner<float>;
template class UserOrderPreconditioner<double>;

}  // namespace heddle
