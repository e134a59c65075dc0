#include "heddle/runtime/any_eigen_solver.hpp"

#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "any_preconditioner.hpp"
#include "any_views.hpp"
#include "heddle/runtime/defined_operator.hpp"
#include "mass_checks.hpp"

namespace heddle {

namespace {

/// In the basis and layout of `matrix`.
template <class S>
detail::SlicedOperator<S> mass_operator(const detail::SlicedOperator<S>& matrix,
                                        const AnyMatrix& mass) {
  const detail::AnyEntryTable table = detail::entry_table_of(mass);
  detail::SlicedOperator<S> built(std::get<detail::EntryTableHandle<S>>(table), mass.pattern(),
                                  row_major, matrix.plan(), matrix.device(), matrix.row_basis(),
                                  matrix.column_basis());
  built.update_values(mass.values());
  return built;
}

}  // namespace

AnyEigenSolver::AnyEigenSolver(const AnyOperator& matrix, const AnyMatrix* mass,
                               const ComposedChoice& preconditioner, const EigenOptions& options)
    : solver_(matrix.visit([&]<class S>(const detail::SlicedOperator<S>& A) -> decltype(solver_) {
        std::optional<OperatorReference<S>> of_mass;
        if (mass != nullptr) {
          detail::check_mass(matrix, *mass);
          auto built = mass_operator(A, *mass);
          mass_memory_ = built.memory().total();
          of_mass.emplace(std::move(built));
        }
        return std::make_unique<Lobpcg<S>>(A, std::move(of_mass),
                                           make_preconditioner<S>(A, preconditioner), options);
      })) {}

AnyEigenSolver::AnyEigenSolver(const AnyLinearOperator& matrix, const AnyLinearOperator* mass,
                               const AnyOperator& entries, const ComposedChoice& preconditioner,
                               const EigenOptions& options)
    : solver_(matrix.visit(
          [&]<class S>(const std::shared_ptr<const LinearOperator<S>>& A) -> decltype(solver_) {
            std::optional<OperatorReference<S>> of_mass;
            if (mass != nullptr) {
              detail::check_mass(matrix, *mass);
              of_mass.emplace(std::get<std::shared_ptr<const LinearOperator<S>>>(
                  mass->visit([](const auto& M) -> AnyLinearOperator::Matrix { return M; })));
            }
            return entries.visit([&]<class T>(
                                     const detail::SlicedOperator<T>& of) -> decltype(solver_) {
              if constexpr (std::is_same_v<S, T>) {
                return std::make_unique<Lobpcg<S>>(
                    OperatorReference<S>(A), std::move(of_mass),
                    make_preconditioner<S>({OperatorReference<S>(A), of}, preconditioner), options);
              } else {
                detail::refuse_precision(entries.precision());
              }
            });
          })) {}

EigenReport AnyEigenSolver::solve(std::span<AnyField> x) {
  return std::visit(
      [&]<class S>(const std::unique_ptr<Lobpcg<S>>& solver) {
        return solver->solve(views_of<S>(x));
      },
      solver_);
}

long long AnyEigenSolver::memory() const {
  return mass_memory_ + std::visit([](const auto& solver) { return solver->memory(); }, solver_);
}

}  // namespace heddle
