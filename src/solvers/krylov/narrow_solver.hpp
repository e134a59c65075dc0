// The solver whose runs over floats serve a solve in double.
#pragma once

#include <memory>

#include "heddle/krylov_solver.hpp"
#include "heddle/method_info.hpp"

namespace heddle::detail {

/// A solver by the method's name, in the form whose runs continue each other if there is one.
/// `preconditioner`: null for none.
std::unique_ptr<KrylovSolver<float>> narrow_solver(
    const MethodInfo& method, OperatorReference<float> matrix,
    std::shared_ptr<Preconditioner<float>> preconditioner, SolverOptions options);

}  // namespace heddle::detail
