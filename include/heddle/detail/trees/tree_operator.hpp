// A tree as an operator: A, A* or A^T of one storage.
#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "heddle/config.hpp"
#include "heddle/detail/entry_table.hpp"
#include "heddle/detail/trees/tree_product.hpp"
#include "heddle/detail/trees/tree_product_cuda.hpp"
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
/// The form of a matrix that is in one form of a tree, in another form `by`. Throws `Error`
/// (unsupported) where that conjugates without a transposition.
HEDDLE_EXPORT TreeForm composed(TreeForm form, TreeForm by);

/// A* for entries whose plain transpose it is.
template <class A>
inline constexpr TreeForm transposing_form =
    has_form<TreeForm::transpose, A> && A::ring == Ring::real ? TreeForm::adjoint
                                                              : TreeForm::transpose;

/// The state of a matrix apart from its tree (Derler et al. 2017, section 3.1): the form that it is
/// in, and the factor of all values.
template <class S>
struct HEDDLE_EXPORT TreeState {
  TreeForm form = TreeForm::direct;
  S scale = 1;

  bool operator==(const TreeState&) const = default;
};

/// Calls `act` with the form as a constant; A has it.
template <class A, class Act>
decltype(auto) with_form(TreeForm form, const Act& act) {
  if constexpr (has_form<TreeForm::adjoint, A>) {
    if (form == TreeForm::adjoint) return act.template operator()<TreeForm::adjoint>();
  }
  if constexpr (transposing_form<A> == TreeForm::transpose && has_form<TreeForm::transpose, A>) {
    if (form == TreeForm::transpose) return act.template operator()<TreeForm::transpose>();
  }
  return act.template operator()<TreeForm::direct>();
}

/// The team that builds, edits and reads trees, including those of a GPU.
inline Device team_of(const Device& device) { return device.on_gpu() ? Device::cpu() : device; }

/// The part that trees of all entries have in common as operators, below the type of the entry. A
/// handle: copies share the tree. Fields are in the user's order.
template <class S>
class HEDDLE_EXPORT TreeOperatorBase : public LinearOperator<S> {
 public:
  Index rows() const override { return is_transposed() ? tree().columns : tree().rows; }
  Index columns() const override { return is_transposed() ? tree().rows : tree().columns; }
  Device device() const override { return device_; }
  /// True on a GPU, after the first product.
  bool is_capturable() const override { return product_ != nullptr; }
  long long bytes_of_product() const override {
    const Index blocks = static_cast<Index>(tree().leaf.blocks_of(rows()));
    const Index blocks_of_x = static_cast<Index>(tree().leaf.blocks_of(columns()));
    const Offset leaves = tree().memory.leaves.nodes();
    const long long of_schedule =
        product_ != nullptr ? leaves * static_cast<long long>(sizeof(device::TreeLeaf)) +
                                  blocks * static_cast<long long>(sizeof(device::TreePiece))
                            : LeafSchedule::bytes(blocks, blocks_of_x, leaves);
    return tree().memory.leaves.bytes + of_schedule +
           (static_cast<long long>(rows()) * this->row_components() +
            static_cast<long long>(columns()) * this->column_components()) *
               static_cast<long long>(sizeof(S));
  }

  Offset entries() const { return tree().entries; }
  int node_size() const { return tree().leaf.size(); }
  /// How a GPU's threads share its products, including what `NodeLayout::launch` leaves to the
  /// rule; zeros on a CPU.
  TreeLaunch launch() const {
    if constexpr (may_be_on_gpu) {
      if (product_) return product_->launch_in_full();
    }
    return {};
  }
  /// Memory of this matrix's own nodes, including shared ones, of the schedules that products have
  /// made and, on a GPU, of their sums. There `total()` is what lies in the GPU's memory for a
  /// matrix that shares no nodes, and `host` what the host keeps in addition.
  HierarchicalMemory memory() const {
    HierarchicalMemory memory = scheduled().memory();
    if constexpr (has_cuda) {
      if (const auto there = on_gpu()) {
        memory.host = tree().bytes_on_host() + memory.schedule + memory.adjoint_schedule;
        memory.workspaces = there->bytes_of_workspaces();
        memory.schedule = there->bytes_of_schedule(false);
        memory.adjoint_schedule = there->bytes_of_schedule(true);
      }
    }
    return memory;
  }

