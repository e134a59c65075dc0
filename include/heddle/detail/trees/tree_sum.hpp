// Sums of trees below the type of their entries.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "heddle/detail/trees/leaf_schedule.hpp"
#include "heddle/export.hpp"

namespace heddle::detail {

/// An entry of the sum, and those of the two trees in its place, null if there is none.
struct HEDDLE_EXPORT SumTerm {
  const std::byte* a;
  const std::byte* b;
  std::byte* sum;
};

/// Writes the sums of some entries.
using CombineEntries = std::function<void(std::span<const SumTerm>)>;

/// Throws `Error`: size_mismatch if the matrices differ in size, usage if their nodes do.
HEDDLE_EXPORT void check_sum(const Tree& a, const Tree& b, bool transposes_b);

/// The tree of all places that A has, or B, or B's transpose if `transposes_b`, for trees that
/// `check_sum` accepts. Throws `Error` (memory).
HEDDLE_EXPORT Tree sum_of_trees(const ScheduledTree& A, const ScheduledTree& B, bool transposes_b,
                                const CombineEntries& combine, const Device& device);

}  // namespace heddle::detail
