#include "heddle/runtime/any_least_squares.hpp"

namespace heddle {

AnyLeastSquares::AnyLeastSquares(const AnyLinearOperator& matrix,
                                 const LeastSquaresOptions& options)
    : solver_(matrix.visit(
          [&]<class S>(const std::shared_ptr<const LinearOperator<S>>& A) -> decltype(solver_) {
            const std::shared_ptr<const LinearOperator<S>> adjoint = A->adjoint();
            if (const auto* const stored =
                    dynamic_cast<const detail::SlicedOperator<S>*>(adjoint.get())) {
              adjoint_memory_ = stored->memory().total();
            }
            return std::make_unique<Lsmr<S>>(A, adjoint, options);
          })) {}

LeastSquaresReport AnyLeastSquares::solve(const AnyField& b, AnyField& x) {
  return std::visit(
      [&]<class S>(const std::unique_ptr<Lsmr<S>>& solver) {
        return solver->solve(b.view<S>(), x.view<S>());
      },
      solver_);
}

const LeastSquaresHistory& AnyLeastSquares::history() const {
  return std::visit([](const auto& solver) -> const auto& { return solver->history(); }, solver_);
}

long long AnyLeastSquares::memory() const {
  return adjoint_memory_ + std::visit([](const auto& solver) { return solver->memory(); }, solver_);
}

}  // namespace heddle
