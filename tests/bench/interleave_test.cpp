#include "suites/interleave.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>

namespace heddle::bench {
namespace {

InterleaveOptions in_turns(int repetitions) {
  InterleaveOptions options;
  options.repetitions = repetitions;
  options.follows_itself = false;
  return options;
}

TEST(Interleave, TakesTurns) {
  std::string order;
  const auto outcomes = interleave({[&] {
                                      order += 'a';
                                      return 1e-3;
                                    },
                                    [&] {
                                      order += 'b';
                                      return 2e-3;
                                    }},
                                   in_turns(3));
  EXPECT_EQ(order,
            "aabb"
            "ababab");
  EXPECT_EQ(outcomes[0].timing.median, 1e-3);
  EXPECT_EQ(outcomes[1].timing.median, 2e-3);
  EXPECT_EQ(outcomes[1].seconds.size(), 3U);
}

TEST(Interleave, RunsTwiceWhereAWorkFollowsItself) {
  int runs = 0;
  double last = 0;
  InterleaveOptions options = in_turns(5);
  options.follows_itself = true;
  const auto outcomes = interleave({[&] {
                                     last = ++runs % 2 == 1 ? 1 : 5;
                                     return last;
                                   }},
                                   options);
  // One run to warm up, then pairs of which the second counts.
  EXPECT_EQ(runs, 1 + 2 + 2 * 5);
  EXPECT_EQ(outcomes[0].timing.median, 1);
}

TEST(Interleave, TakesTheMeanOfShortRuns) {
  int runs = 0;
  InterleaveOptions options = in_turns(3);
  options.follows_itself = true;
  const auto outcomes = interleave({[&] {
                                     ++runs;
                                     return 1e-5;
                                   }},
                                   options);
  EXPECT_GE(runs, 3 * 99);
  EXPECT_NEAR(outcomes[0].timing.median, 1e-5, 1e-12);
}

TEST(Interleave, RepeatsLessOftenWhereThereIsNoTime) {
  int runs = 0;
  InterleaveOptions options = in_turns(1000);
  options.seconds_in_all = 5;
  interleave({[&] {
               ++runs;
               return 1.0;
             }},
             options);
  EXPECT_EQ(runs, 2 + 5);
  runs = 0;
  options.seconds_in_all = 0.1;
  interleave({[&] {
               ++runs;
               return 1.0;
             }},
             options);
  EXPECT_EQ(runs, 2 + 3);
}

TEST(Interleave, LeavesOutWhatFails) {
  int runs = 0;
  const auto outcomes = interleave({[] { return std::numeric_limits<double>::quiet_NaN(); },
                                    [&]() -> double {
                                      if (++runs == 4) throw std::runtime_error("it broke");
                                      return 1;
                                    },
                                    [] { return 1.0; }, [] { return -1.0; }},
                                   in_turns(5));
  EXPECT_FALSE(outcomes[0].failure.empty());
  EXPECT_EQ(outcomes[1].failure, "it broke");
  EXPECT_EQ(runs, 4);
  EXPECT_EQ(outcomes[2].failure, "");
  EXPECT_EQ(outcomes[2].seconds.size(), 5U);
  EXPECT_FALSE(outcomes[3].failure.empty());
}

TEST(Interleave, CallsBeforeEveryTimedRun) {
  std::string order;
  InterleaveOptions options = in_turns(3);
  options.before = [&] { order += '-'; };
  interleave({[&] {
               order += 'a';
               return 1e-3;
             }},
             options);
  EXPECT_EQ(order, "a-a-a-a-a");
}

}  // namespace
}  // namespace heddle::bench
