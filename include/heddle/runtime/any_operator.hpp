// Operators and fields over entries that are chosen at run time.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "heddle/detail/sliced_operator.hpp"
#include "heddle/export.hpp"
#include "heddle/field.hpp"
#include "heddle/linear_operator.hpp"
#include "heddle/plan.hpp"
#include "heddle/runtime/any_matrix.hpp"

namespace heddle {

namespace detail {

[[noreturn]] HEDDLE_EXPORT void refuse_precision(Precision given);

/// The alternative T of single and double precision. Throws `Error` (size_mismatch) if the other
/// one is held.
template <class T, class Variant>
auto& of_precision(Variant& either) {
  auto* const wanted = std::get_if<std::remove_const_t<T>>(&either);
  if (wanted == nullptr) {
    refuse_precision(either.index() == 0 ? Precision::single_precision
                                         : Precision::double_precision);
  }
  return *wanted;
}

/// The table of a matrix's entries, which a type or a definition states.
using AnyEntryTable = std::variant<EntryTableHandle<float>, EntryTableHandle<double>>;
HEDDLE_EXPORT AnyEntryTable entry_table_of(const AnyMatrix& matrix);

}  // namespace detail

/// An AoS field in the user's order and the host's memory, in single or double precision; `device`
/// gives the number of threads that make it. It has no rows after being moved from.
class HEDDLE_EXPORT AnyField {
 public:
  /// Throws `Error` (size_mismatch) for sizes that no field has.
  AnyField(Index rows, int components, Precision precision, const Device& device);

  /// The same as `read_field<E>` with the named entry and precision.
  static AnyField read(const std::string& path, const AnyEntry& entry, Precision precision,
                       const Device& device = Device::cpu(), Progress* progress = nullptr);
  /// Writes an array file with one entry per row; complex numbers if the entries are built-in ones
  /// over complex numbers.
  void write(const std::string& path, const AnyEntry& entry, Progress* progress = nullptr) const;

  Index rows() const;
  int components() const { return components_; }
  Precision precision() const {
    return scalars_.index() == 0 ? Precision::single_precision : Precision::double_precision;
  }

  double get(Offset scalar) const;
  void set(Offset scalar, double value);

  /// Throws `Error` (size_mismatch) unless S is the field's scalar.
  template <class S>
  FieldView<S> view();
  template <class S>
  FieldView<const S> view() const;

 private:
  int components_;
  std::variant<Array<float>, Array<double>> scalars_;
};

/// A handle like `Operator<E>`; a moved-from one throws `Error` (usage).
class HEDDLE_EXPORT AnyOperator {
 public:
  using Matrix = std::variant<detail::SlicedOperator<float>, detail::SlicedOperator<double>>;

  /// Made from a handle of a matrix of such entries.
  AnyOperator(AnyEntry entry, Matrix matrix)
      : entry_(std::move(entry)), matrix_(std::move(matrix)) {}
  AnyOperator(const AnyMatrix& matrix, const Plan& plan, const Device& device);
  /// Made as a mass of `other`, with its entry, precision and rows, under its plan and in its
  /// bases: fields of one are fields of both. Throws `Error` (size_mismatch) for a different
  /// matrix.
  AnyOperator(const AnyMatrix& mass, const AnyOperator& other);

  /// See `Operator<E>::scheduled`.
  AnyOperator scheduled(const Plan& plan) const;

  /// See `Operator<E>::update_values`; values are in the matrix's precision, all components of an
  /// entry, one entry after the other. Throws `Error` (size_mismatch) for the other precision.
  template <class S>
  void update_values(std::span<const S> values) {
    detail::of_precision<detail::SlicedOperator<S>>(matrix_).update_values(std::as_bytes(values));
  }

  const AnyEntry& entry() const {
    static_cast<void>(rows());  // throws for a moved-from handle
    return entry_;
  }
  EntryKind kind() const { return entry().kind(); }
  Precision precision() const {
    static_cast<void>(rows());
    return matrix_.index() == 0 ? Precision::single_precision : Precision::double_precision;
  }
  /// Throws `Error` (size_mismatch) unless S is the operator's scalar.
  template <class S>
  const detail::SlicedOperator<S>& sliced() const {
    return detail::of_precision<const detail::SlicedOperator<S>>(matrix_);
  }
  /// Calls `f` with the operator as a `LinearOperator<S>` that also exposes its pattern and values.
  template <class F>
  decltype(auto) visit(F&& f) const {
    return std::visit(std::forward<F>(f), matrix_);
  }

  Index rows() const {
    return visit([](const auto& A) { return A.rows(); });
  }
  Index columns() const {
    return visit([](const auto& A) { return A.columns(); });
  }
  const Plan& plan() const {
    return visit([](const auto& A) -> const Plan& { return A.plan(); });
  }
  const MemoryUse& memory() const {
    return visit([](const auto& A) -> const MemoryUse& { return A.memory(); });
  }
  /// Bytes of a product as iterations make it, see `LinearOperator::iterated`.
  long long compulsory_bytes() const {
    return visit([](const auto& A) { return A.compulsory_bytes(); });
  }
  long long bytes_of_product() const {
    return visit([](const auto& A) { return A.iterated().bytes_of_product(); });
  }

  /// Fields in the user's order for y (rows) and x (columns).
  AnyField row_field() const;
  AnyField column_field() const;

  /// y = A x, both in the user's order.
  void apply(const AnyField& x, AnyField& y) const;

 private:
  AnyEntry entry_;
  Matrix matrix_;
};

/// Any operator with the entry of its fields; copies share it.
class HEDDLE_EXPORT AnyLinearOperator {
 public:
  using Matrix = std::variant<std::shared_ptr<const LinearOperator<float>>,
                              std::shared_ptr<const LinearOperator<double>>>;

  AnyLinearOperator(AnyEntry entry, Matrix matrix)
      : entry_(std::move(entry)), matrix_(std::move(matrix)) {}
  AnyLinearOperator(const AnyOperator& matrix)
      : AnyLinearOperator(matrix.entry(),
                          matrix.visit([](const auto& A) -> Matrix { return A.handle(); })) {}

  const AnyEntry& entry() const { return entry_; }
  Precision precision() const {
    return matrix_.index() == 0 ? Precision::single_precision : Precision::double_precision;
  }
  /// Calls `f` with a `std::shared_ptr<const LinearOperator<S>>`.
  template <class F>
  decltype(auto) visit(F&& f) const {
    return std::visit(std::forward<F>(f), matrix_);
  }

  Index rows() const {
    return visit([](const auto& A) { return A->rows(); });
  }
  Index columns() const {
    return visit([](const auto& A) { return A->columns(); });
  }
  /// The operator itself if it is a matrix in sliced storage.
  std::optional<AnyOperator> sliced() const;

  /// Fields in the user's order for y (rows) and x (columns).
  AnyField row_field() const;
  AnyField column_field() const;
  /// y = A x, both in the user's order.
  void apply(const AnyField& x, AnyField& y) const;

 private:
  AnyEntry entry_;
  Matrix matrix_;
};

}  // namespace heddle
