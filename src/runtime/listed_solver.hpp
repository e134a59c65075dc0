// The solver of a row of the table of methods.
#pragma once

#include <memory>

#include "heddle/krylov_solver.hpp"
#include "heddle/method_info.hpp"

namespace heddle {

/// `preconditioner`: null for none. S is float or double.
template <class S>
std::unique_ptr<KrylovSolver<S>> listed_solver(const MethodInfo& method,
                                               OperatorReference<S> matrix,
                                               std::shared_ptr<Preconditioner<S>> preconditioner,
                                               const SolverOptions& options);

}  // namespace heddle