  void apply(S alpha, const FieldView<const S>& x, S beta, const FieldView<S>& y,
             const Stream& stream) const override {
    check(x, y, "y");
    if constexpr (may_be_on_gpu) {
      if (product_) {
        auto call = call_on_gpu(x, y, "y");
        call.alpha *= static_cast<double>(alpha);
        call.beta = static_cast<double>(beta);
        return product_->launch(call, stream);
      }
    }
    if (!x.is_aos()) return multiply<S>(*this, x, y, alpha, beta);
    sum_rows(x.data, RowStore<S>::scaled(alpha, beta, y), nullptr, stream);
  }
  sum_t<S> apply_dot(const FieldView<const S>& x, const FieldView<S>& y, Reduction<S>& reduction,
                     const Stream& stream) const override {
    if (!x.is_aos() || !y.is_aos() || rows() != columns() ||
        this->row_components() != this->column_components()) {
      return LinearOperator<S>::apply_dot(x, y, reduction, stream);
    }
    check(x, y, "y");
    if constexpr (may_be_on_gpu) {
      if (product_) {
        auto call = call_on_gpu(x, y, "y");
        call.epilogue = device::store_and_dot;
        call.with = x.data;
        return sum_on_gpu(call, reduction, stream);
      }
    }
    sum_rows(x.data, RowStore<S>::dotted(y, x), &reduction, stream);
    return reduction.finish(1)[0];
  }
  /// Summed in double even if entries and fields are single.
  sum_t<S> residual(const FieldView<const S>& b, const FieldView<const S>& x, const FieldView<S>& r,
                    Reduction<S>& reduction, const Stream& stream) const override {
    check(x, r, "r");
    check_same_shape(b, r, "residual");
    check_tree_field(b.size, b.components, b.basis.get(), rows(), this->row_components(), "b");
    if (b.data != r.data) check_apart(b, r, "b", "r");
    if (b.entry_stride != r.entry_stride || b.component_stride != r.component_stride) {
      throw Error(ErrorKind::size_mismatch, "residual: b and r differ in layout; copy one first");
    }
    if constexpr (may_be_on_gpu) {
      if (product_) {
        if (b.size > 0) cuda::check_tree_operand(b.data, b.is_aos(), "b", device_.stream());
        auto call = call_on_gpu(x, r, "r");
        call.epilogue = device::store_residual;
        call.with = b.data;
        return sum_on_gpu(call, reduction, stream);
      }
    }
    const S* packed = x.data;
    Array<S> copied;
    if (!x.is_aos()) {
      copied = Array<S>(static_cast<std::size_t>(x.scalars()), device_);
      permute<S>(x, FieldView<S>(copied.data(), x.size, x.components), S(1), stream);
      packed = copied.data();
    }
    sum_rows(packed, RowStore<S>::residual(r, b), &reduction, stream);
    return reduction.finish(1)[0];
  }

  /// The tree in a GPU's memory; null on a CPU.
  std::shared_ptr<const cuda::TreeOnGpu> on_gpu() const {
    if constexpr (may_be_on_gpu) {
      if (product_) return product_->matrix();
    }
    return nullptr;
  }

 protected:
  static constexpr bool may_be_on_gpu = has_cuda && !std::is_same_v<S, long double>;

  TreeOperatorBase(std::shared_ptr<const ScheduledTree> matrix, const Device& device,
                   const TreeState<S>& state)
      : matrix_(std::move(matrix)), device_(device), state_(state) {}

  /// For a GPU. `on_gpu`: the same tree in its memory; null or another tree if it is not there yet.
  void make_product(cuda::TreeEntry entry, std::shared_ptr<const cuda::TreeOnGpu> on_gpu) {
    if constexpr (may_be_on_gpu) {
      if (!on_gpu || &on_gpu->matrix() != matrix_.get()) {
        on_gpu = std::make_shared<cuda::TreeOnGpu>(matrix_, device_);
      }
      product_ = std::make_shared<cuda::TreeProduct>(std::move(entry), std::move(on_gpu), device_);
    } else {
      throw Error(ErrorKind::unsupported, "long double is not supported on a GPU");
    }
  }
  /// Gives a handle a product with memory of its own.
  void separate() {
    if constexpr (may_be_on_gpu) {
      if (product_) product_ = product_->handle();
    }
  }

  /// The product with x, an AoS field, on the CPU: y takes the sum of each row; its partial sums go
  /// to `reduction` if there is one. Residuals are summed in double, or wider.
  virtual void sum_rows(const S* x, const RowStore<S>& y, Reduction<S>* reduction,
                        const Stream& stream) const = 0;

  const ScheduledTree& scheduled() const {
    if (!matrix_) refuse_moved_from();
    return *matrix_;
  }
  const std::shared_ptr<const ScheduledTree>& shared() const {
    static_cast<void>(scheduled());
    return matrix_;
  }
  const Tree& tree() const { return scheduled().tree(); }
  Device team() const { return team_of(device_); }
  const TreeState<S>& state() const { return state_; }
  bool is_transposed() const { return state_.form != TreeForm::direct; }

