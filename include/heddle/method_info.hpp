// The iterative methods of the library: one row for each.
#pragma once

#include <span>
#include <string_view>

#include "heddle/export.hpp"

namespace heddle {

struct MethodInfo {
  std::string_view name;   // in options: "cg"
  std::string_view title;  // "conjugate gradient"
  std::string_view type;   // of its listing, see heddle/methods/
  std::string_view header;
  bool needs_hermitian = false;
  bool needs_positive = false;         // positive definite
  bool has_ring_coefficients = false;  // those of the operator's ring, not real ones
  bool has_one_kernel = false;         // for loop=persistent, where others run a graph
  int direction = -1;  // if it needs positive matrices: the index of its direction vector
  int image = -1;      // a vector that is free between two iterations, if there is one
  std::string_view not_hermitian = "";                  // why it refuses other matrices
  std::string_view lost = "the recurrence broke down";  // meaning of device::loop_lost
  std::string_view orthogonal = "";                     // meaning of device::loop_orthogonal
};

/// Of the library's methods, in the order of `Method`.
HEDDLE_EXPORT std::span<const MethodInfo> method_table();

}  // namespace heddle
