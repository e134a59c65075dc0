// A matrix in sliced storage as an operator, below the type of its entry, and the table that
// describes an entry to it.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <span>

#include "heddle/detail/place_values.hpp"
#include "heddle/detail/product_cpu.hpp"
#include "heddle/detail/product_cuda.hpp"
#include "heddle/detail/stored_entries.hpp"
#include "heddle/entry_text.hpp"
#include "heddle/export.hpp"
#include "heddle/linear_operator.hpp"

namespace heddle {

struct EntryDefinition;

namespace detail {

/// The facts that an operator and its Jacobi know about their entry, whose fields are of scalar S:
/// its sizes, its text for a GPU, and kernels for the CPU. A type or a definition states them.
template <class S>
struct HEDDLE_EXPORT EntryTable {
  /// A x_k on the CPU, for all x, laid out the same way: `y[k]` takes each row's sum; its partial
  /// sums go to `reduction` if there is one.
  using Multiply = void (*)(const SlicedOperator<S>& A, std::span<const FieldView<const S>> x,
                            std::span<const RowStore<S>> y, Reduction<S>* reduction,
                            const Stream& stream);

  cuda::EntryShape sizes = {};
  Ring ring = Ring::real;
  bool has_adjoint = false;
  EntryShape arithmetic = {};  // the entry as it computes; `stored()`: as it is kept
  int block_rows = 1;          // for a block, which the user's array may hold by columns
  int block_columns = 1;
  EntryText text = {};   // without a type if no GPU can run it
  EntryText exact = {};  // the same entry computing in double, for residuals
  std::shared_ptr<const EntryDefinition> definition = nullptr;  // null for a type
  std::shared_ptr<const EntryTable> narrow = nullptr;           // in floats; null if it cannot be
  bool holds_floats = false;                                    // so that `narrow` is not needed

  Multiply multiply = nullptr;  // scaled or dotted
  /// Multiplies and sums in double, or wider. Null for copies in 16 bits, which are never asked.
  Multiply residual = nullptr;
  void (*place)(const SlicedPattern& pattern, InnerLayout inner, const EntryShape& shape,
                std::span<const std::byte> from, std::span<std::byte> to,
                const Stream& stream) = nullptr;
  /// Writes the inverses of the diagonal's entries, row by row in the row basis, as
  /// `invert_or_unit` does. Returns the first row in the user's numbering that has none, or the
  /// number of rows. Null for an entry without an inverse.
  Index (*invert_diagonal)(const SlicedOperator<S>& A, const double* unit,
                           void* inverses) = nullptr;
  /// z = M^-1 r in the rows [begin, end).
  void (*apply_inverses)(const EntryTable& entry, const void* inverses, const FieldView<const S>& r,
                         const FieldView<S>& z, Index begin, Index end) = nullptr;

  /// The components of a* from those of a. Null for an entry without an adjoint, or an encoded one.
  void (*adjoint)(const EntryTable& entry, const S* a, S* adjoint) = nullptr;
  /// The table of a* where that is another entry, as for rectangular blocks; else null.
  std::shared_ptr<const EntryTable> (*adjoint_entry)() = nullptr;

  /// Tables as half, bfloat, scaled, dictionary, unit; null if the entry cannot be kept so.
  std::array<std::shared_ptr<const EntryTable>, 5> encoded = {};
  bool is_encoded = false;
  int trailing_bytes = 0;  // after the entries: an encoded matrix's scale, or its table

