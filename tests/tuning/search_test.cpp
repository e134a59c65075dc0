// Searches over planted landscapes under a noisy, drifting clock, and over a table of times that
// were measured.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "heddle/error.hpp"
#include "heddle/tune.hpp"
#include "support/landscapes.hpp"
#include "support/random_plan.hpp"
#include "support/synthetic_trials.hpp"

namespace {

using namespace heddle;
using namespace heddle::test;

TuningSubject subject_of(Objective objective) {
  return {100000, 100000, 1500000, 72, 8, objective};
}

/// A device, what runs there, and what preparing takes beside a run: a layout about ten products,
/// as in the recorded table.
struct Setting {
  std::string name;
  DeviceProperties device;
  Objective objective;
  double seconds = 1e-3, build = 0, prepare = 0;
};

std::vector<Setting> settings() {
  return {{"GPU, product", hopper_like(), Objective::product(), 1e-3, 10e-3, 1e-3},
          {"GPU, conjugate gradient", hopper_like(), parse_objective("cg"), 1e-3, 10e-3, 1e-3},
          {"small GPU, BiCGStab", small_gpu(), parse_objective("bicgstab"), 1e-3, 10e-3, 1e-3},
          {"CPU, conjugate gradient", cpu_like(8), parse_objective("cg"), 10e-3, 0.1, 0}};
}

template <class Times>
SyntheticTrials trials_of(const Times& times, const Setting& setting, std::uint64_t seed) {
  SyntheticTrials trials(times, seed);
  trials.seconds_of_build = setting.build;
  trials.seconds_of_prepare = setting.prepare;
  trials.drift_period = 1000 * setting.seconds;
  trials.step_period = 700 * setting.seconds;
  return trials;
}

template <class Times>
Plan best_of(const std::vector<Plan>& plans, const Times& times) {
  return *std::min_element(plans.begin(), plans.end(),
                           [&](const Plan& a, const Plan& b) { return times(a) < times(b); });
}

/// By exact times, choice by choice, until no single one helps.
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

/// As good as a prediction may be: the best of some random plans.
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
  for (const Setting& setting : settings()) {
    SCOPED_TRACE(setting.name);
    const SearchSpace papers = SearchSpace::papers(subject_of(setting.objective), setting.device);
    const std::vector<Plan> plans = papers.plans();
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      const Landscape times(seed, setting.device, setting.seconds);
      SyntheticTrials trials = trials_of(times, setting, seed);
      const SearchResult result = full_search(trials, papers, plans[plans.size() / 2], {});
      EXPECT_FALSE(result.cancelled);
      EXPECT_EQ(result.measured, static_cast<int>(plans.size()));
      // Two plans that differ by less than the clock can tell are both the best.
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
  for (const Setting& setting : settings()) {
    SCOPED_TRACE(setting.name);
    const SearchSpace papers = SearchSpace::papers(subject_of(setting.objective), setting.device);
    const SearchSpace whole = SearchSpace::whole(subject_of(setting.objective), setting.device);
    const std::vector<Plan> plans = papers.plans();
    GeometricMean reached, reached_within, time, time_within;
    for (std::uint64_t seed = 1; seed <= landscapes; ++seed) {
      const Landscape times(seed, setting.device, setting.seconds);
      // Both begin with a plan of the papers' space, so that none has an advantage.
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
  for (const Setting& setting : settings()) {
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
  for (const Setting& setting : settings()) {
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
    // From what a CPU is predicted, and from a few others.
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

/// What both searches do: `run(trials, options)`.
template <class Check>
void both(const Check& check) {
  const Setting setting{"CPU", cpu_like(4), Objective::product(), 1e-3, 0, 0};
  const SearchSpace papers = SearchSpace::papers(subject_of(setting.objective), setting.device);
  const Landscape times(1, setting.device, setting.seconds);
  for (const bool pruned : {false, true}) {
    SCOPED_TRACE(pruned ? "pruned" : "full");
    SyntheticTrials trials = trials_of(times, setting, 1);
    check(trials, papers, [&](const TuneOptions& options) {
      return pruned ? pruned_search(trials, papers, {Plan{}}, options)
                    : full_search(trials, papers, Plan{}, options);
    });
  }
}

TEST(Searches, MeasureNoPlanTwiceButTheBestAndHoldTwoAtATime) {
  both([](SyntheticTrials& trials, const SearchSpace&, const auto& run) {
    std::set<std::string> told;
    TuneOptions options;
    options.on_trial = [&](const Trial& trial) {
      EXPECT_TRUE(told.insert(to_string(trial.plan)).second);
    };
    const SearchResult result = run(options);
    EXPECT_EQ(told.size(), static_cast<std::size_t>(result.measured + result.too_large +
                                                    result.refused + result.wrong));
    int again = 0;
    for (const auto& [plan, times] : trials.prepared) again += times - 1;
    EXPECT_LE(again, 9);  // the finalists, and layouts that had been glanced at
    EXPECT_EQ(trials.most_held, 2);
    EXPECT_EQ(trials.held, 0);
  });
}

TEST(Searches, AnnounceWhatTheyPrepare) {
  both([](SyntheticTrials& trials, const SearchSpace&, const auto& run) {
    run({});
    std::set<std::string> announced;
    for (const auto& plans : trials.announced) {
      EXPECT_FALSE(plans.empty());
      for (const Plan& plan : plans) announced.insert(to_string(plan));
    }
    std::size_t unannounced = 0;
    for (const auto& [plan, times] : trials.prepared) unannounced += !announced.contains(plan);
    EXPECT_LE(unannounced, trials.prepared.size() / 3);
  });
}

TEST(FullSearch, KeepsPlansOfALayoutTogether) {
  const Setting setting{"CPU", cpu_like(4), Objective::product()};
  const SearchSpace papers = SearchSpace::papers(subject_of(setting.objective), setting.device);
  SyntheticTrials trials = trials_of(Landscape(1, setting.device, 1e-3), setting, 1);
  full_search(trials, papers, Plan{}, {});
  int changes = 0;
  for (std::size_t i = 1; i < trials.order.size(); ++i) {
    changes += trials.order[i - 1].layout != trials.order[i].layout;
  }
  constexpr int layouts = 24, finalists = 6;
  EXPECT_LE(changes, layouts + finalists);
}

TEST(Searches, LeaveOutWhatIsTooLargeBeforePreparingIt) {
  both([](SyntheticTrials& trials, const SearchSpace&, const auto& run) {
    trials.ratio = [](const Plan& plan) {
      return plan.layout.lanes == Layout::all_rows ? 2.5 : 1.2;
    };
    TuneOptions options;
    options.on_trial = [](const Trial& trial) {
      const bool is_large = trial.plan.layout.lanes == Layout::all_rows;
      EXPECT_EQ(trial.outcome == Trial::Outcome::too_large, is_large);
      if (is_large) {
        EXPECT_EQ(trial.reason, "takes 2.5 times the memory of CSR, more than 2");
        EXPECT_EQ(trial.memory_ratio, 2.5);
      }
    };
    const SearchResult result = run(options);
    EXPECT_GT(result.too_large, 0);
    for (const Plan& plan : trials.order) EXPECT_NE(plan.layout.lanes, Layout::all_rows);
  });
}

TEST(Searches, SurviveRefusalsWrongResultsAndFullMemory) {
  both([](SyntheticTrials& trials, const SearchSpace&, const auto& run) {
    trials.check = [](const Plan& plan) {
      if (plan.layout.inner == InnerLayout::soa) throw WrongResult("row 3 is off by 7");
      if (plan.layout.lanes == 16) throw Error(ErrorKind::bad_plan, "not here");
      if (plan.layout.lanes == Layout::all_rows) throw Error(ErrorKind::memory, "no room");
    };
    std::map<Trial::Outcome, std::set<std::string>> reasons;
    TuneOptions options;
    options.on_trial = [&](const Trial& trial) { reasons[trial.outcome].insert(trial.reason); };
    const SearchResult result = run(options);
    EXPECT_EQ(reasons[Trial::Outcome::wrong], std::set<std::string>{"row 3 is off by 7"});
    EXPECT_EQ(reasons[Trial::Outcome::refused], std::set<std::string>{"not here"});
    EXPECT_EQ(reasons[Trial::Outcome::too_large], std::set<std::string>{"no room"});
    EXPECT_EQ(result.best->plan.layout.inner, InnerLayout::aos);
    EXPECT_NE(result.best->plan.layout.lanes, 16);
    EXPECT_GT(result.wrong, 0);
    EXPECT_GT(result.refused, 0);
    EXPECT_GT(result.too_large, 0);
  });
}

TEST(Searches, TakeAnotherReferenceWhereTheFirstCannotRun) {
  both([](SyntheticTrials& trials, const SearchSpace&, const auto& run) {
    trials.check = [](const Plan& plan) {
      if (plan == Plan{}) throw Error(ErrorKind::bad_plan, "not here");
    };
    const SearchResult result = run({});
    EXPECT_EQ(result.refused, 1);
    ASSERT_TRUE(result.best && result.natural);
  });
  both([](SyntheticTrials& trials, const SearchSpace&, const auto& run) {
    trials.check = [](const Plan&) { throw Error(ErrorKind::bad_plan, "nowhere"); };
    const SearchResult result = run({});
    EXPECT_EQ(result.measured, 0);
    EXPECT_FALSE(result.best);
    EXPECT_FALSE(result.natural);
    EXPECT_FALSE(result.cancelled);
  });
}

TEST(Searches, WeighMemory) {
  // Slices are a little faster and take half as much memory again.
  const SearchSpace papers = SearchSpace::papers(subject_of(Objective::product()), cpu_like(4));
  for (const bool pruned : {false, true}) {
    const auto run = [&](const TuneOptions& options) {
      SyntheticTrials trials(
          [](const Plan& plan) { return plan.layout.lanes == 1 ? 1e-3 : 0.9e-3; });
      trials.ratio = [](const Plan& plan) { return plan.layout.lanes == 1 ? 1.0 : 1.5; };
      return pruned ? pruned_search(trials, papers, {Plan{}}, options)
                    : full_search(trials, papers, Plan{}, options);
    };
    EXPECT_NE(run({}).best->plan.layout.lanes, 1);
    TuneOptions options;
    options.memory_weight = 0.5;
    const SearchResult weighed = run(options);
    EXPECT_EQ(weighed.best->plan.layout.lanes, 1);
    EXPECT_DOUBLE_EQ(weighed.best->score, weighed.best->seconds.median);
  }
}

TEST(Searches, KeepWhatTheyMeasuredWhenTheyAreEnded) {
  both([](SyntheticTrials& trials, const SearchSpace&, const auto& run) {
    TuneOptions options;
    int tried = 0, told = 0;
    options.on_trial = [&](const Trial&) { ++tried; };
    options.observer = [&](const TuneProgress& progress) {
      ++told;
      EXPECT_EQ(progress.tried, tried);
      EXPECT_GE(progress.expected, progress.tried);
      EXPECT_GE(progress.seconds_left, 0);
      EXPECT_EQ(progress.best != nullptr, tried > 0);
      return tried < 12;
    };
    const SearchResult result = run(options);
    EXPECT_TRUE(result.cancelled);
    EXPECT_EQ(tried, 12);
    EXPECT_GE(told, tried);
    EXPECT_EQ(result.measured, 12);
    ASSERT_TRUE(result.best && result.natural);
    EXPECT_EQ(trials.held, 0);
  });
  both([](SyntheticTrials&, const SearchSpace&, const auto& run) {
    TuneOptions options;
    options.observer = [](const TuneProgress&) { return false; };
    const SearchResult result = run(options);
    EXPECT_TRUE(result.cancelled);
    EXPECT_LE(result.measured, 1);
  });
  both([](SyntheticTrials& trials, const SearchSpace&, const auto& run) {
    TuneOptions options;
    options.seconds_limit = 0.4;
    options.observer = [](const TuneProgress& progress) {
      EXPECT_GE(progress.seconds_left, 0);
      return true;
    };
    const SearchResult result = run(options);
    EXPECT_TRUE(result.cancelled);
    EXPECT_TRUE(result.best);
    EXPECT_TRUE(result.natural);
    EXPECT_LT(result.seconds, 0.8);  // with a last look at the best
    EXPECT_EQ(trials.held, 0);
  });
  // One plan is measured whatever the limit.
  both([](SyntheticTrials&, const SearchSpace&, const auto& run) {
    TuneOptions options;
    options.seconds_limit = 0;
    const SearchResult result = run(options);
    EXPECT_TRUE(result.cancelled);
    EXPECT_TRUE(result.best);
    EXPECT_EQ(result.measured, 1);
  });
}

TEST(FullSearch, MeasuresTheNaturalLayoutWhereTheSpaceLacksIt) {
  const Setting setting{"CPU", cpu_like(4), Objective::product()};
  const SearchSpace slices(Plan{.layout = {.lanes = 32}},
                           {{"inner layout", {"inner=aos", "inner=soa"}},
                            {"prefetch of x", {"prefetch-x=0", "prefetch-x=48"}, true}},
                           subject_of(Objective::product()), setting.device);
  SyntheticTrials trials([](const Plan& plan) { return plan.cpu.prefetch_x == 0 ? 1e-3 : 2e-3; });
  const SearchResult result = full_search(trials, slices, Plan{.layout = {.lanes = 32}}, {});
  ASSERT_TRUE(result.natural);
  EXPECT_EQ(result.natural->plan, (Plan{.cpu = {.prefetch_x = 0}}));
  EXPECT_EQ(result.best->plan.cpu.prefetch_x, 0);
}

}  // namespace
