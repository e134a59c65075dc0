// A matrix of entries from a definition as an operator. On a GPU the definition is printed as a C++
// type and runs as one, under every plan. On the CPU rows stay in the user's order and entries in
// CSR: there definitions are for trying entries, and a C++ type runs under every plan.
#pragma once

#include <memory>
#include <vector>

#include "heddle/detail/product_cuda.hpp"
#include "heddle/detail/sliced.hpp"
#include "heddle/export.hpp"
#include "heddle/linear_operator.hpp"
#include "heddle/runtime/defined_matrix.hpp"

namespace heddle {

/// A handle: copies share the matrix. May be used from several threads at once. One that was moved
/// from throws `Error` (usage) whatever is asked of it. S is float or double.
template <class S>
class HEDDLE_EXPORT DefinedOperator final : public LinearOperator<S> {
 public:
  /// The matrix's arrays are copied. Throws `Error`: on the CPU bad_plan for a plan that asks for
  /// more than CSR in the user's order with all components together; else as `Operator<E>`.
  DefinedOperator(const DefinedMatrix<S>& matrix, const Plan& plan, const Device& device);

  const EntryDefinition& definition() const { return *state().definition; }
  const Plan& plan() const { return plan_; }
  const MemoryUse& memory() const { return state().memory; }

  /// As `Operator<E>::scheduled`.
  DefinedOperator scheduled(const Plan& plan) const;

  /// The components of the entry on the diagonal of `row`; null where there is none. Not on a GPU.
  const S* diagonal(Index row) const;

  Index rows() const override { return state().rows; }
  Index columns() const override { return state().columns; }
  int row_components() const override { return definition().vector_size(); }
  VectorLayout vector_layout() const override { return plan_.vector; }
  std::shared_ptr<const Basis> row_basis() const override { return state().row_basis; }
  std::shared_ptr<const Basis> column_basis() const override { return state().column_basis; }
  Device device() const override { return state().device; }
  Ring ring() const override { return definition().ring; }
  Recurrence recurrence() const override { return plan_.recurrence; }
  bool has_adjoint() const override { return definition().has_adjoint(); }

  /// Entries, columns and row offsets, x and y once.
  long long compulsory_bytes() const;
  long long bytes_of_product() const override;

  const cuda::Product* product_on_gpu() const override { return product_.get(); }

  std::shared_ptr<const LinearOperator<S>> handle() const override {
    return std::make_shared<DefinedOperator>(*this);
  }

  void apply(S alpha, const FieldView<const S>& x, S beta, const FieldView<S>& y,
             const Stream& stream) const override;
  sum_t<S> apply_dot(const FieldView<const S>& x, const FieldView<S>& y, Reduction<S>& reduction,
                     const Stream& stream) const override;
  /// Multiplied and summed in double also where entries and fields are single.
  sum_t<S> residual(const FieldView<const S>& b, const FieldView<const S>& x, const FieldView<S>& r,
                    Reduction<S>& reduction, const Stream& stream) const override;

 private:
  /// What handles of every schedule share.
  struct State {
    std::shared_ptr<const EntryDefinition> definition;
    Device device;
    MemoryUse memory;
    Index rows = 0;
    Index columns = 0;
    Offset entries = 0;
    std::shared_ptr<const Basis> row_basis;
    std::shared_ptr<const Basis> column_basis;
    Array<S> values;
    // On the CPU, rows as they come.
    Array<Offset> offsets;
    Array<Index> column;  // with slack for prefetches
    // On a GPU, sliced storage.
    std::shared_ptr<const SlicedPattern> pattern;
  };

  const State& state() const {
    if (!state_) detail::refuse_moved_from();
    return *state_;
  }
  void store_rows(State& state, const DefinedMatrix<S>& matrix) const;
  void store_slices(State& state, const DefinedMatrix<S>& matrix) const;
  /// What the matrix is on a GPU; nothing on the CPU.
  void make_product();
  template <class T, class Finish>
  void product(const FieldView<const S>& x, const Finish& finish, Reduction<S>* reduction,
               const Stream& stream) const;
  template <class U>
  void check(const FieldView<U>& field, Index rows, const std::shared_ptr<const Basis>& basis,
             const char* name) const;

  Plan plan_;
  std::shared_ptr<const State> state_;
  std::shared_ptr<const cuda::Product> product_;
};

extern template class DefinedOperator<float>;
extern template class DefinedOperator<double>;

}  // namespace heddle
