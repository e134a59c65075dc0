#include "heddle/runtime/any_operator.hpp"

#include "heddle/multiply.hpp"
#include "heddle/operator.hpp"
#include "heddle/runtime/defined_operator.hpp"
#include "mass_checks.hpp"

namespace heddle {

detail::AnyEntryTable detail::entry_table_of(const AnyMatrix& matrix) {
  if (matrix.is_defined()) {
    return matrix.visit_defined([]<class S>(const DefinedMatrix<S>& m) -> AnyEntryTable {
      return defined_entry_table<S>(m.definition());
    });
  }
  return matrix.visit(
      []<class E>(const CsrMatrix<E>&) -> AnyEntryTable { return entry_table<E>(); });
}

AnyOperator::AnyOperator(const AnyMatrix& matrix, const Plan& plan, const Device& device)
    : entry_(matrix.entry()),
      matrix_(std::visit(
          [&]<class S>(const std::shared_ptr<const detail::EntryTable<S>>& entry) -> Matrix {
            detail::SlicedOperator<S> built(entry, matrix.pattern(), row_major, plan, device);
            built.update_values(matrix.values());
            return built;
          },
          detail::entry_table_of(matrix))) {}

AnyOperator::AnyOperator(const AnyMatrix& mass, const AnyOperator& other)
    : entry_(mass.entry()),
      matrix_(other.visit([&]<class S>(const detail::SlicedOperator<S>& A) -> Matrix {
        detail::check_mass(other, mass);
        detail::SlicedOperator<S> built(
            std::get<detail::EntryTableHandle<S>>(detail::entry_table_of(mass)), mass.pattern(),
            row_major, A.plan(), A.device(), A.row_basis(), A.column_basis());
        built.update_values(mass.values());
        return built;
      })) {}

AnyOperator AnyOperator::scheduled(const Plan& plan) const {
  return visit([&](const auto& A) { return AnyOperator(entry_, A.scheduled(plan)); });
}

AnyField AnyOperator::row_field() const { return AnyLinearOperator(*this).row_field(); }
AnyField AnyOperator::column_field() const { return AnyLinearOperator(*this).column_field(); }
void AnyOperator::apply(const AnyField& x, AnyField& y) const {
  AnyLinearOperator(*this).apply(x, y);
}

AnyField AnyLinearOperator::row_field() const {
  return visit([&](const auto& A) {
    return AnyField(A->rows(), A->row_components(), precision(), A->device());
  });
}
AnyField AnyLinearOperator::column_field() const {
  return visit([&](const auto& A) {
    return AnyField(A->columns(), A->column_components(), precision(), A->device());
  });
}

void AnyLinearOperator::apply(const AnyField& x, AnyField& y) const {
  visit([&]<class S>(const std::shared_ptr<const LinearOperator<S>>& A) {
    multiply<S>(*A, x.view<S>(), y.view<S>());
    A->device().synchronize();
  });
}

std::optional<AnyOperator> AnyLinearOperator::sliced() const {
  return visit([&]<class S>(const std::shared_ptr<const LinearOperator<S>>& A) {
    const auto* const stored = dynamic_cast<const detail::SlicedOperator<S>*>(A.get());
    return stored != nullptr ? std::optional(AnyOperator(entry_, *stored)) : std::nullopt;
  });
}

}  // namespace heddle