  EntryShape stored(ComponentOrder order = ComponentOrder::row_major) const {
    EntryShape shape{sizes.components, sizes.stored_bytes};
    if (order == ComponentOrder::column_major) {
      shape.block_rows = block_rows;
      shape.block_columns = block_columns;
    }
    return shape;
  }
  int bytes() const { return sizes.components * sizes.stored_bytes; }
  /// Bytes of the values on `slots` slots, and of what follows them.
  long long bytes_of(Offset slots) const {
    return EntryBytes(0, bytes(), trailing_bytes).copies(slots);
  }
  /// The entry as a copy keeps it; null if there is no copy, or none is needed.
  const std::shared_ptr<const EntryTable>& copy(StoredScalar kept) const {
    static const std::shared_ptr<const EntryTable> none;
    switch (kept) {
      case StoredScalar::own:
        return none;
      case StoredScalar::single:
        return narrow;
      case StoredScalar::half:
        return encoded[0];
      case StoredScalar::bfloat:
        return encoded[1];
      case StoredScalar::scaled:
        return encoded[2];
      case StoredScalar::dictionary:
        return encoded[3];
      case StoredScalar::unit:
        return encoded[4];
    }
    return none;
  }
  /// Bytes that `plan` keeps of an entry, for `memory_use`.
  EntryBytes bytes(const Plan& plan) const {
    const auto& kept = copy(plan.layout.stored);
    return {bytes(), kept ? kept->bytes() : 0, kept ? kept->trailing_bytes : 0};
  }
};

/// Throws `Error` (usage): a moved-from operator has no matrix.
[[noreturn]] void refuse_moved_from();

template <class S>
using EntryTableHandle = std::shared_ptr<const EntryTable<S>>;

/// The texts of an entry and of the same entry computing in double, for residuals; empty where it
/// has none.
struct EntryTexts {
  EntryText own = {};
  EntryText exact = {};
};
/// A table with nothing but texts. A separate function, so that what it makes and moves is compiled
/// once.
template <class S>
HEDDLE_EXPORT std::shared_ptr<EntryTable<S>> new_entry_table(EntryTexts texts);

/// A handle, like `Operator<E>` and `DefinedOperator<S>`, which add the type of the values.
template <class S>
class HEDDLE_EXPORT SlicedOperator : public LinearOperator<S>, public StoredEntries<S> {
 public:
  /// Without values yet. `order` is that of the arrays that `update_values` will be given.
  SlicedOperator(EntryTableHandle<S> entry, const PatternView& matrix, ComponentOrder order,
                 const Plan& plan, const Device& device,
                 std::shared_ptr<const Basis> row_basis = nullptr,
                 std::shared_ptr<const Basis> column_basis = nullptr,
                 const std::optional<long long>& memory_limit = {});
  /// Without values yet, on the pattern of another operator.
  SlicedOperator(EntryTableHandle<S> entry, std::shared_ptr<const SlicedPattern> pattern,
                 ComponentOrder order, const Plan& plan, const Device& device);

  // Same as in `Operator<E>`.
  SlicedOperator on(const Device& device) const;
  SlicedOperator scheduled(const Plan& plan) const;
  /// Takes all values in the user's order. Throws like `Operator<E>::update_values`.
  void update_values(std::span<const std::byte> values) { update_values(values, order()); }
  void update_values(std::span<const std::byte> values, ComponentOrder order);
  void values_changed();
  long long generation() const { return state().generation; }

  /// The part of `update_values` that a program may repeat at will: puts the values into their
  /// slots.
  void place_values(std::span<const std::byte> values, ComponentOrder order,
                    const Stream& stream) const;

  const EntryTable<S>& entry() const { return *state().entry; }
  ComponentOrder order() const { return state().order; }
  const SlicedPattern& pattern() const { return *state().pattern; }
  const std::shared_ptr<const SlicedPattern>& shared_pattern() const { return state().pattern; }
  /// All scalars as they are stored, including padding.
  std::span<std::byte> stored_values() const { return state().values.span(); }
  const Plan& plan() const { return schedule().plan; }
  const MemoryUse& memory() const { return pattern().memory; }

  Index rows() const override { return pattern().rows; }
  Index columns() const override { return pattern().columns; }
  int row_components() const override { return entry().sizes.result_components; }
  int column_components() const override { return entry().sizes.vector_components; }
  VectorLayout vector_layout() const override { return plan().layout.vector; }
  std::shared_ptr<const Basis> row_basis() const override { return pattern().row_basis; }
  std::shared_ptr<const Basis> column_basis() const override { return pattern().column_basis; }
  Device device() const override { return device_; }
  Ring ring() const override { return entry().ring; }
  Recurrence recurrence() const override { return plan().loop.recurrence; }
  bool has_adjoint() const override { return entry().has_adjoint; }
  /// The adjoint in sliced storage of its own, under the same plan and in this matrix's bases. The
  /// first call makes it, and it lives as long as the matrix. New values of the matrix reach it in
  /// the order of the stream that they take. Throws `Error`: unsupported for entries whose adjoint
  /// is not made of their components, up to a sign; memory if it does not fit.
  std::shared_ptr<const LinearOperator<S>> adjoint() const override;

