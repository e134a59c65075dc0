// Statistics of times against their definitions, intervals against all outcomes of coin throws.
#include "heddle/tuning/statistics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

namespace {

using namespace heddle;

/// Share of the 2^n equally likely choices of values below the median in which the order statistics
/// `outside` from either end enclose the median.
double coverage(int n, int outside) {
  int enclosed = 0;
  for (unsigned below = 0; below < 1U << n; ++below) {
    const int smaller = std::popcount(below);
    enclosed += smaller > outside && smaller < n - outside;
  }
  return enclosed / static_cast<double>(1U << n);
}

TEST(MedianInterval, IsTheNarrowestOfEnoughConfidence) {
  for (int n = 1; n <= 15; ++n) {
    std::vector<double> values(static_cast<std::size_t>(n));
    std::iota(values.begin(), values.end(), 1);
    std::reverse(values.begin(), values.end());
    for (const double confidence : {0.3, 0.5, 0.8, 0.9, 0.95, 0.99, 0.9999}) {
      SCOPED_TRACE(testing::Message() << n << " values, " << confidence);
      int outside = 0;
      while (2 * (outside + 1) < n && coverage(n, outside + 1) >= confidence) ++outside;
      const Interval interval = median_interval(values, confidence);
      EXPECT_EQ(interval.low, 1 + outside);
      EXPECT_EQ(interval.high, n - outside);
    }
  }
}

TEST(MedianInterval, TakesManyValues) {
  std::vector<double> values(10001);
  std::iota(values.begin(), values.end(), 0);
  const Interval interval = median_interval(values, 0.95);
  // From the normal approximation n/2 -+ 1.96 sqrt(n)/2.
  EXPECT_NEAR(interval.low, 5000 - 98, 2);
  EXPECT_NEAR(interval.high, 5000 + 98, 2);
}

TEST(MedianInterval, EnclosesTheMedianOfASkewedDistributionAsOftenAsItSays) {
  std::mt19937_64 generator(7);
  std::exponential_distribution<double> exponential(1);
  const double median = std::log(2.0);
  constexpr int samples = 4000;
  int enclosed = 0;
  std::vector<double> values(20);
  for (int sample = 0; sample < samples; ++sample) {
    for (double& value : values) value = exponential(generator);
    const Interval interval = median_interval(values, 0.95);
    enclosed += interval.low <= median && median <= interval.high;
  }
  EXPECT_GE(enclosed, 0.95 * samples - 3 * std::sqrt(0.05 * samples));
}

TEST(StatisticsOf, AreTheOrderStatisticsAndWhatLiesBetween) {
  const std::vector<double> values = {5, 1, 4, 2, 3};
  const Statistics five = statistics_of(values);
  EXPECT_EQ(five, (Statistics{5, 1, 2, 3, 4, 5, 3}));
  const std::vector<double> even = {4, 1, 3, 10};
  const Statistics four = statistics_of(even);
  EXPECT_EQ(four, (Statistics{4, 1, 2.5, 3.5, 5.5, 10, 4.5}));
  const std::vector<double> single = {2.5};
  EXPECT_EQ(statistics_of(single), (Statistics{1, 2.5, 2.5, 2.5, 2.5, 2.5, 2.5}));
}

}  // namespace
