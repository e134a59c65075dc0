// Evidence on a Hermitian matrix's definiteness from a few products, before choosing a method.
#pragma once

#include <optional>

#include "heddle/runtime/any_solver.hpp"

namespace heddle {

/// Signs of the first components of diagonal entries, which are e* A e for unit vectors e.
struct DiagonalSigns {
  bool has_positive = false, has_negative = false;
  std::optional<Index> row_of_zero;  // the first with 0 there, or nothing, and a number elsewhere
};
/// For A + shift I. None for entries given by a definition, whose components may mean anything.
std::optional<DiagonalSigns> diagonal_signs(const AnyMatrix& matrix, double shift);

/// The smallest eigenvalue of a Hermitian A + shift I seen by Lanczos' method: an upper bound of
/// the smallest one, from at most this many products and four times as many passes over a field.
inline constexpr int products_of_look = 16;
struct SmallestSeen {
  double value = 0;
  int products = 0;
  bool is_negative = false;  // by more than rounding
};
/// None where a number is not finite.
std::optional<SmallestSeen> smallest_seen(const AnyLinearOperator& matrix, double shift);

}  // namespace heddle
