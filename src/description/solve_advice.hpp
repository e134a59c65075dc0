// The solve that is advised for a matrix.
#pragma once

#include <optional>
#include <string>

#include "heddle/runtime/any_matrix.hpp"
#include "multigrid_advice.hpp"

namespace heddle::detail {

struct SolveAdvice {
  /// The choice if nothing is named, and the reason; empty if no method suits the matrix.
  std::string solver, solver_reason, preconditioner, preconditioner_reason;
  std::string text;  // the advice, in sentences
};

/// Looks at entries and, if `multiplies`, also at some products on `host`, if its memory suffices
/// for the copy of the matrix that they need.
SolveAdvice solve_advice(const AnyMatrix& matrix, const std::optional<MultigridAdvice>& multigrid,
                         bool multiplies, const Device& host);

}  // namespace heddle::detail
