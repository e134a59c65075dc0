// Runs in the release.
// Properties of every search, whatever the times: order, limits, refusals, and early ends.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "heddle/error.hpp"
#include "heddle/tune.hpp"
#include "search_setting.hpp"
#include "support/tuning/landscapes.hpp"
#include "support/tuning/synthetic_trials.hpp"

namespace {

using namespace heddle;
using namespace heddle::test;

/// Checks both searches: calls `check` with `run(trials, options)`.
template <class Check>
void both(const Check& check) {
  const SearchSetting setting{"CPU", cpu_like(4), Objective::product(), 1e-3, 0, 0};
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
    std::set<std::string> reported;
    TuneOptions options;
    options.on_trial = [&](const Trial& trial) {
      EXPECT_TRUE(reported.insert(to_string(trial.plan)).second);
    };
    const SearchResult result = run(options);
    EXPECT_EQ(reported.size(), static_cast<std::size_t>(result.measured + result.too_large +
                                                        result.refused + result.wrong));
    int again = 0;
    for (const auto& [plan, times] : trials.prepared) again += times - 1;
    EXPECT_LE(again, 9);  // the finalists, and layouts that were glanced at before
    EXPECT_EQ(trials.max_held, 2);
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
  const SearchSetting setting{"CPU", cpu_like(4), Objective::product()};
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
    int tried = 0, reports = 0;
    options.on_trial = [&](const Trial&) { ++tried; };
    options.observer = [&](const TuneProgress& progress) {
      ++reports;
      EXPECT_EQ(progress.tried, tried);
      EXPECT_GE(progress.expected, progress.tried);
      EXPECT_GE(progress.seconds_left, 0);
      EXPECT_EQ(progress.best != nullptr, tried > 0);
      return tried < 12;
    };
    const SearchResult result = run(options);
    EXPECT_TRUE(result.cancelled);
    EXPECT_EQ(tried, 12);
    EXPECT_GE(reports, tried);
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
    EXPECT_LT(result.seconds, 0.8);  // including a last look at the best
    EXPECT_EQ(trials.held, 0);
  });
  // One plan is measured, whatever the limit.
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
  const SearchSetting setting{"CPU", cpu_like(4), Objective::product()};
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
