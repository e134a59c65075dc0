// The works measured, their number and order; durations are not tested.
#include "heddle/tuning/measure.hpp"

#include <gtest/gtest.h>

#include <string>

#include "base/cache_size.hpp"
#include "tuning/search/cache_eviction.hpp"

namespace {

using namespace heddle;

void expect_timings(const std::vector<Timing>& timings, std::size_t count) {
  ASSERT_EQ(timings.size(), count);
  for (const Timing& timing : timings) {
    EXPECT_FALSE(!(timing.lower_quartile >= 0));
    EXPECT_FALSE(!(timing.median >= timing.lower_quartile));
    EXPECT_FALSE(!(timing.upper_quartile >= timing.median));
  }
}

TEST(Measure, RunsAllWorksInTurn) {
  const Device device = Device::cpu(2);
  for (const bool cold : {false, true}) {
    SCOPED_TRACE(cold ? "cold" : "warm");
    std::string runs;
    const std::vector<std::function<void(const Stream&)>> works = {
        [&](const Stream&) { runs += 'a'; }, [&](const Stream&) { runs += 'b'; }, run_nothing};
    expect_timings(
        (cold ? measure_cold : static_cast<decltype(&measure_cold)>(measure))(works, 3, device), 3);
    // With warm caches, each run follows one of the same work.
    EXPECT_EQ(runs, cold ? "abababab" : "abaabbaabbaabb");
    expect_timings(measure_cold({}, 3, device), 0);
  }
}

TEST(Measure, ABufferEvictsTheLastCache) {
  const Device device = Device::cpu(2);
  const long long bytes = last_level_cache_bytes(device);
  EXPECT_GE(bytes, 1LL << 16);
  EXPECT_LE(bytes, 1LL << 34);
  CacheEviction eviction(device);
  const auto buffer = eviction.buffer();
  EXPECT_GE(static_cast<long long>(buffer.size_bytes()), 3 * bytes);
  const unsigned long long n = buffer.size(), sum = n * (n - 1) / 2;
  // After each run, by any team, the whole buffer has been written, and then read.
  for (const unsigned long long run : {1, 2, 3}) {
    eviction.run(Device::cpu(static_cast<int>(run)).stream());
    unsigned long long unwritten = 0;
    for (unsigned long long i = 1; i < n; ++i) unwritten += buffer[i] != run * i;
    EXPECT_EQ(unwritten, 0u) << "run " << run;
    EXPECT_EQ(buffer[0], run * (run + 1) / 2 * sum) << "run " << run;
  }
}

}  // namespace
