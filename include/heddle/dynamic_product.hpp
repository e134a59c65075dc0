// The product of hierarchical storage as its paper schedules it (Derler et al. 2017, section 4): a
// walk over the tree in each product, through queues of nodes, with atomic additions.
#pragma once

#include <memory>
#include <string>
#include <type_traits>

#include "heddle/config.hpp"
#include "heddle/detail/trees/tree_walk.hpp"
#include "heddle/detail/trees/tree_walk_cuda.hpp"
#include "heddle/export.hpp"
#include "heddle/hierarchical_matrix.hpp"
#include "heddle/linear_operator.hpp"
#include "heddle/multiply.hpp"
#include "heddle/vector_operations.hpp"

namespace heddle {

namespace detail {
/// Throws `Error` (usage), which names schedule=tree.
[[noreturn]] HEDDLE_EXPORT void refuse_dynamic_product();
}  // namespace detail

/// y = A x, or A* x, by schedule=tree. It keeps no schedule, and the terms of one row of y are
/// added in a different order in each run, so that rounding differs from run to run. It exists to
/// be measured against the products of the matrix itself. Solvers refuse it with `Error` (usage).
/// On a GPU it has one set of queues, so that its products must follow one another; fields are AoS.
template <class E>
class HEDDLE_EXPORT DynamicProduct final : public LinearOperator<vector_scalar_t<E>> {
  using S = vector_scalar_t<E>;
  using TreeForm = detail::TreeForm;
  static_assert(std::is_same_v<S, float> || std::is_same_v<S, double>,
                "schedule=tree needs float or double, which it adds atomically");

 public:
  /// Shares the tree, which is already on the GPU if one is used. Throws `Error`: unsupported for
  /// A* of entries without an adjoint, memory where queues do not fit.
  explicit DynamicProduct(const HierarchicalMatrix<E>& matrix, bool adjoint = false)
      : matrix_(matrix), is_adjoint_(adjoint) {
    if (adjoint) static_cast<void>(matrix.adjoint());  // refuses
    in_form([&]<TreeForm form>() {
      using A = detail::applied_entry_t<form, E>;
      row_components_ = result_entry_t<A>::components;
      column_components_ = vector_entry_t<A>::components;
      if constexpr (has_cuda) {
        if (!matrix.device().on_gpu()) return;
        auto texts = detail::entry_texts<E>();
        walk_ = std::make_shared<cuda::TreeWalk>(
            cuda::TreeEntry{std::move(texts.own), std::move(texts.exact), detail::entry_sizes<E>,
                            form, row_components_},
            matrix.on_gpu(), matrix.device());
      }
    });
  }

  Index rows() const override { return is_adjoint_ ? matrix_.columns() : matrix_.rows(); }
  Index columns() const override { return is_adjoint_ ? matrix_.rows() : matrix_.columns(); }
  int row_components() const override { return row_components_; }
  int column_components() const override { return column_components_; }
  Device device() const override { return matrix_.device(); }
  Ring ring() const override { return matrix_.ring(); }
  bool has_adjoint() const override { return matrix_.has_adjoint(); }
  bool is_capturable() const override { return device().on_gpu(); }
  std::shared_ptr<const LinearOperator<S>> adjoint() const override {
    return std::make_shared<DynamicProduct>(matrix_, !is_adjoint_);
  }
  /// Bytes of the queues, on a GPU.
  long long bytes_of_queues() const {
    if constexpr (has_cuda) {
      if (walk_) return walk_->bytes();
    }
    return 0;
  }
  /// The tree, both fields, and y a second time.
  long long bytes_of_product() const override {
    return matrix_.memory().tree() +
           (2LL * rows() * row_components() + 1LL * columns() * column_components()) *
               static_cast<long long>(sizeof(S));
  }

  void apply(S alpha, const FieldView<const S>& x, S beta, const FieldView<S>& y,
             const Stream& stream) const override {
    x.check();
    y.check();
    detail::check_tree_field(x.size, x.components, x.basis.get(), columns(), column_components(),
                             "x");
    detail::check_tree_field(y.size, y.components, y.basis.get(), rows(), row_components(), "y");
    check_apart(x, y, "x", "y");
    if constexpr (has_cuda) {
      if (walk_) {
        if (x.size > 0) walk_->check_operand(x.data, x.is_aos(), "x");
        if (y.size > 0) walk_->check_operand(y.data, y.is_aos(), "y");
        return walk_->launch(static_cast<double>(alpha), x.data, static_cast<double>(beta), y.data,
                             stream);
      }
    }
    if (!x.is_aos() || !y.is_aos()) return multiply<S>(*this, x, y, alpha, beta);
    if (beta == S(0)) {
      fill<S>(S(0), y, stream);
    } else {
      scale<S>(beta, y, stream);
    }
    in_form([&]<TreeForm form>() {
      detail::tree_walk<E, form>(matrix_.tree(), alpha, x.data, y.data, stream);
    });
  }

  /// Solvers call these three.
  std::shared_ptr<const LinearOperator<S>> handle() const override {
    detail::refuse_dynamic_product();
  }
  sum_t<S> apply_dot(const FieldView<const S>&, const FieldView<S>&, Reduction<S>&,
                     const Stream&) const override {
    detail::refuse_dynamic_product();
  }
  sum_t<S> residual(const FieldView<const S>&, const FieldView<const S>&, const FieldView<S>&,
                    Reduction<S>&, const Stream&) const override {
    detail::refuse_dynamic_product();
  }

 private:
  template <class Act>
  void in_form(const Act& act) const {
    if constexpr (heddle::has_adjoint<E>) {
      if (is_adjoint_) return act.template operator()<TreeForm::adjoint>();
    }
    act.template operator()<TreeForm::direct>();
  }

  HierarchicalMatrix<E> matrix_;
  bool is_adjoint_;
  int row_components_ = 1, column_components_ = 1;
  std::shared_ptr<const cuda::TreeWalk> walk_;
};

#define HEDDLE_EXTERN_DYNAMIC(...) extern template class DynamicProduct<__VA_ARGS__>;
HEDDLE_FOR_EACH_ENTRY(HEDDLE_EXTERN_DYNAMIC, float)
HEDDLE_FOR_EACH_ENTRY(HEDDLE_EXTERN_DYNAMIC, double)
#undef HEDDLE_EXTERN_DYNAMIC

}  // namespace heddle