 private:
  void check(const FieldView<const S>& x, const FieldView<S>& y, const char* name_of_y) const {
    x.check();
    y.check();
    check_tree_field(x.size, x.components, x.basis.get(), columns(), this->column_components(),
                     "x");
    check_tree_field(y.size, y.components, y.basis.get(), rows(), this->row_components(),
                     name_of_y);
    check_apart(x, y, "x", name_of_y);
  }
  cuda::TreeProduct::Call call_on_gpu(const FieldView<const S>& x, const FieldView<S>& y,
                                      const char* name_of_y) const
    requires may_be_on_gpu
  {
    if (x.size > 0) cuda::check_tree_operand(x.data, x.is_aos(), "x", device_.stream());
    if (y.size > 0) cuda::check_tree_operand(y.data, y.is_aos(), name_of_y, device_.stream());
    cuda::TreeProduct::Call call;
    call.x = x.data;
    call.y = y.data;
    call.alpha = static_cast<double>(state_.scale);
    return call;
  }
  sum_t<S> sum_on_gpu(cuda::TreeProduct::Call call, Reduction<S>& reduction,
                      const Stream& stream) const
    requires may_be_on_gpu
  {
    if (rows() == 0) return 0;
    call.sums = reduction.space(product_->partials());
    product_->launch(call, stream);
    return reduction.finish(1)[0];
  }

  std::shared_ptr<const ScheduledTree> matrix_;
  Device device_;
  TreeState<S> state_;
  std::shared_ptr<const cuda::TreeProduct> product_;  // on a GPU
};
extern template class TreeOperatorBase<float>;
extern template class TreeOperatorBase<double>;

/// An operator with entries of a C++ type, in a form that these have.
template <class E>
class HEDDLE_EXPORT TreeOperator : public TreeOperatorBase<vector_scalar_t<E>> {
  using S = vector_scalar_t<E>;
  using A = arithmetic_t<E>;
  using Base = TreeOperatorBase<S>;

 public:
  /// `on_gpu`: the same tree in the memory of a GPU `device`; null or another tree if it is not
  /// there yet.
  TreeOperator(std::shared_ptr<const ScheduledTree> matrix, const Device& device,
               const TreeState<S>& state = {},
               const std::shared_ptr<const cuda::TreeOnGpu>& on_gpu = nullptr)
      : Base(std::move(matrix), device, state) {
    if (!device.on_gpu()) return;
    auto texts = entry_texts<E>();
    this->make_product({std::move(texts.own), std::move(texts.exact), entry_sizes<E>, state.form,
                        row_components()},
                       on_gpu);
  }

  int row_components() const override {
    return with_form<A>(this->state().form, []<TreeForm form>() {
      return result_entry_t<applied_entry_t<form, E>>::components;
    });
  }
  int column_components() const override {
    return with_form<A>(this->state().form, []<TreeForm form>() {
      return vector_entry_t<applied_entry_t<form, E>>::components;
    });
  }
  Ring ring() const override { return A::ring; }
  bool has_adjoint() const override { return heddle::has_adjoint<E>; }

  /// The adjoint of the same tree: it takes a schedule, and no second copy. Throws `Error`
  /// (unsupported) for entries without an adjoint.
  std::shared_ptr<const LinearOperator<S>> adjoint() const override {
    return in_form<TreeForm::adjoint>();
  }
  std::shared_ptr<const LinearOperator<S>> handle() const override {
    const auto same = std::make_shared<TreeOperator>(*this);
    same->separate();
    return same;
  }

 protected:
  /// The state of this matrix in another form.
  template <TreeForm by>
  TreeState<S> state_by() const {
    if constexpr (has_form<by, A>) {
      constexpr TreeForm as_stated = by == TreeForm::transpose ? transposing_form<A> : by;
      return {composed(this->state().form, as_stated), this->state().scale};
    } else {
      refuse_form(by);
    }
  }
  template <TreeForm by>
  std::shared_ptr<const LinearOperator<S>> in_form() const {
    return std::make_shared<TreeOperator>(this->shared(), this->device(), state_by<by>(),
                                          this->on_gpu());
  }

  void sum_rows(const S* x, const RowStore<S>& y, Reduction<S>* reduction,
                const Stream& stream) const override {
    with_form<A>(this->state().form, [&]<TreeForm form>() {
      const auto product = y.result == RowResult::residual
                               ? tree_product<typename promoted<E>::type, form, S>
                               : tree_product<E, form, S>;
      product(this->scheduled(), this->state().scale, x, y, reduction, stream);
    });
  }
};

}  // namespace heddle::detail
