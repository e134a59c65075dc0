// Runs in the release.
// Searches over planted landscapes under a noisy, drifting clock, and over a table of measured
// times.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "heddle/tune.hpp"
#include "search_setting.hpp"
#include "support/tuning/landscapes.hpp"
#include "support/tuning/random_plan.hpp"
#include "support/tuning/synthetic_trials.hpp"
#include "support/where_it_runs.hpp"

namespace {

using namespace heddle;
using namespace heddle::test;

std::vector<SearchSetting> settings() {
  return {{"GPU, product", hopper_like(), Objective::product(), 1e-3, 10e-3, 1e-3},
          {"GPU, conjugate gradient", hopper_like(), parse_objective("cg"), 1e-3, 10e-3, 1e-3},
          {"small GPU, BiCGStab", small_gpu(), parse_objective("bicgstab"), 1e-3, 10e-3, 1e-3},
          {"CPU, conjugate gradient", cpu_like(8), parse_objective("cg"), 10e-3, 0.1, 0}};
}

template <class Times>
Plan best_of(const std::vector<Plan>& plans, const Times& times) {
  return *std::min_element(plans.begin(), plans.end(),
                           [&](const Plan& a, const Plan& b) { return times(a) < times(b); });
}

/// Descends by exact times, choice by choice, until no single one helps.
template <class Times>
Plan descended(Plan plan, const SearchSpace& space, const Times& times) {
  for (bool helps = true; helps;) {
    helps = false;
    for (std::size_t axis = 0; axis < space.axes().size(); ++axis) {
      for (std::size_t i = 0; i < space.axes()[axis].choices.size(); ++i) {
        const auto other = space.with(plan, axis, static_cast<int>(i));
        if (other && times(*other) < times(plan)) {
          plan = *other;
          helps = true;
        }
      }
    }
  }
  return plan;
}

template <class Times>
Plan best_of_random_plans(const SearchSpace& space, const Times& times, std::uint64_t seed,
                          int plans) {
  std::mt19937_64 generator(seed);
  std::vector<Plan> all(static_cast<std::size_t>(plans));
  for (Plan& plan : all) plan = random_plan(space, generator);
  return best_of(all, times);
}

/// A guess as good as a prediction may be: the best of some random plans.
template <class Times>
Plan guess(const SearchSpace& space, const Times& times, std::uint64_t seed) {
  return best_of_random_plans(space, times, seed + 1000, 200);
}

class GeometricMean {
 public:
  void add(double ratio) {
    sum_ += std::log(ratio);
    ++count_;
  }
  double value() const { return std::exp(sum_ / count_); }

 private:
  double sum_ = 0;
  int count_ = 0;
};

constexpr int landscapes = 12;

TEST(FullSearch, FindsThePlantedBest) {
  for (const SearchSetting& setting : settings()) {
    SCOPED_TRACE(setting.name);
    const SearchSpace papers = SearchSpace::papers(subject_of(setting.objective), setting.device);
    const std::vector<Plan> plans = papers.plans();
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      const Landscape times(seed, setting.device, setting.seconds);
      SyntheticTrials trials = trials_of(times, setting, seed);
      const SearchResult result = full_search(trials, papers, plans[plans.size() / 2], {});
      EXPECT_FALSE(result.cancelled);
      EXPECT_EQ(result.measured, static_cast<int>(plans.size()));
      // Two plans that differ by less than the clock can resolve are both the best.
      EXPECT_LT(times(result.best->plan), 1.02 * times(best_of(plans, times)));
      std::vector<Plan> natural;
      for (const Plan& plan : plans) {
        if (plan.layout == natural_layout(plan).layout) natural.push_back(plan);
      }
      EXPECT_TRUE(result.natural->plan.layout == natural_layout(result.natural->plan).layout);
      EXPECT_LT(times(result.natural->plan), 1.03 * times(best_of(natural, times)));
      EXPECT_NEAR(result.natural->seconds.median / result.best->seconds.median,
                  times(result.natural->plan) / times(result.best->plan),
                  0.05 * times(result.natural->plan) / times(result.best->plan));
    }
  }
}

TEST(PrunedSearch, IsNearTheFullOneInATwentiethOfItsTime) {
  for (const SearchSetting& setting : settings()) {
    SCOPED_TRACE(setting.name);
    const SearchSpace papers = SearchSpace::papers(subject_of(setting.objective), setting.device);
    const SearchSpace whole = SearchSpace::whole(subject_of(setting.objective), setting.device);
    const std::vector<Plan> plans = papers.plans();
    GeometricMean reached, reached_within, time, time_within;
    for (std::uint64_t seed = 1; seed <= landscapes; ++seed) {
      const Landscape times(seed, setting.device, setting.seconds);
      // Both begin with a plan of the papers' space, so that neither has an advantage.
      const Plan start = guess(papers, times, seed);
      SyntheticTrials all = trials_of(times, setting, seed);
      const SearchResult full = full_search(all, papers, start, {});
      for (const bool within : {true, false}) {
        SyntheticTrials some = trials_of(times, setting, seed + 100);
        const SearchResult pruned = pruned_search(some, within ? papers : whole, {start}, {});
        (within ? reached_within : reached).add(times(full.best->plan) / times(pruned.best->plan));
        (within ? time_within : time).add(pruned.seconds / full.seconds);
      }
    }
    RecordProperty(setting.name + ": of full's best", std::to_string(reached.value()));
    RecordProperty(setting.name + ": of full's time", std::to_string(time.value()));
    std::printf("%s: %.3f of full's best in %.3f of its time; in the same space %.3f in %.3f\n",
                setting.name.c_str(), reached.value(), time.value(), reached_within.value(),
                time_within.value());
    EXPECT_GE(reached.value(), 0.97);
    EXPECT_GE(reached_within.value(), 0.97);
    EXPECT_LE(time.value(), 0.05);
    EXPECT_LE(time_within.value(), 0.05);
  }
}

