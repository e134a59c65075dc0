// Which solve a matrix is advised.
#pragma once

#include <optional>
#include <string>

#include "heddle/runtime/any_matrix.hpp"
#include "multigrid_advice.hpp"

namespace heddle::detail {

struct SolveAdvice {
  /// The choice where nothing is named, and why; empty where no method is for the matrix.
  std::string solver, solver_reason, preconditioner, preconditioner_reason;
  std::string text;  // what to take, in sentences
};

/// Looks at entries, and where `multiplies` also at some products on `host`, which keeps a copy of
/// the matrix for them, if its memory suffices.
SolveAdvice solve_advice(const AnyMatrix& matrix, const std::optional<MultigridAdvice>& multigrid,
                         bool multiplies, const Device& host);

}  // namespace heddle::detail
