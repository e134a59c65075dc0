// The preconditioners that options name, over sliced storage.
#pragma once

#include <memory>

#include "heddle/conjugate_gradient.hpp"
#include "heddle/detail/sliced_jacobi.hpp"
#include "heddle/gmres.hpp"
#include "heddle/runtime/preconditioner_choice.hpp"
#include "heddle/solver_preconditioner.hpp"

namespace heddle {

/// So many iterations of a solver with Jacobi.
template <template <class> class Solver, class S>
std::shared_ptr<Preconditioner<S>> make_inner_solver(const detail::SlicedOperator<S>& matrix,
                                                     int iterations) {
  SolverOptions options;
  options.max_iterations = options.restart = iterations;
  auto jacobi = std::make_shared<detail::SlicedJacobi<S>>(matrix);
  auto solver = std::make_shared<Solver<S>>(matrix, std::move(jacobi), std::move(options));
  return std::make_shared<SolverPreconditioner<S>>(std::move(solver));
}

/// Null for none.
template <class S>
std::shared_ptr<Preconditioner<S>> make_preconditioner(const detail::SlicedOperator<S>& matrix,
                                                       const PreconditionerChoice& choice) {
  switch (choice.kind) {
    case PreconditionerKind::none:
      return nullptr;
    case PreconditionerKind::jacobi:
      return std::make_shared<detail::SlicedJacobi<S>>(matrix);
    case PreconditionerKind::cg:
      return make_inner_solver<ConjugateGradient>(matrix, choice.number);
    case PreconditionerKind::gmres:
      return make_inner_solver<Gmres>(matrix, choice.number);
  }
  return nullptr;
}

}  // namespace heddle
