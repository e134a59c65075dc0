// The right-hand side of a solve, and fields that come from files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heddle/runtime/any_solver.hpp"

namespace heddle::cli {

struct RightHandSide {
  std::vector<AnyField> b;
  std::vector<AnyField> exact;  // the solutions, where they are known
  std::string text;             // for reports
  double read_seconds = 0;
};

/// `rhs` as --rhs has it: a file of `count` right-hand sides one behind the other, ones, or empty
/// for (A + shift I) x* with random x* of this seed and those that follow it.
RightHandSide right_hand_side(const std::string& rhs, int count, std::uint64_t seed,
                              const AnyLinearOperator& A, double shift, const Device& device,
                              Progress* progress);

/// Those of the random solutions of `count` seeds, for reports.
std::string random_system_in_words(double shift, std::uint64_t seed, int count);

/// |x - exact| / |exact|, or |x - exact| where the solution is 0.
double relative_error(const AnyField& x, const AnyField& exact);

/// A file given with an option has `count` fields, one behind the other, of so many rows, those of
/// the matrix or its columns, or `Error` (size_mismatch).
std::vector<AnyField> read_fields_for(const AnyLinearOperator& matrix, const std::string& option,
                                      const std::string& path, Index rows, int count,
                                      const Device& device, Progress* progress);
/// Such fields as one.
AnyField joined(const std::vector<AnyField>& fields, const Device& device);

}  // namespace heddle::cli
