// Sums of trees below the type of their entries.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "heddle/detail/trees/leaf_schedule.hpp"
#include "heddle/export.hpp"

namespace heddle {

/// How a sum finds which leaves of both trees meet: in their kept schedules, which are made or
/// mended first, or by a walk over both trees at once, which keeps none (Derler et al. 2017,
/// section 6). The sum has the same bits.
enum class SumSchedule { kept, tree };

}  // namespace heddle

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
/// `check_sum` accepts. Throws `Error`: memory; by a walk, unsupported for 2^31 leaves or more.
HEDDLE_EXPORT Tree sum_of_trees(const ScheduledTree& A, const ScheduledTree& B, bool transposes_b,
                                const CombineEntries& combine, const Device& device,
                                SumSchedule schedule);

}  // namespace heddle::detail
