#include "heddle/runtime/any_eigen_solver.hpp"

#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "any_views.hpp"
#include "make_preconditioner.hpp"
#include "mass_checks.hpp"

namespace heddle {

AnyEigenSolver::AnyEigenSolver(const AnyLinearOperator& system, const AnyLinearOperator* mass,
                               const ComposedChoice& preconditioner, const EigenOptions& options)
    : solver_(system.visit(
          [&]<class S>(const std::shared_ptr<const LinearOperator<S>>& A) -> decltype(solver_) {
            std::optional<OperatorReference<S>> of_mass;
            if (mass != nullptr) {
              detail::check_mass(system, *mass);
              of_mass.emplace(std::get<std::shared_ptr<const LinearOperator<S>>>(
                  mass->visit([](const auto& M) -> AnyLinearOperator::Matrix { return M; })));
            }
            const OperatorReference<S> matrix(A);
            return std::make_unique<Lobpcg<S>>(
                matrix, std::move(of_mass), make_preconditioner<S>(matrix, preconditioner, facts_),
                options);
          })) {}

EigenReport AnyEigenSolver::solve(std::span<AnyField> x) {
  return std::visit(
      [&]<class S>(const std::unique_ptr<Lobpcg<S>>& solver) {
        return solver->solve(views_of<S>(x));
      },
      solver_);
}

long long AnyEigenSolver::memory() const {
  return std::visit([](const auto& solver) { return solver->memory(); }, solver_);
}

}  // namespace heddle
