// Two runs: what counts as a difference, and what is missing.
#include <gtest/gtest.h>

#include <sstream>

#include "pages/output.hpp"
#include "synthetic_run.hpp"

namespace {

using namespace heddle;
using namespace heddle::bench;
using RunData = heddle::bench::Run;

/// One product by Heddle's chosen plan and by another library.
RunData small_run() {
  RunData run = made_up::synthetic_run();
  run.records.erase(run.records.begin() + 1, run.records.end());
  std::vector<Candidate>& candidates = run.records[0].candidates;
  candidates = {candidates[1], candidates[4]};
  for (Candidate& candidate : candidates) {
    candidate.seconds = Timing{0.98, 1.0, 1.02};
    candidate.cold.reset();
  }
  return run;
}

RunData with_time(const Timing& ours, const Timing& peers) {
  RunData run = small_run();
  run.records[0].candidates[0].seconds = ours;
  run.records[0].candidates[1].seconds = peers;
  return run;
}

struct Outcome {
  Comparison comparison;
  std::string text;
};

Outcome compared(const RunData& before, const RunData& after, double threshold = 0.05) {
  std::ostringstream out;
  const Comparison comparison = compare_runs(before, after, threshold, out);
  return {comparison, out.str()};
}

bool says(const Outcome& outcome, const std::string& part) {
  return outcome.text.find(part) != std::string::npos;
}

constexpr Timing usual = {0.98, 1.0, 1.02};

TEST(CompareRuns, ARunIsTheSameAsItself) {
  const RunData run = made_up::synthetic_run();
  const Outcome outcome = compared(run, run);
  EXPECT_EQ(outcome.comparison.slower, 0);
  EXPECT_EQ(outcome.comparison.faster, 0);
  EXPECT_EQ(outcome.comparison.missing, 0);
  int times = 0;
  for (const Record& record : run.records) {
    for (const Candidate& candidate : record.candidates) {
      if (candidate.role == Role::peer) continue;
      times += candidate.seconds.has_value() + candidate.cold.has_value();
    }
  }
  EXPECT_EQ(outcome.comparison.same, times);
  EXPECT_FALSE(says(outcome, "warning"));
}

TEST(CompareRuns, ADifferenceIsBeyondTheThresholdAndTheNoise) {
  const RunData before = small_run();
  const auto with = [&](const Timing& timing) {
    return compared(before, with_time(timing, usual)).comparison;
  };
  EXPECT_EQ(with({1.08, 1.1, 1.12}).slower, 1);
  EXPECT_EQ(with({0.88, 0.9, 0.92}).faster, 1);
  EXPECT_EQ(with({1.03, 1.04, 1.05}).same, 1);  // beyond the noise, within the threshold
  EXPECT_EQ(with({1.01, 1.10, 1.40}).same, 1);  // beyond the threshold, within the noise
  EXPECT_EQ(with({1.021, 1.10, 1.40}).slower, 1);
  EXPECT_EQ(with({0.6, 0.9, 0.979}).faster, 1);
  EXPECT_EQ(compared(before, with_time({1.08, 1.1, 1.12}, usual), 0.2).comparison.same, 1);
  EXPECT_EQ(compared(before, with_time({1.03, 1.04, 1.05}, usual), 0.01).comparison.slower, 1);
}

TEST(CompareRuns, OnlyHeddlesTimesCount) {
  const Outcome outcome = compared(small_run(), with_time(usual, {1.5, 1.6, 1.7}));
  EXPECT_EQ(outcome.comparison.slower, 0);
  EXPECT_EQ(outcome.comparison.same, 1);
  EXPECT_TRUE(says(outcome, "slower, other libraries"));
  EXPECT_TRUE(says(outcome, "+60.0%"));
}

TEST(CompareRuns, LargestDifferencesComeFirst) {
  RunData before = made_up::synthetic_run(), after = before;
  const auto slow_down = [&](std::size_t record, double by) {
    Timing& t = *after.records[record].candidates[1].seconds;
    t = Timing{t.lower_quartile * by, t.median * by, t.upper_quartile * by};
  };
  slow_down(2, 1.2);
  slow_down(4, 1.5);
  slow_down(7, 0.5);
  const Outcome outcome = compared(before, after);
  EXPECT_EQ(outcome.comparison.slower, 2);
  EXPECT_EQ(outcome.comparison.faster, 1);
  EXPECT_LT(outcome.text.find("+50.0%"), outcome.text.find("+20.0%"));
  EXPECT_LT(outcome.text.find("+20.0%"), outcome.text.find("-50.0%"));
}

TEST(CompareRuns, ThePlanOfChosenAndBestMayChange) {
  RunData after = with_time({1.08, 1.1, 1.12}, usual);
  after.records[0].candidates[0].method = "K1rs";
  const Outcome outcome = compared(small_run(), after);
  EXPECT_EQ(outcome.comparison.slower, 1);
  EXPECT_TRUE(says(outcome, "Heddle chosen K1rs, was "));
  after.records[0].candidates[1].method = "another format";
  const Outcome other = compared(small_run(), after);
  EXPECT_EQ(other.comparison.missing, 0);
  EXPECT_TRUE(says(other, "missing"));
  EXPECT_TRUE(says(other, "new"));
}

TEST(CompareRuns, ColdTimesAreHeldAgainstColdOnes) {
  RunData before = small_run(), after = before;
  before.records[0].candidates[0].cold = usual;
  after.records[0].candidates[0].cold = Timing{1.2, 1.3, 1.4};
  const Outcome outcome = compared(before, after);
  EXPECT_EQ(outcome.comparison.slower, 1);
  EXPECT_EQ(outcome.comparison.same, 1);
  EXPECT_TRUE(says(outcome, "cold"));
}

TEST(CompareRuns, WhatFailsNowIsMissing) {
  RunData after = small_run();
  after.records[0].candidates[0].failure = "out of memory";
  const Outcome failed = compared(small_run(), after);
  EXPECT_EQ(failed.comparison.missing, 1);
  EXPECT_TRUE(says(failed, "missing: no valid result in the later run"));
  after = small_run();
  after.records[0].candidates[0].error = 0.5;
  EXPECT_EQ(compared(small_run(), after).comparison.missing, 1);
  EXPECT_EQ(compared(after, small_run()).comparison.missing, 0);
  EXPECT_TRUE(says(compared(after, small_run()), "new: no valid result in the earlier run"));
}

TEST(CompareRuns, AMatrixWithOtherEntriesIsAnotherProblem) {
  RunData after = with_time({1.5, 1.6, 1.7}, usual);
  ++after.records[0].entries;
  const Outcome outcome = compared(small_run(), after);
  EXPECT_EQ(outcome.comparison.slower, 0);
  EXPECT_EQ(outcome.comparison.missing, 1);
}

TEST(CompareRuns, ASuiteThatIsGoneIsOneLine) {
  const RunData before = made_up::synthetic_run();
  RunData after = before;
  std::erase_if(after.records, [](const Record& record) { return record.suite == "setup"; });
  const Outcome outcome = compared(before, after);
  EXPECT_EQ(outcome.comparison.missing, 10);
  EXPECT_TRUE(says(outcome, "the whole suite setup (12 times)"));
}

TEST(CompareRuns, OtherMachinesAreWarnedOf) {
  RunData after = small_run();
  after.machine = "another processor";
  EXPECT_TRUE(says(compared(small_run(), after), "warning: the runs are of different machines"));
  after = small_run();
  after.device = "another device";
  EXPECT_TRUE(says(compared(small_run(), after), "warning: the runs are of different devices"));
  after = small_run();
  after.bandwidth *= 0.8;
  EXPECT_TRUE(says(compared(small_run(), after), "warning: the bandwidths differ by more than 5%"));
}

TEST(CompareRuns, TimesOfZeroAndRecordsThatAgreeInAllAreTaken) {
  RunData zero = with_time({0, 0, 0}, usual);
  EXPECT_EQ(compared(zero, zero).comparison.same, 1);
  EXPECT_EQ(compared(zero, small_run()).comparison.slower, 1);
  RunData twice = small_run();
  twice.records.push_back(twice.records[0]);
  EXPECT_EQ(compared(twice, twice).comparison.same, 2);
  EXPECT_EQ(compared(twice, small_run()).comparison.missing, 1);
}

}  // namespace
