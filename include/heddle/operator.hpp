// A sparse matrix as an operator: sliced storage under a plan.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "heddle/config.hpp"
#include "heddle/csr.hpp"
#include "heddle/detail/entry_values.hpp"
#include "heddle/detail/narrow_values.hpp"
#include "heddle/detail/product_cpu.hpp"
#include "heddle/detail/product_cuda.hpp"
#include "heddle/detail/sliced.hpp"
#include "heddle/entry_writer.hpp"
#include "heddle/export.hpp"
#include "heddle/field.hpp"
#include "heddle/linear_operator.hpp"
#include "heddle/plan.hpp"
#include "heddle/runtime/entry_kind.hpp"

namespace heddle {

namespace detail {

/// E computing in the scalar in which residuals are summed: double for floats.
template <class E>
struct promoted {
  using type = E;
};
template <class E>
  requires(!std::is_same_v<vector_scalar_t<E>, sum_t<vector_scalar_t<E>>>) &&
          requires { typename arithmetic_t<E>::template with_scalar<double>; }
struct promoted<E> {
  using type = stored_as<stored_scalar_t<E>,
                         typename arithmetic_t<E>::template with_scalar<sum_t<vector_scalar_t<E>>>>;
};

/// E in floats, what iterations read under stored=float; void where E holds floats already, or
/// something that only its `load()` understands.
template <class E>
struct narrowed {
  using type = void;
};
template <class E>
  requires(std::is_same_v<arithmetic_t<E>, E> && sizeof(stored_scalar_t<E>) > sizeof(float))
struct narrowed<E> {
  using type = stored_as<float, E>;
};
template <class E>
using narrowed_t = typename narrowed<E>::type;
template <class E>
inline constexpr bool can_narrow = !std::is_void_v<narrowed_t<E>>;

/// Scatters the user's values to their slots. Throws `Error` (size_mismatch) unless there are as
/// many as the pattern has entries, and slots.
template <class E>
HEDDLE_EXPORT void place_values(const SlicedPattern& pattern, InnerLayout inner,
                                ComponentOrder order, std::span<const stored_scalar_t<E>> from,
                                std::span<stored_scalar_t<E>> to, const Stream& stream);

}  // namespace detail

/// A handle: copies share the matrix. May be used from several threads at once, but for
/// `update_values`, which nothing else may overlap. One that was moved from throws `Error` (usage)
/// whatever is asked of it.
template <class E>
class HEDDLE_EXPORT Operator final : public LinearOperator<vector_scalar_t<E>> {
  static_assert(check_entry<E>());

 public:
  using scalar = vector_scalar_t<E>;
  using stored = stored_scalar_t<E>;

  /// Makes the basis that the plan asks for. The matrix's arrays are copied, not kept.
  /// `memory_limit` in bytes; by default what the device has available.
  Operator(const CsrView<E>& matrix, const Plan& plan,
           const std::optional<long long>& memory_limit = {})
      : Operator(matrix, plan, nullptr, nullptr, memory_limit) {}

  /// In a given basis of rows and columns, shared with other operators.
  Operator(const CsrView<E>& matrix, const Plan& plan, const std::shared_ptr<const Basis>& basis)
      : Operator(matrix, plan, basis, basis, {}) {}

  /// Rectangular, or with rows and columns numbered apart. Without a row basis the plan's is made;
  /// without a column basis it is the same for a square matrix, the user's order for others.
  Operator(const CsrView<E>& matrix, const Plan& plan, std::shared_ptr<const Basis> row_basis,
           std::shared_ptr<const Basis> column_basis,
           const std::optional<long long>& memory_limit = {});

  /// Another matrix of the same pattern: only its values are stored again. Throws `Error`
  /// (size_mismatch) for values of another number.
  Operator(const Operator& other, const EntryValues<E>& values);

  Operator(const CsrMatrix<E>& matrix, const Plan& plan, const Device& device = Device::cpu())
      : Operator(on_device(matrix.view(), device), plan) {}