  /// Bytes of entries, columns and row offsets without padding, x and y once; under an
  /// iteration-precision other than full, those of `iterated()`.
  long long compulsory_bytes() const;
  /// Bytes that this layout reads and writes.
  long long bytes_of_product() const override;

  const StoredEntries<S>* stored_entries() const override { return this; }
  bool has_inverses() const override { return entry().invert_diagonal != nullptr; }
  SlicedOperator sliced_diagonal() const override { return *this; }
  SlicedOperator sliced() const override { return *this; }

  const cuda::Product* product_on_gpu() const override { return schedule().product.get(); }

  std::shared_ptr<const LinearOperator<S>> handle() const override {
    return std::make_shared<SlicedOperator>(*this);
  }

  /// Under an iteration-precision other than full, the copy, which computes in the entry's own
  /// scalar; the matrix itself while an exact copy refuses its values.
  const SlicedOperator& iterated() const override {
    return schedule().narrow && !state().is_refused ? *schedule().narrow : *this;
  }
  StoredScalar iterated_as() const override {
    return is_exact(plan().layout.stored) && !state().is_refused ? StoredScalar::own
                                                                 : plan().layout.stored;
  }
  std::shared_ptr<const LinearOperator<S>> iterated_in_floats() const override;

  void apply(S alpha, const FieldView<const S>& x, S beta, const FieldView<S>& y,
             const Stream& stream) const override;
  sum_t<S> apply_dot(const FieldView<const S>& x, const FieldView<S>& y, Reduction<S>& reduction,
                     const Stream& stream) const override;
  void apply_all(std::span<const FieldView<const S>> x, std::span<const FieldView<S>> y,
                 std::span<sum_t<S>> dots, Reduction<S>& reduction,
                 const Stream& stream) const override;
  /// Summed in double even if entries and fields are single.
  sum_t<S> residual(const FieldView<const S>& b, const FieldView<const S>& x, const FieldView<S>& r,
                    Reduction<S>& reduction, const Stream& stream) const override;

 private:
  struct Adjoint;
  struct Schedule;
  /// The part that handles of every schedule share.
  struct State {
    EntryTableHandle<S> entry;
    ComponentOrder order = ComponentOrder::row_major;
    std::shared_ptr<const SlicedPattern> pattern;
    Array<std::byte> values;
    long long generation = 0;
    std::mutex making_adjoint;
    std::shared_ptr<Adjoint> adjoint;      // once it has been requested
    std::weak_ptr<State> adjoint_of;       // the matrix that this one is the adjoint of
    std::weak_ptr<Schedule> its_schedule;  // and a schedule under which that matrix runs
    bool is_refused = false;               // by the exact copy, which has older values
  };
  struct Schedule {
    Plan plan;
    std::shared_ptr<const cuda::Product> product;  // on a GPU
    std::shared_ptr<SlicedOperator> narrow;        // under another iteration-precision than full
    std::mutex making_floats;
    std::shared_ptr<SlicedOperator> in_floats;  // once 16 bits have not sufficed
    long long generation_of_floats = -1;        // the generation of its values
  };

  /// Makes the product on a GPU; does nothing on the CPU.
  void make_product();
  /// Makes the copy that the plan asks for; does nothing if the entry has floats anyway.
  void make_narrow();
  void narrow_own_values();
  void narrow_values_into(const SlicedOperator& copy) const;
  /// `place_values`, and the exact copy; a refusal leaves both unchanged.
  void place_listed_values(std::span<const std::byte> values, ComponentOrder order);
  std::shared_ptr<Adjoint> make_adjoint() const;
  /// Writes the values of the adjoint that was made, from those of this matrix.
  void update_adjoint() const;
  long long bytes_of_fields() const;
  State& state() const {
    if (!state_) refuse_moved_from();
    return *state_;
  }
  Schedule& schedule() const {
    if (!schedule_) refuse_moved_from();
    return *schedule_;
  }

  Device device_;
  std::shared_ptr<State> state_;
  std::shared_ptr<Schedule> schedule_;
};

extern template class SlicedOperator<float>;
extern template class SlicedOperator<double>;
extern template class SlicedOperator<long double>;

}  // namespace detail

}  // namespace heddle
