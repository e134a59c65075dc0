// What a chosen plan says of a solver's loop on a GPU, by the size of the system.
#include "heddle/choose_plan.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace {

using namespace heddle;

/// For quaternions of double precision, as many rows of seven entries each.
Plan plan_for(Index rows, Index columns) {
  constexpr Index length = 7;
  std::vector<Offset> offsets(static_cast<std::size_t>(rows) + 1);
  for (std::size_t row = 0; row < offsets.size(); ++row) offsets[row] = Offset(row) * length;
  PatternView pattern;
  pattern.rows = rows;
  pattern.columns = columns;
  pattern.offsets = offsets.data();
  return choose_plan_for_gpu(pattern, 32);
}

TEST(ChosenPlan, OverlapsKernelsOfAFewMicrosecondsOnly) {
  constexpr Index last_small = 1 << 17;
  for (const Index rows : {1, 1000, 100000, last_small, last_small + 1, 1000000}) {
    SCOPED_TRACE(rows);
    const Plan plan = plan_for(rows, rows);
    const bool small = rows <= last_small;
    EXPECT_EQ(plan.launch, small ? KernelLaunch::overlapped : KernelLaunch::serial);
    EXPECT_EQ(plan.reductions, small ? 1 : 2);
  }
}

TEST(ChosenPlan, NamesALoopForEachSize) {
  EXPECT_EQ(plan_for(1000, 1000).loop, LoopForm::persistent);
  EXPECT_EQ(plan_for(500000, 500000).loop, LoopForm::graph);
  EXPECT_EQ(plan_for(1000, 1001).loop, LoopForm::graph);
  EXPECT_EQ(choose_plan({}, 32, Device::cpu()), Plan{});
}

}  // namespace
