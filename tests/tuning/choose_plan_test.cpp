// The chosen form of a solver's loop on a GPU, by the size of the system.
#include "heddle/choose_plan.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "heddle/entries.hpp"

namespace {

using namespace heddle;

/// Rows of which every `period`-th has a different length.
struct Rows {
  Rows(Index rows, Index length, Index period = 1, Index other = 0)
      : offsets(static_cast<std::size_t>(rows) + 1) {
    for (std::size_t row = 1; row < offsets.size(); ++row) {
      const bool is_other = period > 1 && row % static_cast<std::size_t>(period) == 0;
      offsets[row] = offsets[row - 1] + (is_other ? other : length);
    }
  }
  PatternView view() const {
    PatternView pattern;
    pattern.rows = pattern.columns = static_cast<Index>(offsets.size() - 1);
    pattern.offsets = offsets.data();
    return pattern;
  }

  std::vector<Offset> offsets;
};

/// The plan for quaternions in double precision, with `length` entries in each row.
Plan plan_for(Index rows, Index columns, Index length = 7, StoredScalar stored = StoredScalar::own,
              Objective objective = {}) {
  const Rows all(rows, length);
  PatternView pattern = all.view();
  pattern.columns = columns;
  return choose_plan_for_gpu(pattern, 32, stored, objective);
}

TEST(ChosenPlan, FollowsTheLengthOfVectors) {
  constexpr Index last_short = 1 << 17;
  for (const Index rows :
       {1, 1000, last_short, last_short + 1, 2 * last_short, 2 * last_short + 1}) {
    SCOPED_TRACE(rows);
    const Plan plan = plan_for(rows, rows);
    EXPECT_EQ(plan.loop.launch,
              rows <= last_short ? KernelLaunch::overlapped : KernelLaunch::serial);
    EXPECT_EQ(plan.loop.single_reduction, rows <= last_short);
  }
}

TEST(ChosenPlan, KeepsWhatFitsInL2NextToVectors) {
  EXPECT_EQ(plan_for(34834, 34834).gpu.load, LoadHint::normal);
  const Plan some = plan_for(172974, 172974);
  EXPECT_EQ(some.gpu.load, LoadHint::evict_first);
  EXPECT_GE(some.gpu.l2_percent, 15);
  EXPECT_LE(some.gpu.l2_percent, 25);
  const Plan of_product = plan_for(172974, 172974, 7, StoredScalar::own, Objective::product());
  EXPECT_GT(of_product.gpu.l2_percent, 25);
  EXPECT_LT(of_product.gpu.l2_percent, 40);
  const Plan none = plan_for(543524, 543524);
  EXPECT_EQ(none.gpu.load, LoadHint::evict_first);
  EXPECT_EQ(none.gpu.l2_percent, 0);
}

TEST(ChosenPlan, CountsVectorsInDoubleWithAMatrixInFloats) {
  const Plan plan = plan_for(300000, 300000, 20, StoredScalar::single);
  EXPECT_EQ(plan.layout.stored, StoredScalar::single);
  EXPECT_EQ(plan.gpu.l2_percent, 0);
  EXPECT_EQ(plan.gpu.load, LoadHint::no_allocate);
  EXPECT_EQ(plan.gpu.blocks, 0);
  // The copy stays in L2 where the matrix does not, so the loop may be one kernel.
  EXPECT_EQ(plan_for(70000, 70000, 20).loop.form, LoopForm::graph);
  EXPECT_EQ(plan_for(70000, 70000, 20, StoredScalar::single).loop.form, LoopForm::persistent);
  // Vectors stay in double.
  EXPECT_EQ(plan_for(140000, 140000, 7, StoredScalar::single).loop.form, LoopForm::graph);
}

TEST(ChosenPlan, CountsTheBytesOfACopyWhateverItIsOf) {
  // 16-bit copies of quaternions of doubles and of floats are the same, and so are their layouts.
  const Rows rows(300000, 7);
  const PatternView pattern = rows.view();
  for (const StoredScalar kept : {StoredScalar::half, StoredScalar::bfloat, StoredScalar::scaled}) {
    const Plan of_doubles = choose_plan_for_gpu(pattern, {32, 32}, kept);
    const Plan of_floats = choose_plan_for_gpu(pattern, EntrySize::of<quaternion<float>>(), kept);
    EXPECT_EQ(of_floats.layout.stored, kept);
    EXPECT_TRUE(of_floats.layout == of_doubles.layout) << to_string(of_floats);
  }
  // 3x3 blocks of 18 bytes.
  const auto inner = [&](const EntrySize& entry) {
    return choose_plan_for_gpu(pattern, entry, StoredScalar::scaled).layout.inner;
  };
  EXPECT_EQ(inner(EntrySize::of<block<float, 3, 3>>()), inner({72, 24}));
}

TEST(ChosenPlan, CountsTheRowsOfEachBlock) {
  // Real entries on quaternions, with all rows the same or a sixth of them short: the short rows
  // come together where all are sorted.
  const auto plan_of = [](Index rows, Index shorter) {
    return choose_plan_for_gpu(Rows(rows, 7, 6, shorter).view(), {8, 32});
  };
  EXPECT_EQ(plan_of(90000, 7).layout.sort_window, Layout::all_rows);
  EXPECT_EQ(plan_of(90000, 7).loop.form, LoopForm::persistent);
  EXPECT_EQ(plan_of(90000, 1).layout.sort_window, 256);
  EXPECT_EQ(plan_of(90000, 1).loop.form, LoopForm::persistent);
  EXPECT_EQ(plan_of(120000, 7).loop.form, LoopForm::graph);
}

TEST(ChosenPlan, CountsVectorsThatAreWiderThanTheirEntries) {
  // For example, a real matrix that acts on quaternions.
  const Rows rows(100000, 7);
  const PatternView pattern = rows.view();
  EXPECT_EQ(choose_plan_for_gpu(pattern, 8).loop.form, LoopForm::persistent);
  EXPECT_EQ(choose_plan_for_gpu(pattern, {8, 8}).loop.form, LoopForm::persistent);
  EXPECT_EQ(choose_plan_for_gpu(pattern, {8, 64}).loop.form, LoopForm::graph);
}

TEST(EntrySize, SaysWhatVectorsTake) {
  EXPECT_EQ(EntrySize(32).vector_bytes, 32);
  EXPECT_EQ(EntrySize(72).vector_bytes, 24);
  EXPECT_GE(EntrySize(9 * 16).max_vector_bytes, 3 * 16);
  const EntrySize typed = EntrySize::of<real<double, 4>>();
  EXPECT_EQ(typed.bytes, 8);
  EXPECT_EQ(typed.vector_bytes, 32);
  EXPECT_EQ(typed.max_vector_bytes, 32);
  EXPECT_EQ(typed.scalar_bytes, 8);
  EXPECT_EQ(EntrySize::of<quaternion<float>>().scalar_bytes, 4);
}

TEST(ChosenPlan, SharesOutFewSmallEntriesByTheirNumber) {
  const Plan few_rows = plan_for(2562, 2562);
  EXPECT_GT(few_rows.layout.threads_per_row, 1);
  EXPECT_EQ(few_rows.layout.threshold, 0);
  // No row needs a second thread.
  const Plan even = plan_for(34834, 34834);
  EXPECT_EQ(even.layout.threads_per_row, 1);
  EXPECT_EQ(even.layout.threshold, 0);
  const Plan uneven = choose_plan_for_gpu(Rows(34834, 7, 100, 25).view(), 32);
  EXPECT_EQ(uneven.layout.threads_per_row, 1);
  EXPECT_EQ(uneven.layout.threshold, 8);
  EXPECT_EQ(uneven.loop.form, LoopForm::persistent);
  EXPECT_EQ(plan_for(172974, 172974).layout.threads_per_row, 1);
  // A block that gets the shortest rows gets more of them than fit with their vectors.
  const Rows far_apart(34834, 1, 16, 100);
  const PatternView pattern = far_apart.view();
  const Plan far_uneven = choose_plan_for_gpu(pattern, 32);
  EXPECT_GT(far_uneven.layout.threshold, 0);
  EXPECT_EQ(far_uneven.layout.sort_window, 256);
  EXPECT_EQ(far_uneven.loop.form, LoopForm::persistent);
  EXPECT_EQ(
      choose_plan_for_gpu(pattern, 32, StoredScalar::own, Objective::product()).layout.sort_window,
      Layout::all_rows);
}

/// Blocks of 3 x 3, thirteen per row.
Plan plan_for_blocks(Index rows, Objective objective) {
  return choose_plan_for_gpu(Rows(rows, 13).view(), 72, StoredScalar::own, objective);
}

TEST(ChosenPlan, IsForWhatIsTimed) {
  const Plan product = plan_for_blocks(26436, Objective::product());
  EXPECT_EQ(product.layout.threads_per_row, 4);
  EXPECT_EQ(product.layout.threshold, 0);
  for (const Objective solver : {parse_objective("cg"), parse_objective("bicgstab")}) {
    const Plan loop = plan_for_blocks(26436, solver);
    EXPECT_EQ(loop.loop.form, LoopForm::persistent);
    EXPECT_EQ(loop.layout.threads_per_row, 1);
    EXPECT_EQ(loop.layout.threshold, 8);
    // Fewer rows need more threads each to fill the GPU; very few rows are better left unchanged.
    EXPECT_EQ(plan_for_blocks(9095, solver).layout.threshold, 4);
    // Entries in shared memory need no pieces side by side.
    EXPECT_EQ(loop.layout.inner, InnerLayout::aosoa_16);
    EXPECT_EQ(plan_for_blocks(9095, solver).layout.inner, InnerLayout::aos);
    const Plan few = plan_for_blocks(1016, solver);
    EXPECT_EQ(few.layout.sort_window, 1);
    EXPECT_EQ(few.layout.inner, InnerLayout::aos);
    EXPECT_GT(few.layout.threads_per_row, 1);
    // In a graph the plan equals that of the product alone, except that vectors need more of L2.
    Plan in_loop = plan_for_blocks(66840, solver);
    const Plan alone = plan_for_blocks(66840, Objective::product());
    EXPECT_LT(std::exchange(in_loop.gpu.l2_percent, alone.gpu.l2_percent), alone.gpu.l2_percent);
    EXPECT_EQ(in_loop, alone);
  }
}

TEST(ChosenPlan, KeepsNeighboursTogetherWhereL2DoesNotHoldX) {
  const Objective one = parse_objective("cg"), eight{one.method, 8};
  EXPECT_EQ(plan_for_blocks(500000, one).layout.sort_window, Layout::all_rows);
  EXPECT_EQ(plan_for_blocks(500000, eight).layout.sort_window, 1024);
  EXPECT_EQ(plan_for_blocks(1000000, one).layout.sort_window, 1024);
  EXPECT_EQ(plan_for_blocks(66840, {one.method, 1000}).layout.sort_window, Layout::all_rows);
  EXPECT_EQ(eight, one);
}

TEST(ChosenPlan, SortsSmallSystemsWithAFewLongRows) {
  for (const Index longest : {26, 45, 200}) {
    const Plan plan = choose_plan_for_gpu(Rows(3000, 10, 30, longest).view(), 72);
    EXPECT_EQ(plan.loop.form, LoopForm::persistent);
    EXPECT_EQ(plan.layout.sort_window == 1, longest == 26) << longest;
  }
}

TEST(ChosenPlan, LeavesRowsOfFewEntriesInTheirOrderInOneKernel) {
  const auto plan_of = [](Index rows, Index longest, Objective objective) {
    return choose_plan_for_gpu(Rows(rows, 7, 100, longest).view(), 32, StoredScalar::own,
                               objective);
  };
  EXPECT_EQ(plan_of(65000, 8, parse_objective("cg")).layout.sort_window, 1);
  EXPECT_EQ(plan_of(65000, 9, parse_objective("cg")).layout.sort_window, Layout::all_rows);
  EXPECT_EQ(plan_of(65000, 8, Objective::product()).layout.sort_window, Layout::all_rows);
  // Components in planes, where each thread has several rows.
  EXPECT_EQ(plan_of(65000, 8, parse_objective("cg")).layout.vector, VectorLayout::soa);
  EXPECT_EQ(plan_of(34834, 8, parse_objective("cg")).layout.vector, VectorLayout::aos);
  EXPECT_EQ(plan_of(65000, 8, Objective::product()).layout.vector, VectorLayout::aos);
  EXPECT_EQ(plan_of(172974, 8, parse_objective("cg")).layout.vector, VectorLayout::aos);
}

TEST(ChosenPlan, GoesByTheMemoryOfTheGpu) {
  const Rows rows(34834, 7);
  const PatternView pattern = rows.view();
  const auto plan_with = [&](const NearMemory& memory) {
    return choose_plan_for_gpu(pattern, 32, StoredScalar::own, parse_objective("cg"), memory);
  };
  EXPECT_EQ(plan_with({}).loop.form, LoopForm::persistent);
  DeviceProperties gpu;
  EXPECT_EQ(plan_with(NearMemory::of(gpu)).loop.form, LoopForm::persistent);
  gpu.multiprocessors = 24;
  gpu.shared_memory_of_block = 101376;
  EXPECT_EQ(plan_with(NearMemory::of(gpu)).loop.form, LoopForm::graph);
  EXPECT_EQ(plan_with(NearMemory::of(gpu)).gpu.load, LoadHint::normal);
  gpu.last_cache = 4LL << 20;
  EXPECT_NE(plan_with(NearMemory::of(gpu)).gpu.load, LoadHint::normal);
}

TEST(ChosenPlan, NamesALoopForEachSize) {
  EXPECT_EQ(plan_for(1000, 1000).loop.form, LoopForm::persistent);
  EXPECT_EQ(plan_for(100000, 100000).loop.form, LoopForm::persistent);
  EXPECT_EQ(plan_for(172974, 172974).loop.form, LoopForm::graph);
  EXPECT_EQ(plan_for(500000, 500000).loop.form, LoopForm::graph);
  EXPECT_EQ(plan_for(1000, 1001).loop.form, LoopForm::graph);
  EXPECT_EQ(choose_plan({}, 32, Device::cpu()), Plan{});
}

}  // namespace
