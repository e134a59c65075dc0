// Runs in the release.
// Plans for all matrices of a domain: the choice among scores, and the tuner over synthetic times.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "hasty_tuning.hpp"
#include "heddle/problems.hpp"
#include "heddle/tune.hpp"
#include "support/tuning/landscapes.hpp"
#include "support/tuning/synthetic_trials.hpp"
#include "tuning/search/domain_regret.hpp"
#include "tuning/search/tuned_matrix.hpp"

namespace {

using namespace heddle;
using namespace heddle::test;

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Plans of one kind, all proposed by every matrix.
DomainScores scores_of(const std::vector<std::vector<double>>& scores) {
  const std::size_t plans = scores.front().size();
  return {scores, std::vector(scores.size(), std::vector<bool>(plans, true)),
          std::vector<int>(plans, 0)};
}

TEST(BestOfDomain, IsTheLeastProductOfRatios) {
  EXPECT_FALSE(best_of_domain(scores_of({{1, infinity}, {infinity, 1}})));
  // Best for one matrix, best for the other, and 10% from the best for both.
  const auto best = best_of_domain(scores_of({{1.0, 2.0, 1.1}, {6.0, 3.0, 3.3}}));
  ASSERT_TRUE(best);
  EXPECT_EQ(best->plan, 2u);
  EXPECT_NEAR(best->regret, 0.1, 1e-12);
  // A plan that fails on one matrix is not for all; of equals the first is taken.
  const auto second = best_of_domain(scores_of({{1.0, 2.0, 2.0}, {infinity, 3.0, 3.0}}));
  ASSERT_TRUE(second);
  EXPECT_EQ(second->plan, 1u);
  EXPECT_NEAR(second->regret, std::sqrt(2.0) - 1, 1e-12);
  const auto only = best_of_domain(scores_of({{5.0, 7.0}}));
  ASSERT_TRUE(only);
  EXPECT_EQ(only->plan, 0u);
  EXPECT_EQ(only->regret, 0);
}

TEST(BestOfDomain, IsOfTheKindThatLosesLeastElsewhere) {
  // Three whole plans, each the best for one matrix and 30% from the best for another; the first is
  // the least bad over all three. A fourth plan is 10% from the best everywhere.
  DomainScores known =
      scores_of({{1.1, 1.0, 1.3, 1.01}, {1.1, 1.0, 1.0, 1.3}, {1.1, 1.3, 1.01, 1.0}});
  known.kind = {0, 2, 2, 2};
  known.proposed = {
      {true, true, false, false}, {true, false, true, false}, {true, false, false, true}};
  const auto best = best_of_domain(known);
  ASSERT_TRUE(best);
  EXPECT_EQ(best->plan, 0u);
  EXPECT_NEAR(best->regret, 0.1, 1e-12);
  // A gain on every matrix is taken; a gain on one matrix alone is chance.
  for (const bool everywhere : {true, false}) {
    DomainScores gains = scores_of({{1.10, 1.0}, {1.12, 1.0}, {1.11, 1.0}});
    if (!everywhere) gains.scores = {{1.3, 1.0}, {1.0, 1.02}, {1.0, 1.01}};
    gains.kind = {0, 1};
    EXPECT_EQ(best_of_domain(gains)->plan, everywhere ? 1u : 0u);
  }
  // The first kind that is not clearly worse than the best one; it need not be the best.
  DomainScores three = scores_of({{1.20, 1.0, 1.02}, {1.22, 1.03, 1.0}, {1.21, 1.02, 1.0}});
  three.kind = {0, 1, 2};
  EXPECT_EQ(best_of_domain(three)->plan, 1u);
  three.scores[0][1] = 1.2;
  three.scores[1][1] = 1.19;
  three.scores[2][1] = 1.21;
  EXPECT_EQ(best_of_domain(three)->plan, 2u);
  // Less than the resolution of times is no gain, however even.
  DomainScores similar = scores_of({{1.005, 1.0}, {1.005, 1.0}, {1.006, 1.0}});
  similar.kind = {0, 1};
  EXPECT_EQ(best_of_domain(similar)->plan, 0u);
  // A plan that fails on one matrix costs as much as the prediction there.
  DomainScores fails = scores_of({{1.3, 1.0, 9.0}, {1.3, 1.0, 9.0}, {1.3, 9.0, 1.0}});
  fails.scores[2][1] = infinity;
  fails.kind = {0, 1, 1};
  EXPECT_EQ(best_of_domain(fails)->plan, 0u);
  // One matrix says nothing about others.
  DomainScores one = scores_of({{1.1, 1.0}});
  one.kind = {0, 2};
  EXPECT_EQ(best_of_domain(one)->plan, 1u);
}

TEST(LossesLeftOut, AreOfPlansThatTheOthersHave) {
  // A plan near the best for all matrices, and each matrix's own, which the others do not know.
  DomainScores known =
      scores_of({{1.0, 2.0, 9.0, 1.1}, {6.0, 3.0, 9.0, 3.3}, {9.0, 9.0, 5.0, 6.0}});
  known.proposed = {
      {true, false, false, true}, {false, true, false, false}, {false, false, true, false}};
  known.otherwise = 3;
  const auto losses = losses_left_out(known);
  ASSERT_EQ(losses.size(), 3u);
  // Without the first matrix, no matrix proposes the compromise.
  EXPECT_NEAR(losses[0], 1, 1e-12);
  EXPECT_NEAR(losses[1], 0.1, 1e-12);
  EXPECT_NEAR(losses[2], 0.2, 1e-12);
  // Where a plan does not run on a matrix, the prediction is used, as long as that runs.
  DomainScores some_run =
      scores_of({{1.0, infinity, 2.0}, {infinity, 1.0, 1.0}, {infinity, 1.0, infinity}});
  some_run.proposed = {{true, false, false}, {false, true, false}, {false, true, false}};
  some_run.otherwise = 2;
  EXPECT_EQ(losses_left_out(some_run), (std::vector<double>{1, 0, infinity}));
  EXPECT_TRUE(losses_left_out(scores_of({{1.0}})).empty());
  EXPECT_TRUE(losses_left_out(scores_of({{1.0}, {1.0}})).empty());
}

/// Times by matrix and outer layout: each matrix has a layout that suits only it, and C=16 is
/// within 4% of that for all.
std::unique_ptr<Trials> one_good_compromise(const AnyMatrix& matrix, const Device&, Objective) {
  const Index suits = matrix.rows() < 100 ? 32 : matrix.rows() < 300 ? 1 : Layout::all_rows;
  return std::make_unique<SyntheticTrials>(
      [suits](const Plan& plan) {
        double seconds = plan.layout.lanes == suits ? 1e-3
                         : plan.layout.lanes == 16  ? 1.04e-3
                                                    : 3e-3;
        if (plan.layout.inner != InnerLayout::aos || plan.layout.vector != VectorLayout::aos) {
          seconds *= 1.5;
        }
        if (plan.layout.sort_window != 1 || plan.layout.order != RowOrder::natural) seconds *= 1.3;
        if (plan.layout.threads_per_row != 1 || plan.layout.threshold != 0) seconds *= 1.3;
        if (plan.schedule.kind != ScheduleKind::fixed) seconds *= 1.2;
        return seconds;
      },
      static_cast<std::uint64_t>(matrix.rows()));
}

TEST(TuneDomain, FindsThePlanThatSuitsAll) {
  const AnyMatrix a(poisson(60)), b(poisson(200)), c(poisson(500));
  TuneOptions options;
  options.objective = Objective::product();
  options.search = Search::full;
  const std::vector<NamedMatrix> matrices = {{"a", &a}, {"b", &b}, {"c", &c}};
  int searched = 0;
  std::vector<int> searched_when_reported, compared_when_reported;
  options.on_matrix = [&](const std::string&) { ++searched; };
  options.observer = [&](const TuneProgress& progress) {
    (progress.compares ? compared_when_reported : searched_when_reported).push_back(searched);
    return true;
  };
  const Profile profile =
      detail::tune_domain("grids", matrices, cpu_with(one_good_compromise), options);
  EXPECT_EQ(std::set<int>(searched_when_reported.begin(), searched_when_reported.end()),
            (std::set<int>{1, 2, 3}));
  EXPECT_EQ(std::set<int>(compared_when_reported.begin(), compared_when_reported.end()),
            std::set<int>{3});
  options.on_matrix = {};
  options.observer = {};
  ASSERT_EQ(profile.records.size(), 3u);
  EXPECT_EQ(profile.records[0].plan.layout.lanes, 32);
  EXPECT_EQ(profile.records[1].plan.layout.lanes, 1);
  EXPECT_EQ(profile.records[2].plan.layout.lanes, Layout::all_rows);
  ASSERT_EQ(profile.domains.size(), 1u);
  const DomainRecord& domain = profile.domains.front();
  EXPECT_EQ(domain.domain, "grids");
  EXPECT_EQ(domain.plan.layout.lanes, 16);
  EXPECT_EQ(domain.entry, "real");
  EXPECT_EQ(domain.objective, Objective::product());
  EXPECT_EQ(domain.fingerprints.size(), 3u);
  EXPECT_NEAR(domain.regret, 0.04, 0.03);

  const AnyMatrix unseen(poisson(90));
  const Evaluation evaluation =
      detail::evaluate(profile, {"unseen", &unseen}, cpu_with(one_good_compromise), options);
  EXPECT_EQ(evaluation.domain, "grids");
  EXPECT_EQ(evaluation.plan.plan.layout.lanes, 16);
  EXPECT_EQ(evaluation.best.plan.layout.lanes, 32);
  EXPECT_NEAR(evaluation.loss, 0.04, 0.03);
}

int predicted_T(const AnyMatrix& matrix) {
  return predicted_plans(matrix.pattern(), subject_of(matrix).size(), hopper_like(),
                         typical_ceilings(hopper_like()))
      .front()
      .layout.threads_per_row;
}
/// Planar components suit all matrices, and each matrix's predicted number of threads per row.
std::unique_ptr<Trials> one_good_storage(const AnyMatrix& matrix, const Device&, Objective) {
  const int T = predicted_T(matrix);
  return std::make_unique<SyntheticTrials>(
      [T](const Plan& plan) {
        return 1e-3 * (plan.layout.inner == InnerLayout::soa ? 0.8 : 1) *
               (plan.layout.threads_per_row == T ? 1 : 1.3);
      },
      static_cast<std::uint64_t>(matrix.rows()));
}

TEST(TuneDomain, LeavesToPredictionsWhatGoesBySize) {
  const AnyMatrix a(dirac(150)), b(dirac(3000)), c(dirac(20000)), unseen(dirac(10000));
  ASSERT_NE(predicted_T(a), predicted_T(c));
  TuneOptions options;
  options.search = Search::full;
  detail::TuningDevice gpu = cpu_with(one_good_storage);
  gpu.properties = hopper_like();
  const Profile profile =
      detail::tune_domain("spins", {{"a", &a}, {"b", &b}, {"c", &c}}, gpu, options);
  ASSERT_EQ(profile.domains.size(), 1u);
  const DomainRecord& domain = profile.domains.front();
  EXPECT_EQ(domain.use, DomainUse::storage);
  EXPECT_EQ(domain.plan.layout.inner, InnerLayout::soa);
  EXPECT_LT(domain.regret, 0.03);
  ASSERT_EQ(domain.left_out.size(), 3u);
  for (const double loss : domain.left_out) EXPECT_LT(loss, 0.05);
  const Evaluation evaluation = detail::evaluate(profile, {"unseen", &unseen}, gpu, options);
  EXPECT_EQ(evaluation.plan.plan.layout.inner, InnerLayout::soa);
  EXPECT_EQ(evaluation.plan.plan.layout.threads_per_row, predicted_T(unseen));
}

TEST(TuneDomain, TunesMatricesAndEvaluatesAnother) {
  const AnyMatrix a(dirac(150)), b(dirac(250)), other(dirac(200)), real(poisson(50));
  TuneOptions options = hasty(parse_objective("cg"));
  options.search = Search::full;
  options.seconds_limit = 1;
  const Profile profile = detail::tune_domain("spins", {{"a", &a}, {"b", &b}}, cpu_with(), options);
  ASSERT_EQ(profile.records.size(), 2u);
  ASSERT_EQ(profile.domains.size(), 1u);
  EXPECT_GE(profile.domains.front().regret, 0);
  EXPECT_EQ(Profile::from_json(profile.to_json(), "test"), profile);
  const Evaluation evaluation = evaluate(profile, {"other", &other}, Device::cpu(1), options);
  EXPECT_EQ(evaluation.plan.outcome, Trial::Outcome::measured);
  EXPECT_TRUE(std::isfinite(evaluation.loss));
  if (profile.domains.front().use == DomainUse::plan) {
    EXPECT_EQ(evaluation.plan.plan, profile.domains.front().plan);
  }

  EXPECT_THROW(evaluate(profile, {"real", &real}, Device::cpu(1), options), Error);
  EXPECT_THROW(tune_domain("mixed", {{"a", &a}, {"real", &real}}, Device::cpu(1), options), Error);
  EXPECT_THROW(tune_domain("none", {}, Device::cpu(1), options), Error);
}

}  // namespace
