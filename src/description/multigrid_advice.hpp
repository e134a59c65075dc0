// Advice on whether multigrid is worthwhile for a matrix, by trying it.
#pragma once

#include <optional>
#include <string>

#include "heddle/runtime/any_matrix.hpp"

namespace heddle::detail {

/// Results of conjugate gradient with a V-cycle of constants, and with Jacobi until that has read
/// half as many bytes again; set-ups are left out.
struct MultigridAdvice {
  std::string why_not;  // the reason if multigrid was refused; empty if it was tried
  bool is_advised = false;
  double tolerance = 0;
  long long iterations = 0;
  double factor = 0;                           // the part of the residual that an iteration left
  double iterations_of_jacobi = 0;             // those that read the bytes of one with multigrid
  long long most_of_jacobi = 0;                // iterations that were tried
  std::optional<long long> jacobi_iterations;  // none if more than these
};

/// None for a matrix without entries, or one that is not square.
std::optional<MultigridAdvice> multigrid_advice(const AnyMatrix& matrix, const Device& device);

}  // namespace heddle::detail
