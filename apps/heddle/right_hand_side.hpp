// The right-hand side of a solve, and fields that come from files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "heddle/runtime/any_solver.hpp"

namespace heddle::cli {

struct RightHandSide {
  AnyField b;
  std::optional<AnyField> exact;  // the solution, where it is known
  std::string text;               // for reports
  double read_seconds = 0;
};

/// `rhs` as --rhs has it: a file, ones, or empty for (A + shift I) x* with a random x* of this
/// seed.
RightHandSide right_hand_side(const std::string& rhs, std::uint64_t seed, const AnyOperator& A,
                              double shift, const Device& device, Progress* progress);

/// |x - exact| / |exact|, or |x - exact| where the solution is 0.
double relative_error(const AnyField& x, const AnyField& exact);

/// A file given with an option has so many rows, those of the matrix or its columns, or `Error`
/// (size_mismatch).
AnyField read_field_for(const AnyOperator& matrix, const std::string& option,
                        const std::string& path, Index rows, const Device& device,
                        Progress* progress);

}  // namespace heddle::cli
