// A tree as an operator: A, A* or A^T of one storage.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "heddle/detail/entry_table.hpp"
#include "heddle/detail/tree_product.hpp"
#include "heddle/export.hpp"
#include "heddle/linear_operator.hpp"
#include "heddle/multiply.hpp"

namespace heddle::detail {

/// Throws `Error` (size_mismatch) unless a field has these rows and components, in the user's
/// order. `name` is x or y.
HEDDLE_EXPORT void check_tree_field(Index size, int components, const Basis* basis, Index rows,
                                    int row_components, const char* name);
/// Throws `Error` (unsupported).
[[noreturn]] HEDDLE_EXPORT void refuse_form(TreeForm form);
[[noreturn]] HEDDLE_EXPORT void refuse_adjoint_of_transpose();

/// A handle: copies share the tree. Fields are in the user's order.
template <class E, TreeForm form>
class HEDDLE_EXPORT TreeOperator : public LinearOperator<vector_scalar_t<E>> {
  using S = vector_scalar_t<E>;
  using A = applied_entry_t<form, E>;
  static constexpr bool turned = form != TreeForm::direct;

 public:
  TreeOperator(std::shared_ptr<const ScheduledTree> matrix, const Device& device)
      : matrix_(std::move(matrix)), device_(device) {}

  Index rows() const override { return turned ? tree().columns : tree().rows; }
  Index columns() const override { return turned ? tree().rows : tree().columns; }
  int row_components() const override { return result_entry_t<A>::components; }
  int column_components() const override { return vector_entry_t<A>::components; }
  Device device() const override { return device_; }
  Ring ring() const override { return arithmetic_t<E>::ring; }
  bool has_adjoint() const override { return heddle::has_adjoint<E>; }

  /// Of the same tree: it takes a schedule, and no second copy. Throws `Error` (unsupported) for
  /// entries without one.
  std::shared_ptr<const LinearOperator<S>> adjoint() const override {
    if constexpr (form == TreeForm::direct) {
      return in_form<TreeForm::adjoint>();
    } else if constexpr (form == TreeForm::adjoint) {
      return in_form<TreeForm::direct>();
    } else {
      refuse_adjoint_of_transpose();
    }
  }

  std::shared_ptr<const LinearOperator<S>> handle() const override {
    return std::make_shared<TreeOperator>(*this);
  }
  long long bytes_of_product() const override {
    const Index blocks = static_cast<Index>(tree().leaf.blocks_of(rows()));
    return tree().memory.leaves.bytes + LeafSchedule::bytes(blocks, tree().memory.leaves.nodes()) +
           (static_cast<long long>(rows()) * row_components() +
            static_cast<long long>(columns()) * column_components()) *
               static_cast<long long>(sizeof(S));
  }

  void apply(S alpha, const FieldView<const S>& x, S beta, const FieldView<S>& y,
             const Stream& stream) const override {
    check(x, y, "y");
    if (!x.is_aos()) return multiply<S>(*this, x, y, alpha, beta);
    tree_product<E, form, S>(
        *matrix_, x.data, StoreScaled<S>{alpha, beta, y.data, y.entry_stride, y.component_stride},
        nullptr, stream);
  }
  sum_t<S> apply_dot(const FieldView<const S>& x, const FieldView<S>& y, Reduction<S>& reduction,
                     const Stream& stream) const override {
    if (!x.is_aos() || !y.is_aos() || rows() != columns() ||
        row_components() != column_components()) {
      return LinearOperator<S>::apply_dot(x, y, reduction, stream);
    }
    check(x, y, "y");
    tree_product<E, form, S>(*matrix_, x.data,
                             StoreAndDot<S>{y.data, x.data, y.entry_stride, y.component_stride},
                             &reduction, stream);
    return reduction.finish(1)[0];
  }
  /// Summed in double also where entries and fields are single.
  sum_t<S> residual(const FieldView<const S>& b, const FieldView<const S>& x, const FieldView<S>& r,
                    Reduction<S>& reduction, const Stream& stream) const override {
    using Exact = typename promoted<E>::type;
    check(x, r, "r");
    check_same_shape(b, r, "residual");
    check_tree_field(b.size, b.components, b.basis.get(), rows(), row_components(), "b");
    if (b.data != r.data) check_apart(b, r, "b", "r");
    if (b.entry_stride != r.entry_stride || b.component_stride != r.component_stride) {
      throw Error(ErrorKind::size_mismatch, "residual: b and r differ in layout; copy one first");
    }
    const S* packed = x.data;
    Array<S> copied;
    if (!x.is_aos()) {
      copied = Array<S>(static_cast<std::size_t>(x.scalars()), device_);
      permute<S>(x, FieldView<S>(copied.data(), x.size, x.components), S(1), stream);
      packed = copied.data();
    }
    tree_product<Exact, form, S>(
        *matrix_, packed, StoreResidual<S>{r.data, b.data, r.entry_stride, r.component_stride},
        &reduction, stream);
    return reduction.finish(1)[0];
  }

 protected:
  const ScheduledTree& scheduled() const {
    if (!matrix_) refuse_moved_from();
    return *matrix_;
  }
  const std::shared_ptr<const ScheduledTree>& shared() const {
    static_cast<void>(scheduled());
    return matrix_;
  }
  const Tree& tree() const { return scheduled().tree(); }

  template <TreeForm other>
  std::shared_ptr<const LinearOperator<S>> in_form() const {
    if constexpr (has_form<other, arithmetic_t<E>>) {
      return std::make_shared<TreeOperator<E, other>>(shared(), device_);
    } else {
      refuse_form(other);
    }
  }

 private:
  void check(const FieldView<const S>& x, const FieldView<S>& y, const char* name_of_y) const {
    x.check();
    y.check();
    check_tree_field(x.size, x.components, x.basis.get(), columns(), column_components(), "x");
    check_tree_field(y.size, y.components, y.basis.get(), rows(), row_components(), name_of_y);
    check_apart(x, y, "x", name_of_y);
  }

  std::shared_ptr<const ScheduledTree> matrix_;
  Device device_;
};

}  // namespace heddle::detail