  /// The same matrix, with its work on another stream of its GPU, or by another team of the CPU:
  /// solvers take theirs from their operator, so that several threads need not share one. Waits for
  /// what the stream of this one still has to do; the device's stream and memory must outlive the
  /// handle. Throws `Error` (usage) for another GPU.
  Operator on(const Device& device) const;

  /// The same stored matrix under another schedule, loop or recurrence: nothing is built again, and
  /// new values of either handle are those of both. Results are bit for bit those of an operator
  /// that was built with that plan. Throws `Error` (bad_plan) for a plan that lays the matrix out
  /// otherwise, see `same_layout`.
  Operator scheduled(const Plan& plan) const;

  /// New values for the same pattern, in the user's order: scalars, entries, or a `CsrMatrix<E>`;
  /// of a pointer `{data, count}`. No allocation, no analysis. Throws `Error` (size_mismatch) for
  /// another number of them, and changes nothing then. With stored=float it waits for a GPU's
  /// stream, and throws `Error` (bad_plan) that names an entry beyond the range of a float; the
  /// values are the new ones then too. A stream that is being captured cannot be waited for:
  /// `Error` (unsupported), and nothing is queued.
  void update_values(const EntryValues<E>& values) {
    values.check_fit(rows(), columns(), pattern().entries);
    if (schedule().narrow) check_can_narrow(device_.stream());
    detail::place_values<E>(pattern(), plan().inner, values.order(state().order), values.scalars(),
                            state().values.span(), device_.stream());
    values_changed();
  }
  /// Raised by each `update_values`; what was derived from the values compares it.
  long long generation() const { return state().generation; }

  /// For an assembly that writes entries where they are stored, in the memory of the device: the
  /// user's entry i is at slot `slots_of_entries(pattern())[i]`. Call `values_changed()`
  /// afterwards, which does what else `update_values` does.
  EntryWriter<E> entry_writer() { return {pattern(), plan().inner, state().values.data()}; }
  /// All scalars as they are stored, those of padding too; `EntryWriter::index` says where.
  std::span<stored> values_in_basis() { return state().values.span(); }
  std::span<const stored> values_in_basis() const { return state().values.span(); }
  void values_changed() {
    ++state().generation;
    narrow();
  }

  const SlicedPattern& pattern() const { return *state().pattern; }
  const Plan& plan() const { return schedule().plan; }
  const MemoryUse& memory() const { return pattern().memory; }
  /// What `plan` keeps of an entry, for `memory_use`.
  static EntryBytes entry_bytes(const Plan& plan) {
    if constexpr (detail::can_narrow<E>) {
      if (plan.stored == StoredScalar::single) {
        return {sizeof(E), sizeof(detail::narrowed_t<E>)};
      }
    }
    return sizeof(E);
  }

  /// A zero field that the operator acts on: in its basis and layout.
  Field<E> field() const
    requires std::is_same_v<vector_entry_t<E>, result_entry_t<E>>
  {
    return Field<E>(columns(), device(), vector_layout(), column_basis());
  }

  /// The entry on the diagonal of each row, in the row basis; zero where there is none.
  void diagonal(arithmetic_t<E>* entries) const;

  Index rows() const override { return pattern().rows; }
  Index columns() const override { return pattern().columns; }
  int row_components() const override { return result_entry_t<E>::components; }
  int column_components() const override { return vector_entry_t<E>::components; }
  VectorLayout vector_layout() const override { return schedule().plan.vector; }
  std::shared_ptr<const Basis> row_basis() const override { return pattern().row_basis; }
  std::shared_ptr<const Basis> column_basis() const override { return pattern().column_basis; }
  Device device() const override { return device_; }
  Ring ring() const override { return arithmetic_t<E>::ring; }
  Recurrence recurrence() const override { return schedule().plan.recurrence; }
  bool has_adjoint() const override { return heddle::has_adjoint<E>; }

