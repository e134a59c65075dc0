// A matrix of entries from a definition as an operator, and its Jacobi. On a GPU the definition is
// printed as a C++ type and runs as one; the CPU runs its table of terms, which is slower than a
// type.
#pragma once

#include <utility>

#include "heddle/detail/sliced_jacobi.hpp"
#include "heddle/runtime/defined_matrix.hpp"

namespace heddle {

namespace detail {
/// S is float or double.
template <class S>
HEDDLE_EXPORT EntryTableHandle<S> defined_entry_table(
    const std::shared_ptr<const EntryDefinition>& definition);
}  // namespace detail

/// A handle like `Operator<E>`. S is float or double.
template <class S>
class HEDDLE_EXPORT DefinedOperator final : public detail::SlicedOperator<S> {
  using Base = detail::SlicedOperator<S>;

 public:
  /// The matrix's arrays are copied. Throws like `Operator<E>`.
  DefinedOperator(const DefinedMatrix<S>& matrix, const Plan& plan, const Device& device)
      : Base(detail::defined_entry_table<S>(matrix.definition()), matrix.pattern(),
             ComponentOrder::row_major, plan, device) {
    update_values(matrix.values().span());
  }

  const EntryDefinition& definition() const { return *this->entry().definition; }

  // The same as in `Operator<E>`.
  DefinedOperator scheduled(const Plan& plan) const {
    return DefinedOperator(Base::scheduled(plan));
  }
  void update_values(std::span<const S> values) { Base::update_values(std::as_bytes(values)); }

 private:
  explicit DefinedOperator(Base same) : Base(std::move(same)) {}
};

/// Throws `Error` (unsupported) if the definition has no inverse, else like `Jacobi<E>`.
template <class S>
using DefinedJacobi = detail::SlicedJacobi<S>;

}  // namespace heddle