TEST(PrunedSearch, IsNearTheBestOfTwoThousandRandomPlansAndADescentFromIt) {
  HEDDLE_DEEP_CHECK_ONLY();
  for (const SearchSetting& setting : settings()) {
    SCOPED_TRACE(setting.name);
    const SearchSpace whole = SearchSpace::whole(subject_of(setting.objective), setting.device);
    GeometricMean reached;
    for (std::uint64_t seed = 1; seed <= landscapes; ++seed) {
      const Landscape times(seed, setting.device, setting.seconds);
      SyntheticTrials trials = trials_of(times, setting, seed);
      const SearchResult pruned = pruned_search(trials, whole, {guess(whole, times, seed)}, {});
      const Plan other = descended(best_of_random_plans(whole, times, seed, 2000), whole, times);
      reached.add(times(other) / times(pruned.best->plan));
    }
    std::printf("%s: %.3f\n", setting.name.c_str(), reached.value());
    EXPECT_GE(reached.value(), setting.device.gpu ? 0.88 : 0.95);
  }
}

TEST(PrunedSearch, FindsABestThatIsOneStepAway) {
  // A start that differs from the planted best in one axis, and effects that do not interact.
  for (const SearchSetting& setting : settings()) {
    SCOPED_TRACE(setting.name);
    const SearchSpace whole = SearchSpace::whole(subject_of(setting.objective), setting.device);
    GeometricMean lost;
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      const Landscape times(seed, setting.device, setting.seconds, 0);
      const Plan best = descended(best_of_random_plans(whole, times, seed, 500), whole, times);
      for (std::size_t axis = 0; axis < whole.axes().size(); ++axis) {
        const auto start = whole.with(best, axis, 0);
        if (!start) continue;
        SyntheticTrials trials = trials_of(times, setting, seed);
        const SearchResult result = pruned_search(trials, whole, {*start}, {});
        lost.add(times(result.best->plan) / times(best));
        EXPECT_LT(times(result.best->plan), 1.1 * times(best)) << whole.axes()[axis].name;
      }
    }
    EXPECT_LT(lost.value(), 1.02);
  }
}

TEST(PrunedSearch, KeepsThePredictionWhereNothingIsClearlyFaster) {
  const SearchSpace whole = SearchSpace::whole(subject_of(Objective::product()), hopper_like());
  const Plan start = parse_plan("C=32,T=2,threads=256", whole.base());
  for (const double gain : {0.995, 0.95}) {
    SyntheticTrials trials([gain](const Plan& plan) {
      return 1e-3 * (plan.layout.lanes == 64 ? gain : plan.layout.lanes == 32 ? 1 : 1.1);
    });
    const SearchResult result = pruned_search(trials, whole, {start}, {});
    EXPECT_EQ(result.best->plan.layout.lanes, gain < 0.99 ? 64 : 32);
    EXPECT_EQ(result.best->plan == start, gain > 0.99);
  }
}

/// A search that has gained less than 3% reports the gain that it leaves, and ends.
TEST(PrunedSearch, EndsWhereLittleIsLeftToGain) {
  const SearchSpace whole = SearchSpace::whole(subject_of(parse_objective("cg")), cpu_like(8));
  std::vector<int> tried;
  for (const double gain : {0.99, 0.9}) {
    SyntheticTrials trials([gain](const Plan& plan) {
      const bool is_natural = plan.layout == natural_layout(plan).layout;
      return 1e-3 * (is_natural ? 1 : 1.05) * (plan.cpu.prefetch_matrix > 0 ? gain : 1);
    });
    trials.noise = trials.outliers = trials.drift = trials.step = 0;
    std::vector<double> left_at_end;
    TuneOptions options;
    options.on_early_end = [&](double left) { left_at_end.push_back(left); };
    Plan start = natural_layout(whole.base());
    start.cpu.prefetch_matrix = 0;
    const SearchResult result = pruned_search(trials, whole, {whole.reduced(start)}, options);
    tried.push_back(result.measured);
    ASSERT_EQ(left_at_end.size(), gain > 0.97 ? 1U : 0U);
    for (const double left : left_at_end) EXPECT_NEAR(left, 1 / gain - 1, 1e-9);
    EXPECT_LE(result.best->score, 1e-3 * std::max(gain, 0.99) * 1.011);
  }
  EXPECT_LT(tried[0], tried[1]);
}

