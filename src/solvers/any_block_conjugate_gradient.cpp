#include "heddle/runtime/any_block_conjugate_gradient.hpp"

#include <type_traits>

#include "any_preconditioner.hpp"
#include "any_views.hpp"

namespace heddle {

AnyBlockConjugateGradient::AnyBlockConjugateGradient(const AnyOperator& matrix,
                                                     const ComposedChoice& preconditioner,
                                                     const SolverOptions& options, double shift)
    : solver_(matrix.visit([&]<class S>(const detail::SlicedOperator<S>& A) -> decltype(solver_) {
        PreconditionedSystem<S> system(A, preconditioner, shift, multigrid_);
        return std::make_unique<BlockConjugateGradient<S>>(
            system.matrix, std::move(system.preconditioner), options);
      })) {}

AnyBlockConjugateGradient::AnyBlockConjugateGradient(const AnyLinearOperator& matrix,
                                                     const AnyOperator& entries,
                                                     const ComposedChoice& preconditioner,
                                                     const SolverOptions& options, double shift)
    : solver_(matrix.visit(
          [&]<class S>(const std::shared_ptr<const LinearOperator<S>>& A) -> decltype(solver_) {
            return entries.visit(
                [&]<class T>(const detail::SlicedOperator<T>& D) -> decltype(solver_) {
                  if constexpr (std::is_same_v<S, T>) {
                    PreconditionedSystem<S> system({OperatorReference<S>(A), D}, preconditioner,
                                                   shift, multigrid_);
                    return std::make_unique<BlockConjugateGradient<S>>(
                        system.matrix, std::move(system.preconditioner), options);
                  } else {
                    detail::refuse_precision(entries.precision());
                  }
                });
          })) {}

std::vector<Report> AnyBlockConjugateGradient::solve(std::span<const AnyField> b,
                                                     std::span<AnyField> x) {
  return std::visit(
      [&]<class S>(const std::unique_ptr<BlockConjugateGradient<S>>& solver) {
        return solver->solve(views_of<S>(b), views_of<S>(x));
      },
      solver_);
}

const std::vector<double>& AnyBlockConjugateGradient::history(std::size_t system) const {
  return std::visit(
      [&](const auto& solver) -> const auto& { return solver->history(static_cast<int>(system)); },
      solver_);
}

long long AnyBlockConjugateGradient::memory() const {
  return std::visit([](const auto& solver) { return solver->memory(); }, solver_);
}

}  // namespace heddle
