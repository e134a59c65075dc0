// Conjugate gradient whose runs continue each other, for runs that are refined.
#pragma once

#include <memory>

#include "heddle/krylov_solver.hpp"

namespace heddle::detail {

/// `preconditioner`: null for none.
std::unique_ptr<KrylovSolver<float>> continued_conjugate_gradient(
    OperatorReference<float> matrix, std::shared_ptr<Preconditioner<float>> preconditioner,
    SolverOptions options);

}  // namespace heddle::detail
