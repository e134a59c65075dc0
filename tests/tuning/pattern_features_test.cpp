// Features and fingerprints: the same as a plain loop finds, the same for any number of threads,
// and different for every other pattern.
#include "heddle/tuning/pattern_features.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "support/random_matrix.hpp"

namespace {

using namespace heddle;
using namespace heddle::test;

/// More pieces of rows and of columns than threads.
Pattern large_pattern() {
  Generator generator(3);
  return random_pattern({.rows = 20001, .columns = 20001, .per_row = 6, .empty_rows = true},
                        generator);
}

std::vector<Pattern> patterns() {
  Generator generator(1);
  std::vector<Pattern> all;
  for (const PatternRequest& request : odd_patterns()) {
    all.push_back(random_pattern(request, generator));
  }
  for (const PatternRequest& request : odd_rectangular_patterns()) {
    all.push_back(random_pattern(request, generator));
  }
  all.push_back(large_pattern());
  return all;
}

PatternFeatures by_a_plain_loop(const Pattern& pattern) {
  PatternFeatures f{.rows = pattern.rows, .columns = pattern.columns, .entries = pattern.entries()};
  const auto rows = static_cast<long double>(pattern.rows);
  const auto entries = static_cast<long double>(pattern.entries());
  if (pattern.rows == 0) return f;
  long double squares = 0, distance = 0;
  for (Index row = 0; row < pattern.rows; ++row) {
    f.longest_row = std::max(f.longest_row, pattern.length(row));
    squares += static_cast<long double>(pattern.length(row)) * pattern.length(row);
    for (Index i = 0; i < pattern.length(row); ++i) {
      const Offset at = pattern.offsets[static_cast<std::size_t>(row)] + i;
      distance += std::abs(row - pattern.column[static_cast<std::size_t>(at)]);
    }
  }
  const long double mean = entries / rows;
  f.mean_row = static_cast<double>(mean);
  const long double variance = squares / rows - mean * mean;
  f.deviation_of_rows = static_cast<double>(std::sqrt(std::max(0.0L, variance)));
  if (entries > 0) f.mean_distance = static_cast<double>(distance / entries / pattern.columns);
  return f;
}

TEST(PatternFeatures, AreThoseOfAPlainLoop) {
  for (const Pattern& pattern : patterns()) {
    SCOPED_TRACE(std::to_string(pattern.rows) + " x " + std::to_string(pattern.columns));
    const PatternFeatures found = pattern_features(pattern.view());
    const PatternFeatures expected = by_a_plain_loop(pattern);
    EXPECT_EQ(found.rows, expected.rows);
    EXPECT_EQ(found.columns, expected.columns);
    EXPECT_EQ(found.entries, expected.entries);
    EXPECT_EQ(found.longest_row, expected.longest_row);
    EXPECT_DOUBLE_EQ(found.mean_row, expected.mean_row);
    EXPECT_NEAR(found.deviation_of_rows, expected.deviation_of_rows, 1e-8);
    EXPECT_NEAR(found.mean_distance, expected.mean_distance, 1e-14);
  }
}

TEST(PatternFeatures, AndFingerprintsAreTheSameForEveryTeamAndWidthOfOffsets) {
  for (const Pattern& pattern : patterns()) {
    const std::vector<std::int32_t> narrow(pattern.offsets.begin(), pattern.offsets.end());
    PatternView narrow_view = pattern.view();
    narrow_view.offsets = OffsetsView(narrow.data());
    const PatternFeatures features = pattern_features(pattern.view(), Device::cpu(1));
    const std::string digits = fingerprint(pattern.view(), Device::cpu(1));
    EXPECT_EQ(digits.size(), 32u);
    for (const int threads : {1, 2, 3, 7}) {
      const Device device = Device::cpu(threads);
      EXPECT_EQ(pattern_features(pattern.view(), device), features);
      EXPECT_EQ(pattern_features(narrow_view, device), features);
      EXPECT_EQ(fingerprint(pattern.view(), device), digits);
      EXPECT_EQ(fingerprint(narrow_view, device), digits);
    }
  }
}

TEST(Fingerprint, ChangesWithEveryPartOfThePattern) {
  const Pattern pattern = large_pattern();
  std::set<std::string> seen = {fingerprint(pattern.view())};
  const auto expect_another = [&](const Pattern& other, const std::string& what) {
    EXPECT_TRUE(seen.insert(fingerprint(other.view())).second) << what;
  };
  for (std::size_t i = 0; i < pattern.column.size(); i += 997) {
    Pattern other = pattern;
    other.column[i] ^= 1;
    expect_another(other, "column " + std::to_string(i));
  }
  // An entry moves from one row to the next.
  for (std::size_t row = 1; row + 1 < pattern.offsets.size(); row += 487) {
    Pattern other = pattern;
    if (other.offsets[row] == other.offsets[row - 1]) continue;
    --other.offsets[row];
    expect_another(other, "offset " + std::to_string(row));
  }
  Pattern wider = pattern;
  ++wider.columns;
  expect_another(wider, "a column more");
  Pattern longer = pattern;
  ++longer.rows;
  longer.offsets.push_back(longer.offsets.back());
  expect_another(longer, "an empty row more");
  Pattern fuller = pattern;
  ++fuller.offsets.back();
  fuller.column.push_back(7);
  expect_another(fuller, "an entry more");
}

TEST(Fingerprint, TellsEmptyMatricesApart) {
  std::set<std::string> seen;
  for (const auto& [rows, columns] : {std::pair(0, 0), {0, 1}, {1, 0}, {1, 1}, {2, 1}, {1, 2}}) {
    Pattern pattern{rows, columns, std::vector<Offset>(static_cast<std::size_t>(rows) + 1), {}};
    EXPECT_TRUE(seen.insert(fingerprint(pattern.view())).second) << rows << " x " << columns;
  }
}

/// Profiles hold fingerprints: the next version must find those that one version writes.
TEST(Fingerprint, StaysWhatItIs) {
  const Pattern pattern{3, 4, {0, 2, 2, 5}, {0, 3, 1, 2, 3}};
  EXPECT_EQ(fingerprint(pattern.view()), "84cd25f44e7c91c5b0573616407a686e");
}

PatternFeatures features_of(Index rows, double mean, double deviation, Index longest,
                            double distance) {
  return {.rows = rows,
          .columns = rows,
          .entries = static_cast<Offset>(rows * mean),
          .mean_row = mean,
          .deviation_of_rows = deviation,
          .longest_row = longest,
          .mean_distance = distance};
}

TEST(Distance, CountsDoublings) {
  const PatternFeatures a = features_of(10000, 7, 1, 12, 0.01);
  EXPECT_EQ(distance(a, a), 0);
  const PatternFeatures twice_as_large = features_of(20000, 7, 1, 12, 0.005);
  EXPECT_NEAR(distance(a, twice_as_large), 1, 1e-12);
  EXPECT_NEAR(distance(a, features_of(20000, 7, 1, 12, 0.01)), 1, 0.05);
  EXPECT_NEAR(distance(a, features_of(40000, 7, 1, 12, 0.005)), 2, 0.05);
  EXPECT_NEAR(distance(a, features_of(10000, 7, 1, 24, 0.01)), 1, 1e-12);
  EXPECT_NEAR(distance(a, features_of(10000, 7, 3, 12, 0.01)), 1, 1e-12);
  EXPECT_NEAR(distance(a, features_of(10000, 14, 1, 24, 0.01)), 1, 1e-12);
  const PatternFeatures scattered = features_of(10000, 7, 1, 12, 0.3);
  EXPECT_GT(distance(a, scattered), 1);
  EXPECT_LT(distance(a, scattered), 1.5);
  EXPECT_EQ(distance(a, scattered), distance(scattered, a));
  PatternFeatures wide = a;
  wide.columns *= 4;
  EXPECT_NEAR(distance(a, wide), 2, 1e-12);
}

TEST(Distance, IsFiniteForMatricesWithoutEntries) {
  const PatternFeatures none, empty = features_of(100, 0, 0, 0, 0),
                              full = features_of(100, 3, 0, 3, 0.1);
  EXPECT_EQ(distance(none, none), 0);
  EXPECT_EQ(distance(empty, empty), 0);
  for (const PatternFeatures& other : {none, empty}) {
    EXPECT_TRUE(std::isfinite(distance(full, other)));
    EXPECT_GT(distance(full, other), 2);
  }
}

}  // namespace
