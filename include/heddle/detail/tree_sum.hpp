// Sums of trees below the type of their entries.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "heddle/detail/leaf_schedule.hpp"
#include "heddle/export.hpp"

namespace heddle::detail {

/// An entry of the sum, and those of either tree in its place, null where there is none.
struct HEDDLE_EXPORT SumTerm {
  const std::byte* a;
  const std::byte* b;
  std::byte* sum;
};

/// Writes the sums of some entries.
using CombineEntries = std::function<void(std::span<const SumTerm>)>;

/// Throws `Error`: size_mismatch for matrices of other sizes, usage for nodes of another size.
HEDDLE_EXPORT void check_sum(const Tree& a, const Tree& b, bool turns_b);

/// The tree of all places that A has, or B, or B's transpose where `turns_b`, which
/// `check_sum` takes. Throws `Error` (memory).
HEDDLE_EXPORT Tree sum_of_trees(const ScheduledTree& A, const ScheduledTree& B, bool turns_b,
                                const CombineEntries& combine, const Device& device);

}  // namespace heddle::detail