TEST(PrunedSearch, TriesPairsThatDependOnOneAnother) {
  // Neither of two settings helps without the other.
  const SearchSpace whole = SearchSpace::whole(subject_of(Objective::product()), hopper_like());
  const auto times = [](const Plan& plan) {
    const bool layout =
        plan.layout.lanes == 64 && plan.layout.inner == InnerLayout::aosoa_component;
    const bool extent = plan.gpu.block_size == 512 && plan.layout.threads_per_row == 4;
    return 1e-3 * (layout ? 0.7 : 1) * (extent ? 0.8 : 1);
  };
  SyntheticTrials trials(times);
  const Plan start = parse_plan("C=32,T=2,threads=256", whole.base());
  const SearchResult result = pruned_search(trials, whole, {start}, {});
  EXPECT_EQ(result.best->plan.layout.lanes, 64);
  EXPECT_EQ(result.best->plan.layout.inner, InnerLayout::aosoa_component);
  EXPECT_EQ(result.best->plan.gpu.block_size, 512);
  EXPECT_EQ(result.best->plan.layout.threads_per_row, 4);
}

TEST(PrunedSearch, FollowsTheValleyOfThreadsAndBlocks) {
  // Time depends on threads x blocks alone, of which there should be few.
  const SearchSpace papers = SearchSpace::papers(subject_of(Objective::product()), hopper_like());
  const auto times = [](const Plan& plan) {
    const double off =
        std::log2(static_cast<double>(plan.gpu.block_size) * std::max(plan.gpu.blocks, 1)) - 8;
    return 1e-3 * (1 + 0.05 * off * off);
  };
  SyntheticTrials trials(times);
  const Plan start = parse_plan("C=32,threads=1024,blocks=2", papers.base());
  const SearchResult result = pruned_search(trials, papers, {start}, {});
  EXPECT_EQ(result.best->plan.gpu.block_size * result.best->plan.gpu.blocks, 256);
}

/// The times of tests/tuning/data/papers-space-cpu.csv.
class RecordedTable {
 public:
  RecordedTable() {
    std::ifstream file(HEDDLE_SOURCE_DIR "/tests/tuning/data/papers-space-cpu.csv");
    for (std::string line; std::getline(file, line);) {
      if (line.starts_with("#")) continue;
      std::istringstream fields(line);
      std::string settings, build, ratio, times;
      std::getline(fields, settings, ';');
      std::getline(fields, build, ';');
      std::getline(fields, ratio, ';');
      std::getline(fields, times);
      Plan plan = parse_plan(settings);
      ratios_[to_string(plan)] = std::stod(ratio);
      std::istringstream numbers(times);
      for (const int x : {0, 12, 24, 48, 96}) {
        plan.cpu.prefetch_x = x;
        for (const int bytes : {0, 1024, 2048, 4096, 8192}) {
          if (plan.layout.inner == InnerLayout::soa && bytes != Plan{}.cpu.prefetch_matrix) {
            continue;
          }
          plan.cpu.prefetch_matrix = bytes;
          double microseconds = 0;
          numbers >> microseconds;
          seconds_[to_string(plan)] = microseconds * 1e-6;
        }
      }
    }
  }
  std::size_t size() const { return seconds_.size(); }
  double operator()(const Plan& plan) const { return seconds_.at(to_string(plan)); }
  double ratio(Plan plan) const {
    plan.cpu.prefetch_x = Plan{}.cpu.prefetch_x;
    plan.cpu.prefetch_matrix = Plan{}.cpu.prefetch_matrix;
    return ratios_.at(to_string(plan));
  }

 private:
  std::map<std::string, double> seconds_, ratios_;
};

TEST(RecordedTimes, ArePrunedToATwentieth) {
  const RecordedTable table;
  const TuningSubject subject{9200, 9200, 1 << 17, 72, 8, Objective::product()};
  const SearchSpace papers = SearchSpace::papers(subject, cpu_like(2));
  ASSERT_EQ(papers.plans().size(), table.size());
  GeometricMean reached, time;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    // Starts from the prediction for a CPU, and from a few others.
    std::mt19937_64 generator(seed);
    const Plan start = seed == 1 ? Plan{} : random_plan(papers, generator);
    const auto search = [&](bool pruned) {
      SyntheticTrials trials([&](const Plan& plan) { return table(plan); },
                             seed + (pruned ? 50 : 0));
      trials.seconds_of_build = 2e-3;
      trials.ratio = [&](const Plan& plan) { return table.ratio(plan); };
      return pruned ? pruned_search(trials, papers, {start}, {})
                    : full_search(trials, papers, start, {});
    };
    const SearchResult full = search(false), pruned = search(true);
    reached.add(table(full.best->plan) / table(pruned.best->plan));
    time.add(pruned.seconds / full.seconds);
  }
  std::printf("recorded: %.3f of full's best in %.3f of its time\n", reached.value(), time.value());
  EXPECT_GE(reached.value(), 0.97);
  EXPECT_LE(time.value(), 0.05);
}

}  // namespace
