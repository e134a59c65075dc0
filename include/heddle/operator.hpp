// A sparse matrix as an operator: sliced storage under a plan.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "heddle/csr.hpp"
#include "heddle/detail/entry_table.hpp"
#include "heddle/detail/entry_values.hpp"
#include "heddle/detail/sliced_operator.hpp"
#include "heddle/entry_writer.hpp"
#include "heddle/export.hpp"
#include "heddle/field.hpp"
#include "heddle/plan.hpp"
#include "heddle/runtime/entry_kind.hpp"

namespace heddle {

/// A handle: copies share the matrix. It may be used from several threads at once, except for
/// `update_values`, which must not overlap any other use. A moved-from operator throws `Error`
/// (usage) on every call.
template <class E>
class HEDDLE_EXPORT Operator final : public detail::SlicedOperator<vector_scalar_t<E>> {
  static_assert(check_entry<E>());
  using Base = detail::SlicedOperator<vector_scalar_t<E>>;

 public:
  using scalar = vector_scalar_t<E>;
  using stored = stored_scalar_t<E>;

  /// Makes the basis that the plan asks for. The matrix's arrays are copied, not kept.
  /// `memory_limit` is in bytes; the default is the device's available memory.
  Operator(const CsrView<E>& matrix, const Plan& plan,
           const std::optional<long long>& memory_limit = {})
      : Operator(matrix, plan, nullptr, nullptr, memory_limit) {}

  /// Made in a given basis of rows and columns, shared with other operators.
  Operator(const CsrView<E>& matrix, const Plan& plan, const std::shared_ptr<const Basis>& basis)
      : Operator(matrix, plan, basis, basis, {}) {}

  /// Made for a rectangular matrix, or with rows and columns numbered separately. Without a row
  /// basis the plan's is made; without a column basis a square matrix uses the row basis, others
  /// the user's order.
  Operator(const CsrView<E>& matrix, const Plan& plan, std::shared_ptr<const Basis> row_basis,
           std::shared_ptr<const Basis> column_basis,
           const std::optional<long long>& memory_limit = {})
      : Base(detail::entry_table<E>(), matrix.pattern(), matrix.order, plan, matrix.device,
             std::move(row_basis), std::move(column_basis), memory_limit) {
    update_values({matrix.values, static_cast<std::size_t>(pattern().entries) * E::components});
  }

  /// Another matrix of the same pattern: only its values are stored again. Throws `Error`
  /// (size_mismatch) for another number of values.
  Operator(const Operator& other, const EntryValues<E>& values)
      : Base(detail::entry_table<E>(), other.shared_pattern(), other.order(), other.plan(),
             other.device()) {
    update_values(values);
  }

  Operator(const CsrMatrix<E>& matrix, const Plan& plan, const Device& device = Device::cpu())
      : Operator(on_device(matrix.view(), device), plan) {}

  /// The same matrix, with its work on another stream of its GPU, or by another team of the CPU:
  /// solvers take these from their operator, so that several threads need not share one. Waits for
  /// the pending work of this one's stream; the device's stream and memory must outlive the handle.
  /// Throws `Error` (usage) for another GPU.
  Operator on(const Device& device) const { return Operator(Base::on(device)); }

  /// The same stored matrix under another schedule, loop or recurrence: nothing is built again, and
  /// new values of either handle apply to both. Results are bit for bit those of an operator built
  /// with that plan. Throws `Error` (bad_plan) for a plan with another layout of the matrix, see
  /// `Layout`.
  Operator scheduled(const Plan& plan) const { return Operator(Base::scheduled(plan)); }

  /// New values for the same pattern, in the user's order: scalars, entries, or a `CsrMatrix<E>`;
  /// for a pointer, `{data, count}`. No allocation, no analysis. Throws `Error` (size_mismatch) for
  /// another number of them, and then changes nothing. With iteration-precision=single it waits for
  /// a GPU's stream, and throws `Error` (bad_plan) that names an entry beyond the range of a float;
  /// the new values are in place then too. With `dictionary` or `unit` it allocates and waits, and
  /// if an entry does not fit (also bad_plan), the values of an earlier call stay. A stream that is
  /// being captured cannot be waited for: `Error` (unsupported), and nothing is queued.
  void update_values(const EntryValues<E>& values) {
    values.check_fit(rows(), columns(), pattern().entries);
    Base::update_values(std::as_bytes(values.scalars()), values.order(this->order()));
  }
  /// Raised by each `update_values`; data derived from the values is checked against it.
  using Base::generation;

  /// For an assembly that writes entries where they are stored, in the memory of the device: the
  /// user's entry i is at slot `slots_of_entries(pattern())[i]`. Afterwards call
  /// `values_changed()`, which does the remaining work of `update_values`.
  EntryWriter<E> entry_writer() {
    return {pattern(), plan().layout.inner, values_in_basis().data()};
  }
  /// All scalars as they are stored, including those of padding; `EntryWriter::index` gives their
  /// places.
  std::span<stored> values_in_basis() {
    return {reinterpret_cast<stored*>(this->stored_values().data()),
            static_cast<std::size_t>(pattern().slots) * E::components};
  }
  std::span<const stored> values_in_basis() const {
    return const_cast<Operator*>(this)->values_in_basis();
  }
  using Base::values_changed;

  using Base::memory;
  using Base::pattern;
  using Base::plan;
  /// The bytes of an entry that `plan` keeps, for `memory_use`.
  static EntryBytes entry_bytes(const Plan& plan) { return detail::entry_table<E>()->bytes(plan); }

  /// A zero field for the operator to act on, in its basis and layout.
  Field<E> field() const
    requires std::is_same_v<vector_entry_t<E>, result_entry_t<E>>
  {
    return Field<E>(columns(), this->device(), this->vector_layout(), this->column_basis());
  }

  /// The entry on the diagonal of each row, in the row basis; zero if there is none.
  void diagonal(arithmetic_t<E>* entries) const { detail::diagonal<E>(*this, entries); }

  using Base::columns;
  using Base::rows;

 private:
  explicit Operator(Base same) : Base(std::move(same)) {}

  static CsrView<E> on_device(CsrView<E> view, const Device& device) {
    view.device = device;
    return view;
  }
};

#define HEDDLE_EXTERN_ENTRY(...)                                         \
  extern template detail::EntryTableHandle<vector_scalar_t<__VA_ARGS__>> \
  detail::entry_table<__VA_ARGS__>();
#define HEDDLE_EXTERN_NARROW(...) HEDDLE_EXTERN_ENTRY(stored_as<float, __VA_ARGS__>)
HEDDLE_FOR_EACH_ENTRY(HEDDLE_EXTERN_ENTRY, float)
HEDDLE_FOR_EACH_ENTRY(HEDDLE_EXTERN_ENTRY, double)
HEDDLE_FOR_EACH_ENTRY(HEDDLE_EXTERN_NARROW, double)
#undef HEDDLE_EXTERN_NARROW
#undef HEDDLE_EXTERN_ENTRY

}  // namespace heddle
