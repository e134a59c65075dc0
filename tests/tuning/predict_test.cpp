// Predictions: their inputs are exact, and their results have the right order.
#include "heddle/tuning/predict.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "heddle/choose_plan.hpp"
#include "heddle/problems.hpp"
#include "matrix/slice_shapes.hpp"
#include "spmv/row_lengths.hpp"
#include "support/random_matrix.hpp"

namespace {

using namespace heddle;
using namespace heddle::test;

constexpr Ceilings round_ceilings{100e9, 400e9, 1e-6};

DeviceProperties cpu(int threads = 2) {
  DeviceProperties device;
  device.threads = threads;
  device.last_cache = 8LL << 20;
  return device;
}
DeviceProperties gpu() {
  DeviceProperties device;
  device.gpu = true;
  device.architecture = 90;
  device.multiprocessors = 132;
  device.last_cache = 50LL << 20;
  return device;
}

TEST(Predict, KnowsTheLengthsThatAPlanStores) {
  Seed seed(5301);
  for (const PatternRequest& request : odd_patterns()) {
    const Pattern pattern = random_pattern(request, seed.generator);
    for (const char* text : {"CSR", "Sl-32", "pJDS", "C=8,sigma=16", "K2rs", "ELL", "C=4,T=2"}) {
      SCOPED_TRACE(std::string(request.name) + " " + text);
      const Plan plan = parse_plan(text);
      const StoredLengths stored = stored_lengths(pattern.view(), plan);
      ASSERT_EQ(stored.view().rows, pattern.rows);
      const Array<Index> order = storage_order(pattern.view(), plan, Device::cpu(1));
      for (Index i = 0; i < pattern.rows; ++i) {
        const Index row = order.empty() ? i : order[static_cast<std::size_t>(i)];
        ASSERT_EQ(stored.view().length(i), pattern.length(row)) << i;
      }
      Offset slots = 0;
      const Index C = detail::lanes_of(stored.view(), plan);
      detail::for_each_slice(stored.view(), plan, {},
                             [&](const auto& slice) { slots += Offset(slice.steps) * C; });
      EXPECT_EQ(slots, memory_use(pattern.view(), plan, 8, Device::cpu(1)).slots);
    }
  }
}

TEST(Predict, KnowsUnevenShares) {
  // The first quarter of 4096 rows has nine entries each, the others one.
  Pattern pattern{4096, 4096, {0}, {}};
  for (Index row = 0; row < 4096; ++row) {
    for (Index i = 0; i < (row < 1024 ? 9 : 1); ++i) pattern.column.push_back(i);
    pattern.offsets.push_back(static_cast<Offset>(pattern.column.size()));
  }
  EXPECT_DOUBLE_EQ(imbalance_of_shares(pattern.view(), 1), 1);
  EXPECT_DOUBLE_EQ(imbalance_of_shares(pattern.view(), 2), (9216 + 1024) * 2 / 12288.0);
  EXPECT_DOUBLE_EQ(imbalance_of_shares(pattern.view(), 4), 3);
  EXPECT_DOUBLE_EQ(imbalance_of_shares({}, 4), 1);
  const Plan uneven = choose_plan_for_cpu(pattern.view(), 32, 2);
  EXPECT_EQ(uneven.schedule.kind, ScheduleKind::dynamic);
  EXPECT_EQ(uneven.schedule.chunk, 1);  // 16 groups, two threads
  EXPECT_EQ(choose_plan_for_cpu(pattern.view(), 32, 1), Plan{});
  EXPECT_EQ(choose_plan_for_cpu(pattern.view(), 32, 4), Plan{});  // too few groups to share out
  const double still = predicted_seconds(Plan{}, pattern.view(), 32, cpu(), round_ceilings);
  EXPECT_LT(predicted_seconds(uneven, pattern.view(), 32, cpu(), round_ceilings), still);
  EXPECT_EQ(predicted_plans(pattern.view(), 32, cpu(), round_ceilings).front(), uneven);
}

TEST(Predict, AsksForXWhereSmallEntriesDoNotReadItInStepAndItIsFar) {
  const CsrMatrix<real<double>> lattice = poisson(1000);
  const auto prefetch_of = [](const PatternView& pattern, int bytes) {
    return choose_plan_for_cpu(pattern, bytes, 2).cpu.prefetch_x;
  };
  for (const int small : {4, 8, 16}) EXPECT_EQ(prefetch_of(lattice.view().pattern(), small), 0);
  EXPECT_EQ(prefetch_of(lattice.view().pattern(), 32), Plan{}.cpu.prefetch_x);
  Seed seed(5309);
  for (const Index columns : {1000, 200'000}) {
    const Pattern scattered = random_pattern({.rows = 1000, .columns = columns}, seed.generator);
    EXPECT_EQ(prefetch_of(scattered.view(), 8), columns == 1000 ? 0 : Plan{}.cpu.prefetch_x);
  }
}

TEST(Predict, AsksForSmallEntriesWhereNoCacheHoldsThem) {
  const auto prefetch_of = [](Index rows, int bytes) {
    const CsrMatrix<real<double>> lattice = poisson(rows);
    return choose_plan_for_cpu(lattice.view().pattern(), bytes, 2).cpu.prefetch_matrix;
  };
  EXPECT_EQ(prefetch_of(1000, 8), 0);
  EXPECT_EQ(prefetch_of(1000, 32), Plan{}.cpu.prefetch_matrix);
  EXPECT_EQ(prefetch_of(200'000, 8), Plan{}.cpu.prefetch_matrix);
}

TEST(Predict, IsBytesOverBandwidth) {
  const auto matrix = poisson(200'000);
  const PatternView pattern = matrix.view().pattern();
  const auto seconds = [&](const char* plan, const DeviceProperties& device,
                           const Ceilings& ceilings) {
    return predicted_seconds(parse_plan(plan), pattern, 8, device, ceilings);
  };
  // Entries and columns, offsets, x once and y twice; x of the neighbours stays in the cache.
  const auto entries = static_cast<double>(matrix.entries()), rows = 1.0 * matrix.rows();
  const double bytes = 12 * entries + 8 * rows + 3 * 8 * rows;
  EXPECT_NEAR(seconds("CSR", cpu(1), round_ceilings), 1e-6 + bytes / 100e9, 1e-9);
  DeviceProperties large = cpu(1);
  large.last_cache = 1LL << 30;
  EXPECT_NEAR(seconds("CSR", large, round_ceilings), 1e-6 + bytes / 400e9, 1e-9);
  for (const DeviceProperties& device : {cpu(), gpu()}) {
    const double once = seconds("Sl-32", device, {100e9, 100e9, 0});
    EXPECT_NEAR(seconds("Sl-32", device, {50e9, 50e9, 0}), 2 * once, 1e-9 * once);
  }
  // The properties that distinguish layouts.
  for (const char* worse : {"Sl-32", "K1rs", "CSR,inner=soa", "CSR,vector=soa", "ELL"}) {
    EXPECT_GT(seconds(worse, cpu(1), round_ceilings), seconds("CSR", cpu(1), round_ceilings))
        << worse;
  }
  EXPECT_GT(seconds("CSR", gpu(), round_ceilings), seconds("Sl-32", gpu(), round_ceilings));
}

TEST(Predict, CountsPaddingOnAGpu) {
  Seed seed(5302);
  const Pattern pattern = random_pattern(
      {.rows = 5000, .columns = 5000, .per_row = 3, .dense_row = true}, seed.generator);
  const auto seconds = [&](const char* plan) {
    return predicted_seconds(parse_plan(plan), pattern.view(), 16, gpu(), round_ceilings);
  };
  EXPECT_GT(seconds("ELL"), 10 * seconds("Sl-32"));
  EXPECT_GT(seconds("Sl-32"), seconds("pJDS"));
}

TEST(Predict, BeginsWithTheRuleAndAddsWhatIsNear) {
  Seed seed(5303);
  for (const PatternRequest& request : odd_patterns()) {
    SCOPED_TRACE(request.name);
    const Pattern pattern = random_pattern(request, seed.generator);
    for (const DeviceProperties& device : {cpu(), gpu()}) {
      const auto plans = predicted_plans(pattern.view(), 32, device, typical_ceilings(device));
      ASSERT_FALSE(plans.empty());
      EXPECT_EQ(plans.front(), device.gpu
                                   ? choose_plan_for_gpu(pattern.view(), 32)
                                   : choose_plan_for_cpu(pattern.view(), 32, device.threads));
      for (std::size_t i = 0; i < plans.size(); ++i) {
        EXPECT_NO_THROW(check_plan(plans[i]));
        EXPECT_EQ(std::count(plans.begin(), plans.end(), plans[i]), 1);
      }
    }
  }
  for (const PatternRequest& request : odd_rectangular_patterns()) {
    SCOPED_TRACE(request.name);
    const Pattern pattern = random_pattern(request, seed.generator);
    for (const DeviceProperties& device : {cpu(), gpu()}) {
      for (const Plan& plan :
           predicted_plans(pattern.view(), 8, device, typical_ceilings(device))) {
        EXPECT_TRUE(plan.layout.basis == BasisUse::user || plan.layout.sort_window == 1)
            << to_string(plan);
      }
    }
  }
}

TEST(Predict, CeilingsAreThoseOfADevice) {
  const Ceilings measured = measure_ceilings(Device::cpu(1));
  EXPECT_GT(measured.memory, 0);
  EXPECT_GE(measured.cache, measured.memory);
  EXPECT_GE(measured.start, 0);
  EXPECT_LT(measured.start, 1);
  for (const DeviceProperties& device : {cpu(1), cpu(64), gpu(), DeviceProperties{}}) {
    const Ceilings typical = typical_ceilings(device);
    EXPECT_GT(typical.memory, 0);
    EXPECT_GE(typical.cache, typical.memory);
    EXPECT_GT(typical.start, 0);
  }
}

}  // namespace