  /// Entries, columns and row offsets without padding, x and y once; under stored=float of
  /// `iterated()`.
  long long compulsory_bytes() const {
    if constexpr (detail::can_narrow<E>) {
      if (schedule().narrow) return schedule().narrow->compulsory_bytes();
    }
    return pattern().entries * static_cast<long long>(sizeof(E) + sizeof(Index)) +
           (rows() + 1LL) * static_cast<long long>(sizeof(Offset)) + bytes_of_fields();
  }
  /// What this layout reads and writes.
  long long bytes_of_product() const override {
    return memory().product() - memory().values +
           pattern().slots * static_cast<long long>(sizeof(E)) + bytes_of_fields();
  }

  const cuda::Product* product_on_gpu() const override { return schedule().product.get(); }

  std::shared_ptr<const LinearOperator<scalar>> handle() const override {
    return std::make_shared<Operator>(*this);
  }

  /// Under stored=float the copy in floats, which computes in E's own scalar.
  const LinearOperator<scalar>& iterated() const override {
    if constexpr (detail::can_narrow<E>) {
      if (schedule().narrow) return *schedule().narrow;
    }
    return *this;
  }

  void apply(scalar alpha, const FieldView<const scalar>& x, scalar beta,
             const FieldView<scalar>& y, const Stream& stream) const override;
  sum_t<scalar> apply_dot(const FieldView<const scalar>& x, const FieldView<scalar>& y,
                          Reduction<scalar>& reduction, const Stream& stream) const override;
  /// Summed in double also where entries and fields are single.
  sum_t<scalar> residual(const FieldView<const scalar>& b, const FieldView<const scalar>& x,
                         const FieldView<scalar>& r, Reduction<scalar>& reduction,
                         const Stream& stream) const override;

 private:
  template <class>
  friend class Operator;
  using Narrow = std::conditional_t<detail::can_narrow<E>, Operator<detail::narrowed_t<E>>, void>;

  /// What handles of every schedule share.
  struct State {
    ComponentOrder order = ComponentOrder::row_major;
    std::shared_ptr<const SlicedPattern> pattern;
    Array<stored> values;
    long long generation = 0;
  };
  struct Schedule {
    Plan plan;
    std::shared_ptr<const cuda::Product> product;  // on a GPU
    std::shared_ptr<Narrow> narrow;                // under stored=float
  };

  /// Without values yet, on the pattern of another operator.
  Operator(std::shared_ptr<const SlicedPattern> pattern, const Plan& plan, ComponentOrder order,
           const Device& device);
  /// The copy that the plan asks for; nothing where the entry has floats anyway.
  void make_narrow();
  /// The values into the copy.
  void narrow();
  /// What the matrix is on a GPU; nothing on the CPU.
  void make_product();

  static CsrView<E> on_device(CsrView<E> view, const Device& device) {
    view.device = device;
    return view;
  }
  long long bytes_of_fields() const {
    return (static_cast<long long>(rows()) * row_components() +
            static_cast<long long>(columns()) * column_components()) *
           static_cast<long long>(sizeof(scalar));
  }
  State& state() const {
    if (!state_) detail::refuse_moved_from();
    return *state_;
  }
  Schedule& schedule() const {
    if (!schedule_) detail::refuse_moved_from();
    return *schedule_;
  }
  void check_x(const FieldView<const scalar>& x) const;
  template <class U>
  void check_y(const FieldView<U>& y) const;

  Device device_;
  std::shared_ptr<State> state_;
  std::shared_ptr<Schedule> schedule_;
};

}  // namespace heddle

#include "heddle/detail/operator_implementation.hpp"

namespace heddle {

#define HEDDLE_EXTERN_OPERATOR(...) extern template class Operator<__VA_ARGS__>;
#define HEDDLE_EXTERN_NARROW(...) extern template class Operator<stored_as<float, __VA_ARGS__>>;
HEDDLE_FOR_EACH_ENTRY(HEDDLE_EXTERN_OPERATOR, float)
HEDDLE_FOR_EACH_ENTRY(HEDDLE_EXTERN_OPERATOR, double)
HEDDLE_FOR_EACH_ENTRY(HEDDLE_EXTERN_NARROW, double)
#undef HEDDLE_EXTERN_NARROW
#undef HEDDLE_EXTERN_OPERATOR

}  // namespace heddle
