// The product of hierarchical storage as its paper schedules it (Derler et al. 2017, sections 4 and
// 5): a walk over the tree in each product, through queues of nodes, with atomic additions.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <type_traits>

#include "heddle/config.hpp"
#include "heddle/detail/entry_table.hpp"
#include "heddle/export.hpp"
#include "heddle/hierarchical_matrix.hpp"
#include "heddle/linear_operator.hpp"
#include "heddle/multiply.hpp"
#include "heddle/tree_scheduler.hpp"
#include "heddle/vector_operations.hpp"

namespace heddle {

/// y = A x, or A* x, by schedule=tree. It keeps no schedule, so the first product after an edit
/// takes no longer than the next, and the terms of one row of y are added in a different order in
/// each run, so that rounding differs from run to run. Solvers take it; on a GPU the host drives
/// their loops, since no conditional node of a graph may launch kernels from the GPU. On a GPU it
/// has one set of queues, so that its products must follow one another, and outlives its products
/// on streams other than the device's; fields are AoS.
template <class E>
class HEDDLE_EXPORT DynamicProduct final : public LinearOperator<vector_scalar_t<E>>,
                                           public detail::ScheduledProduct {
  using S = vector_scalar_t<E>;
  using TreeForm = detail::TreeForm;
  static_assert(std::is_same_v<S, float> || std::is_same_v<S, double>,
                "schedule=tree needs float or double, which it adds atomically");

 public:
  DynamicProduct(DynamicProduct&&) noexcept = default;
  DynamicProduct& operator=(DynamicProduct&&) noexcept = default;

  /// Shares the tree, which is already on the GPU if one is used; the product is of the matrix as
  /// its state has it. Throws `Error`: unsupported for A* of entries without an adjoint, memory
  /// where queues do not fit.
  explicit DynamicProduct(const HierarchicalMatrix<E>& matrix, bool adjoint = false)
      : matrix_(matrix), is_adjoint_(adjoint), form_(form_of(matrix, adjoint)) {
    detail::with_form<arithmetic_t<E>>(form_, [&]<TreeForm form>() {
      using A = detail::applied_entry_t<form, E>;
      row_components_ = result_entry_t<A>::components;
      column_components_ = vector_entry_t<A>::components;
      product_ = std::make_unique<ProductIn<form>>(matrix);
    });
  }

  /// Takes another matrix of these rows, columns and device, such as an edited one: its first
  /// product takes as long as any, since no schedule is made. Solvers that were given this product
  /// keep the matrix before. Throws `Error`: size_mismatch for other sizes, usage for another
  /// device, memory where larger queues do not fit.
  void set_matrix(const HierarchicalMatrix<E>& matrix) {
    if (matrix.rows() != matrix_.rows() || matrix.columns() != matrix_.columns()) {
      throw Error(ErrorKind::size_mismatch,
                  "a dynamic product takes another matrix of the same rows and columns");
    }
    if (form_of(matrix, is_adjoint_) != form_) {
      *this = DynamicProduct(matrix, is_adjoint_);
    } else {
      product_->set_matrix(matrix);
    }
    matrix_ = matrix;
  }

  Index rows() const override { return is_adjoint_ ? matrix_.columns() : matrix_.rows(); }
  Index columns() const override { return is_adjoint_ ? matrix_.rows() : matrix_.columns(); }
  int row_components() const override { return row_components_; }
  int column_components() const override { return column_components_; }
  Device device() const override { return matrix_.device(); }
  Ring ring() const override { return matrix_.ring(); }
  bool has_adjoint() const override { return matrix_.has_adjoint(); }
  std::shared_ptr<const LinearOperator<S>> adjoint() const override {
    return std::make_shared<DynamicProduct>(matrix_, !is_adjoint_);
  }
  const detail::StoredEntries<S>* stored_entries() const override {
    return is_adjoint_ ? nullptr : matrix_.stored_entries();
  }
  /// Has queues of its own.
  std::shared_ptr<const LinearOperator<S>> handle() const override {
    return std::make_shared<DynamicProduct>(matrix_, is_adjoint_);
  }
  /// Bytes of the queues, on a GPU.
  long long bytes_of_queues() const {
    if constexpr (has_cuda) {
      if (const auto there = scheduler()) return there->bytes();
    }
    return 0;
  }
  std::optional<SchedulerStatistics> statistics(const Stream& stream) const override {
    if constexpr (has_cuda) {
      if (const auto there = scheduler()) return there->statistics(stream);
    }
    return std::nullopt;
  }
  /// The scheduler of a GPU; null on a CPU.
  std::shared_ptr<cuda::TaskScheduler> scheduler() const { return product_->on_gpu(); }
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
      if (scheduler()) {
        const Stream here = device().stream();
        if (x.size > 0) cuda::check_tree_operand(x.data, x.is_aos(), "x", here);
        if (y.size > 0) cuda::check_tree_operand(y.data, y.is_aos(), "y", here);
      }
    }
    if (!x.is_aos() || !y.is_aos()) return multiply<S>(*this, x, y, alpha, beta);
    product_->run(alpha * matrix_.state().scale, x, beta, y, stream);
  }

 private:
  /// The product by one form of the tree.
  struct Product {
    virtual ~Product() = default;
    virtual void set_matrix(const HierarchicalMatrix<E>& matrix) = 0;
    virtual void run(S alpha, const FieldView<const S>& x, S beta, const FieldView<S>& y,
                     const Stream& stream) const = 0;
    virtual std::shared_ptr<cuda::TaskScheduler> on_gpu() const = 0;
  };
  template <TreeForm form>
  struct ProductIn final : Product {
    explicit ProductIn(const HierarchicalMatrix<E>& matrix) : scheduler(matrix, text()) {}

    static EntryText text() {
      EntryText text = detail::entry_texts<E>().own;
      if (!text.type.empty()) {
        text.type = "heddle::TreeProductOperation<" + text.type + ", " +
                    std::string(detail::scalar_name<S>()) + ", heddle::detail::TreeForm(" +
                    std::to_string(static_cast<int>(form)) + ")>";
      }
      return text;
    }
    void set_matrix(const HierarchicalMatrix<E>& matrix) override { scheduler.set_matrix(matrix); }
    void run(S alpha, const FieldView<const S>& x, S beta, const FieldView<S>& y,
             const Stream& stream) const override {
      TreeProductOperation<E, S, form> product{};
      product.x = x.data;
      product.y = y.data;
      product.alpha = alpha;
      product.beta = beta;
      product.rows_of_x = x.size;
      product.rows_of_y = y.size;
      scheduler.run(product, stream);
    }
    std::shared_ptr<cuda::TaskScheduler> on_gpu() const override { return scheduler.on_gpu(); }

    TreeScheduler<TreeProductOperation<E, S, form>> scheduler;
  };

  static TreeForm form_of(const HierarchicalMatrix<E>& matrix, bool adjoint) {
    return adjoint ? matrix.template state_by<TreeForm::adjoint>().form : matrix.state().form;
  }

  HierarchicalMatrix<E> matrix_;
  bool is_adjoint_;
  TreeForm form_;  // of the tree, in this product
  int row_components_ = 1, column_components_ = 1;
  std::unique_ptr<Product> product_;
};

#define HEDDLE_EXTERN_DYNAMIC(...) extern template class DynamicProduct<__VA_ARGS__>;
HEDDLE_FOR_EACH_ENTRY(HEDDLE_EXTERN_DYNAMIC, float)
HEDDLE_FOR_EACH_ENTRY(HEDDLE_EXTERN_DYNAMIC, double)
#undef HEDDLE_EXTERN_DYNAMIC

}  // namespace heddle
