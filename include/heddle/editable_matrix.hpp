// A matrix in hierarchical storage that changes under the solvers that live on it.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "heddle/detail/changing.hpp"
#include "heddle/edit_batch.hpp"
#include "heddle/export.hpp"
#include "heddle/hierarchical_matrix.hpp"
#include "heddle/linear_operator.hpp"

namespace heddle {

namespace detail {

/// Throws `Error` (size_mismatch or usage) unless a matrix of these sizes on this device may take
/// the place of `before`.
template <class S>
void check_successor(const LinearOperator<S>& before, const LinearOperator<S>& matrix) {
  if (matrix.rows() != before.rows() || matrix.columns() != before.columns()) {
    throw Error(ErrorKind::size_mismatch,
                "a matrix of " + std::to_string(before.rows()) + " x " +
                    std::to_string(before.columns()) + " entries cannot be replaced by one of " +
                    std::to_string(matrix.rows()) + " x " + std::to_string(matrix.columns()));
  }
  const Stream now = matrix.device().stream(), then = before.device().stream();
  if (now.gpu != then.gpu || now.queue != then.queue) {
    throw Error(
        ErrorKind::usage,
        "a matrix cannot be replaced by one of another device or stream; `on` takes it there");
  }
}

template <class E>
struct EditableState {
  HierarchicalMatrix<E> matrix;
  std::shared_ptr<const LinearOperator<vector_scalar_t<E>>> adjoint = nullptr;  // once requested
  long long generation = 0;
};

/// The product with A, or with A* if `is_adjoint`, of the newest matrix at each product.
template <class E, bool is_adjoint>
class EditableOperator : public LinearOperator<vector_scalar_t<E>>, public Changing {
  using S = vector_scalar_t<E>;

 public:
  explicit EditableOperator(std::shared_ptr<EditableState<E>> state) : state_(std::move(state)) {}

  Index rows() const override { return now().rows(); }
  Index columns() const override { return now().columns(); }
  int row_components() const override { return now().row_components(); }
  int column_components() const override { return now().column_components(); }
  Device device() const override { return now().device(); }
  Ring ring() const override { return now().ring(); }
  bool has_adjoint() const override { return now().has_adjoint(); }
  long long bytes_of_product() const override { return now().bytes_of_product(); }
  /// The adjoint of the matrix that is current at each product.
  std::shared_ptr<const LinearOperator<S>> adjoint() const override {
    if constexpr (heddle::has_adjoint<E>) {
      if (!state_->adjoint) state_->adjoint = state_->matrix.adjoint();
      return std::make_shared<EditableOperator<E, !is_adjoint>>(state_);
    } else {
      return state_->matrix.adjoint();  // refuses
    }
  }
  std::shared_ptr<const LinearOperator<S>> handle() const override {
    return std::make_shared<EditableOperator>(state_);
  }
  /// A graph would keep the nodes of one matrix: on a GPU the host drives loops.
  bool is_capturable() const override { return false; }

  void apply(S alpha, const FieldView<const S>& x, S beta, const FieldView<S>& y,
             const Stream& stream) const override {
    now().apply(alpha, x, beta, y, stream);
  }
  sum_t<S> apply_dot(const FieldView<const S>& x, const FieldView<S>& y, Reduction<S>& reduction,
                     const Stream& stream) const override {
    return now().apply_dot(x, y, reduction, stream);
  }
  sum_t<S> residual(const FieldView<const S>& b, const FieldView<const S>& x, const FieldView<S>& r,
                    Reduction<S>& reduction, const Stream& stream) const override {
    return now().residual(b, x, r, reduction, stream);
  }

  long long generation() const override { return state_->generation; }

 protected:
  const LinearOperator<S>& now() const {
    if constexpr (is_adjoint) {
      return *state_->adjoint;
    } else {
      return state_->matrix;
    }
  }
  std::shared_ptr<EditableState<E>> state_;
};

}  // namespace detail

/// A `HierarchicalMatrix` that may be exchanged for another one of its sizes. It is a handle:
/// copies, and all solvers and preconditioners that were made from it, see the newest matrix. A
/// solver continues with that matrix at its next solve: schedules are mended, `HierarchicalJacobi`
/// inverts the diagonal entries that have changed, and intervals, coarse spaces and earlier
/// solutions are renewed as after `Operator<E>::update_values`. A change while a solve or product
/// runs is a data race. On a GPU solvers drive their loop from the host, and refuse to `enqueue`.
template <class E>
class HEDDLE_EXPORT EditableMatrix final : public detail::EditableOperator<E, false> {
  using Base = detail::EditableOperator<E, false>;

 public:
  explicit EditableMatrix(HierarchicalMatrix<E> matrix)
      : Base(std::make_shared<detail::EditableState<E>>(std::move(matrix))) {}

  /// The newest matrix, itself immutable.
  const HierarchicalMatrix<E>& matrix() const { return this->state_->matrix; }

  /// Like `HierarchicalMatrix<E>::edited`; if that throws, nothing has changed.
  void edit(const EditBatch<E>& edits) { replace(matrix().edited(edits)); }
  void edit(const EditViews<E>& edits) { replace(matrix().edited(edits)); }

  /// For sums, and for newly made matrices: `assign(add(1.0, K, sigma, M))`. Throws `Error`:
  /// size_mismatch for another size, usage for another device.
  void assign(HierarchicalMatrix<E> matrix) {
    detail::check_successor<vector_scalar_t<E>>(this->matrix(), matrix);
    replace(std::move(matrix));
  }

 private:
  void replace(HierarchicalMatrix<E> matrix) {
    detail::EditableState<E>& state = *this->state_;
    auto adjoint = state.adjoint ? matrix.adjoint() : nullptr;
    state.matrix = std::move(matrix);
    state.adjoint = std::move(adjoint);
    ++state.generation;
  }
};

}  // namespace heddle
