// Races on a synthetic clock: their corrections, their end, and their reported precision.
#include "tuning/search/race.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "support/tuning/synthetic_trials.hpp"

namespace {

using namespace heddle;
using namespace heddle::test;

constexpr double reference_seconds = 1e-3;

/// `threads` of a plan in microseconds, next to a reference of a millisecond.
double seconds_of(const Plan& plan) {
  return plan == Plan{} ? reference_seconds : plan.gpu.block_size * 1e-6;
}
Plan plan_of(int microseconds) {
  Plan plan;
  plan.gpu.block_size = microseconds;
  return plan;
}

struct Track {
  explicit Track(std::uint64_t seed = 1) : trials(seconds_of, seed) {
    trials.drift_period = 0.2;
    trials.step_period = 0.13;
  }
  Race race(const Effort& effort = {}) {
    return {trials.prepare(Plan{}), effort, [this] { return ++asked <= asked_at_most; }};
  }
  SyntheticTrials trials;
  int asked = 0, asked_at_most = 1 << 30;
};

TEST(Race, CorrectsForTheSpeedOfTheMachine) {
  // The same plan again and again, while the machine's speed changes by a third: the race reports
  // its time at the reference's speed, not at the current one.
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    Track track(seed);
    Race race = track.race({.min_runs = 41, .max_runs = 41});
    double least = 1, most = 0;
    for (int i = 0; i < 20; ++i) {
      const auto candidate = track.trials.prepare(plan_of(1500));
      const double ratio = race.run(*candidate, {.min_runs = 21, .max_runs = 21})->seconds.median /
                           race.reference()->seconds.median / 1.5;
      least = i == 0 ? ratio : std::min(least, ratio);
      most = std::max(most, ratio);
    }
    EXPECT_LT(most / least, 1.06);
    // One offset for all: the machine's speed when the reference was measured.
    EXPECT_NEAR(least, 1, 0.2);
  }
}

TEST(Race, KnowsAQuietPlanAfterTheLeastRuns) {
  Track track;
  track.trials.noise = track.trials.outliers = track.trials.drift = track.trials.step = 0;
  Race race = track.race();
  EXPECT_EQ(race.reference()->seconds.runs, 5);
  const auto candidate = track.trials.prepare(plan_of(800));
  const auto measurement = race.run(*candidate, {});
  EXPECT_EQ(measurement->seconds.runs, 5);
  EXPECT_DOUBLE_EQ(measurement->seconds.median, 800e-6);
}

TEST(Race, RunsNoMoreThanItMay) {
  Track track;
  track.trials.noise = 0.5;
  const Effort effort{.max_runs = 30};
  Race race = track.race(effort);
  EXPECT_EQ(race.reference()->seconds.runs, 30);
  EXPECT_EQ(race.run(*track.trials.prepare(plan_of(800)), effort)->seconds.runs, 30);
}

TEST(Race, KeepsLosersShort) {
  Track track;
  Race race = track.race();
  const double rival = 1e-3 * 1.02;
  EXPECT_EQ(race.run(*track.trials.prepare(plan_of(3000)), {}, rival)->seconds.runs, 2);
  EXPECT_LE(race.run(*track.trials.prepare(plan_of(1400)), {}, rival)->seconds.runs, 7);
  // A plan that may win runs until its median is known.
  const Effort precise{.min_runs = 21};
  EXPECT_GE(race.run(*track.trials.prepare(plan_of(1000)), precise, rival)->seconds.runs, 21);
}

TEST(Race, SaysWithinWhatItKnows) {
  constexpr int races = 300;
  int enclosed = 0;
  for (int seed = 1; seed <= races; ++seed) {
    Track track(static_cast<std::uint64_t>(seed));
    track.trials.drift = track.trials.step = 0;
    Race race = track.race({.min_runs = 101});
    const auto measurement =
        race.run(*track.trials.prepare(plan_of(1200)), {.min_runs = 21, .max_runs = 21});
    const double exact = 1.2e-3 * race.reference()->seconds.median / reference_seconds;
    enclosed += measurement->median.low <= exact && exact <= measurement->median.high;
  }
  // Less often than for uncorrected times: the reference has a noise of its own.
  EXPECT_GE(enclosed, 0.8 * races);
}

TEST(Race, EndsWhereItMayNotGoOn) {
  Track track;
  Race race = track.race();
  track.asked_at_most = track.asked + 3;
  EXPECT_FALSE(race.run(*track.trials.prepare(plan_of(800)), {}));
  Track none;
  none.asked_at_most = 0;
  EXPECT_FALSE(none.race().reference());
}

}  // namespace
