// The iterative methods of the library: one row for each.
#pragma once

#include <span>
#include <string_view>

#include "heddle/export.hpp"

namespace heddle {

struct MethodInfo {
  std::string_view name;   // in options: "cg"
  std::string_view title;  // "conjugate gradient"
  std::string_view type;   // type of its listing, see heddle/methods/
  std::string_view header;
  bool needs_hermitian = false;
  bool needs_positive = false;         // positive definite
  bool needs_symmetric = false;        // a_ij is the transpose of a_ji, unconjugated
  bool has_ring_coefficients = false;  // coefficients of the operator's ring, not real ones
  bool restarts = false;               // after `SolverOptions::restart` iterations
  bool takes_varying = false;          // varying preconditioners, see `Preconditioner::is_constant`
  bool takes_interval = false;         // `SolverOptions::interval`, for definite matrices
  bool takes_omega = false;            // `SolverOptions::omega`, then for any matrix
  bool has_one_kernel = false;         // for loop=persistent, where others run a graph
  int direction = -1;  // if it needs positive matrices: the index of its direction vector
  int image = -1;      // a vector that is free between two iterations, if there is one
  std::string_view not_hermitian = "";  // why it refuses matrices without that symmetry
  std::string_view lost = "the recurrence broke down";  // meaning of device::loop_lost
  std::string_view orthogonal = "";                     // meaning of device::loop_orthogonal
  std::string_view grew =
      "the residual grew until rounding left no digit of x, as with a singular matrix";
  const MethodInfo* single_reduction = nullptr;  // for cg=single-reduction, if there is one
};

/// `BlockConjugateGradient` for use by `AnySolver`: it has no listing, and so no row in the table.
inline constexpr MethodInfo block_conjugate_gradient_info{
    .name = "block-cg",
    .title = "block conjugate gradient",
    .type = "",
    .header = "",
    .not_hermitian = "<y, A x> and <A y, x> differ",
    .lost = "p* A p vanishes: the matrix is singular, or beyond the range of squares"};

/// The library's methods. The first one is for Hermitian positive definite matrices, and the first
/// that takes any matrix is for the others.
HEDDLE_EXPORT std::span<const MethodInfo> method_table();

/// The table's row with that name. Throws `Error` (usage) that lists the existing names.
HEDDLE_EXPORT const MethodInfo& find_method(std::string_view name);

}  // namespace heddle
