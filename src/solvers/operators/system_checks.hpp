// Checks that solvers make of right-hand sides and solutions.
#pragma once

#include <span>
#include <string>

#include "heddle/error.hpp"
#include "heddle/field.hpp"

namespace heddle::detail {

/// Throws `Error` (size_mismatch) unless both numbers are equal.
inline void check_as_many(std::size_t right_hand_sides, std::size_t solutions) {
  if (right_hand_sides == solutions) return;
  throw Error(ErrorKind::size_mismatch, std::to_string(right_hand_sides) +
                                            " right-hand sides, but " + std::to_string(solutions) +
                                            " solutions");
}
/// Throws `Error`: size_mismatch for fields whose sizes differ from those of `like`, usage for an x
/// that shares memory with another field.
template <class S>
void check_systems(std::span<const FieldView<const S>> b, std::span<const FieldView<S>> x,
                   const FieldView<S>& like) {
  for (std::size_t k = 0; k < x.size(); ++k) {
    check_same_shape(b[k], like, "the right-hand side");
    check_same_shape(x[k], like, "the solution");
    for (const auto& other : b) check_apart(other, x[k], "the right-hand side", "the solution");
    for (const auto& other : x.first(k)) check_apart(other, x[k], "a solution", "another");
  }
}

}  // namespace heddle::detail
