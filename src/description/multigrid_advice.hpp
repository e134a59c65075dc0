// Whether multigrid is worth it for a matrix, by trying it.
#pragma once

#include <optional>
#include <string>

#include "heddle/runtime/any_matrix.hpp"

namespace heddle::detail {

/// Of conjugate gradient with a V-cycle of constants, and with Jacobi for as long as that reads no
/// more than half as many bytes again; set-ups are left out.
struct MultigridAdvice {
  std::string why_not;  // it is refused; empty where it was tried
  bool is_advised = false;
  double tolerance = 0;
  long long iterations = 0;
  double factor = 0;                           // what an iteration left of the residual
  double iterations_of_jacobi = 0;             // whose bytes are those of one iteration
  long long most_of_jacobi = 0;                // iterations that were tried
  std::optional<long long> jacobi_iterations;  // none: more than these
};

/// None for a matrix without entries, or one that is not square.
std::optional<MultigridAdvice> multigrid_advice(const AnyMatrix& matrix, const Device& device);

}  // namespace heddle::detail
