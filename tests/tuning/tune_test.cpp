// The tuner from matrix to profile: on the CPU, with so few runs that its choices mean nothing, and
// over synthetic times, where they have to be the best ones.
#include "heddle/tune.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "heddle/problems.hpp"
#include "heddle/runtime/any_solver.hpp"
#include "io/temporary_folder.hpp"
#include "support/landscapes.hpp"
#include "support/random_matrix.hpp"
#include "support/refusing_memory.hpp"
#include "support/synthetic_trials.hpp"
#include "tuning/search/domain_regret.hpp"
#include "tuning/search/tuned_matrix.hpp"

namespace {

using namespace heddle;
using namespace heddle::test;

constexpr double infinity = std::numeric_limits<double>::infinity();

TuneOptions hasty(Objective objective) {
  TuneOptions options;
  options.objective = objective;
  options.least_runs = 1;
  options.most_runs = 2;
  return options;
}

/// A CPU whose ceilings nobody has to wait for.
detail::TuningDevice cpu_with(const detail::MakeTrials& make_trials = detail::trials_on_device,
                              int threads = 2) {
  const Device device = Device::cpu(threads);
  const DeviceProperties properties = properties_of(device);
  return {device, properties, typical_ceilings(properties), make_trials};
}

void expect_solves(const AnyMatrix& matrix, const ProfileRecord& record, const MethodInfo& method) {
  const AnyOperator A(matrix, record.plan, Device::cpu(2));
  AnySolver solver(A, method, PreconditionerKind::jacobi, {});
  AnyField b = A.row_field(), x = A.column_field();
  for (Offset i = 0; i < Offset(b.rows()) * b.components(); ++i) {
    b.set(i, std::cos(static_cast<double>(i)));
  }
  EXPECT_TRUE(solver.solve(b, x).converged());
}

void expect_record_of(const AnyMatrix& matrix, const ProfileRecord& record) {
  EXPECT_EQ(record.fingerprint, fingerprint(matrix.pattern()));
  EXPECT_EQ(record.features, pattern_features(matrix.pattern()));
  EXPECT_EQ(record.entry, matrix.entry().name());
  EXPECT_EQ(record.precision, name(matrix.precision()));
  EXPECT_GT(record.seconds.runs, 0);
  EXPECT_GT(record.seconds.median, 0);
  EXPECT_GT(record.natural_seconds.median, 0);
  EXPECT_TRUE(record.natural.layout == natural_layout(record.natural).layout);
  EXPECT_DOUBLE_EQ(record.speedup.value(), record.natural_seconds.median / record.seconds.median);
  EXPECT_LE(record.memory_ratio, 2);
  EXPECT_EQ(record.date.size(), 10u);
}

TEST(Tune, FindsPlansThatRun) {
  const AnyMatrix spin(dirac(300)), waves(helmholtz(200)), solid(elasticity(120));
  struct Case {
    const AnyMatrix* matrix;
    Objective objective;
    const MethodInfo& method;
  };
  for (const auto& [matrix, objective, method] :
       {Case{&spin, parse_objective("cg"), find_method("cg")},
        Case{&waves, parse_objective("bicgstab"), find_method("bicgstab")},
        Case{&solid, Objective::product(), find_method("cg")}}) {
    SCOPED_TRACE(std::string(name(objective)));
    std::vector<Trial> trials;
    std::vector<std::string> told;
    TuneOptions options = hasty(objective);
    options.on_trial = [&](const Trial& trial) { trials.push_back(trial); };
    options.on_matrix = [&](const std::string& matrix_name) { told.push_back(matrix_name); };
    const Profile profile = detail::tune({"some", matrix}, cpu_with(), options);
    ASSERT_EQ(profile.records.size(), 1u);
    const ProfileRecord& record = profile.records.front();
    EXPECT_EQ(record.matrix, "some");
    EXPECT_EQ(record.objective, objective);
    EXPECT_EQ(record.search, "pruned");
    EXPECT_EQ(profile.device, properties_of(Device::cpu(2)));
    EXPECT_GT(profile.ceilings.memory, 0);
    EXPECT_EQ(told, std::vector<std::string>{"some"});
    EXPECT_GT(trials.size(), 10u);
    expect_record_of(*matrix, record);
    expect_solves(*matrix, record, method);
    EXPECT_EQ(Profile::from_json(profile.to_json(), "test"), profile);
  }
}

TEST(Tune, MeasuresTheCeilings) {
  const AnyMatrix matrix(poisson(40));
  TuneOptions options;
  options.search = Search::predict;
  const Profile profile = tune({"small", &matrix}, Device::cpu(2), options);
  EXPECT_EQ(profile.device, properties_of(Device::cpu(2)));
  EXPECT_NE(profile.ceilings, typical_ceilings(profile.device));
  EXPECT_EQ(profile.records.size(), 1u);
}

TEST(Tune, FullSearchTriesThePapersSpace) {
  const AnyMatrix matrix(poisson(60));
  TuneOptions options = hasty(Objective::product());
  options.search = Search::full;
  options.most_runs = 1;
  options.seconds_limit = 3;
  const Profile profile = detail::tune({"small", &matrix}, cpu_with(), options);
  ASSERT_EQ(profile.records.size(), 1u);
  EXPECT_EQ(profile.records.front().search, "full");
}

TEST(Tune, PredictsWithoutATrial) {
  const AnyMatrix matrix(dirac(300));
  TuneOptions options = hasty(parse_objective("cg"));
  options.search = Search::predict;
  options.on_trial = [](const Trial&) { ADD_FAILURE() << "a trial"; };
  const auto no_trials = [](const AnyMatrix&, const Device&, Objective) {
    auto trials = std::make_unique<SyntheticTrials>([](const Plan&) { return 1.0; });
    trials->check = [](const Plan&) { ADD_FAILURE() << "prepared"; };
    return trials;
  };
  const Profile profile = detail::tune({"spin", &matrix}, cpu_with(no_trials), options);
  ASSERT_EQ(profile.records.size(), 1u);
  EXPECT_EQ(profile.records.front().plan, Plan{});
  EXPECT_EQ(profile.records.front().seconds.runs, 0);
  EXPECT_FALSE(profile.records.front().speedup);
  EXPECT_EQ(profile.records.front().search, "predict");
  options.starts = {parse_plan("Sl-32")};
  const Profile given = detail::tune({"spin", &matrix}, cpu_with(no_trials), options);
  EXPECT_EQ(given.records.front().plan, parse_plan("Sl-32"));

  // What profiles know comes before the model.
  const TemporaryFolder folder;
  given.save(folder / "given.json");
  options.starts = {};
  options.known = Profiles::of_file(Device::cpu(), folder / "given.json");
  EXPECT_EQ(detail::tune({"spin", &matrix}, cpu_with(no_trials), options).records.front().plan,
            parse_plan("Sl-32"));
}

TEST(Tune, KeepsToItsMemory) {
  // A dense row: what pads every row to the longest takes a hundred times CSR.
  Seed seed(5501);
  const AnyMatrix matrix(random_matrix<quaternion<double>>(
      {.rows = 600, .columns = 600, .per_row = 3, .dense_row = true}, seed.generator));
  RefusingMemory memory(std::pmr::new_delete_resource());
  TuneOptions options = hasty(Objective::product());
  options.max_memory_ratio = 1.5;
  int too_large = 0;
  options.on_trial = [&](const Trial& trial) {
    too_large += trial.outcome == Trial::Outcome::too_large;
    if (trial.outcome == Trial::Outcome::measured) {
      EXPECT_LE(trial.memory_ratio, 1.5);
    }
  };
  // The ceilings' arrays are no part of it.
  const detail::TuningDevice on{Device::cpu(2, &memory), properties_of(Device::cpu(2)),
                                typical_ceilings(properties_of(Device::cpu(2))),
                                detail::trials_on_device};
  detail::TunedMatrix tuned({"one dense row", &matrix}, on, options);
  std::vector<Trial> trials;
  const SearchResult found = tuned.search(trials);
  EXPECT_GT(too_large, 0);
  EXPECT_EQ(found.too_large, too_large);
  ASSERT_TRUE(found.best);
  // Two prepared plans and two layouts that stay built, each with what sorts and maps it.
  const MemoryUse csr = AnyOperator(matrix, Plan{}, Device::cpu(1)).memory();
  EXPECT_LT(memory.peak, 4 * (1.5 * static_cast<double>(csr.product()) + 600 * 200.0));
  const MemoryUse ell = AnyOperator(matrix, parse_plan("ELL"), Device::cpu(1)).memory();
  EXPECT_LT(memory.peak, ell.product() / 4);
}

TEST(Tune, KeepsWhatItMeasuredWhenItIsCancelled) {
  const AnyMatrix matrix(dirac(200));
  TuneOptions options = hasty(parse_objective("cg"));
  int trials = 0;
  options.on_trial = [&](const Trial&) { ++trials; };
  options.observer = [&](const TuneProgress& progress) { return progress.tried < 3; };
  const Profile profile = detail::tune({"spin", &matrix}, cpu_with(), options);
  EXPECT_EQ(trials, 3);
  ASSERT_EQ(profile.records.size(), 1u);
  expect_solves(matrix, profile.records.front(), find_method("cg"));

  options.observer = [](const TuneProgress&) { return false; };
  const Profile domain =
      detail::tune_domain("spins", {{"a", &matrix}, {"b", &matrix}}, cpu_with(), options);
  EXPECT_LE(domain.records.size(), 1u);
  EXPECT_TRUE(domain.domains.empty());
}

/// Trials of the real thing that say of some plans that they are wrong.
class Injecting final : public Trials {
 public:
  Injecting(std::unique_ptr<Trials> trials, std::function<bool(const Plan&)> is_wrong)
      : trials_(std::move(trials)), is_wrong_(std::move(is_wrong)) {}
  void announce(const std::vector<Plan>& plans) override { trials_->announce(plans); }
  void announce_later(const std::vector<Plan>& plans) override { trials_->announce_later(plans); }
  double memory_ratio(const Plan& plan) override { return trials_->memory_ratio(plan); }
  double now() override { return trials_->now(); }
  std::unique_ptr<PreparedPlan> prepare(const Plan& plan) override {
    auto prepared = trials_->prepare(plan);
    if (is_wrong_(plan)) throw WrongResult("injected");
    return prepared;
  }

 private:
  std::unique_ptr<Trials> trials_;
  std::function<bool(const Plan&)> is_wrong_;
};

TEST(Tune, NeverTakesAWrongPlan) {
  const AnyMatrix matrix(dirac(200));
  const auto all_but = [](bool (*is_wrong)(const Plan&)) {
    return [is_wrong](const AnyMatrix& m, const Device& device, Objective objective) {
      return std::make_unique<Injecting>(detail::trials_on_device(m, device, objective), is_wrong);
    };
  };
  int wrong = 0;
  TuneOptions options = hasty(Objective::product());
  options.on_trial = [&](const Trial& trial) {
    wrong += trial.outcome == Trial::Outcome::wrong;
    if (trial.outcome == Trial::Outcome::wrong) {
      EXPECT_EQ(trial.plan.layout.lanes, 1);
    }
  };
  const auto csr_is_wrong = all_but([](const Plan& plan) { return plan.layout.lanes == 1; });
  options.starts = {parse_plan("Sl-32")};
  const Profile profile = detail::tune({"spin", &matrix}, cpu_with(csr_is_wrong), options);
  EXPECT_GT(wrong, 0);
  ASSERT_EQ(profile.records.size(), 1u);
  EXPECT_NE(profile.records.front().plan.layout.lanes, 1);
  EXPECT_FALSE(profile.records.front().speedup);  // no natural layout ran
  EXPECT_EQ(profile.records.front().natural_seconds.runs, 0);

  options.starts = {};
  options.on_trial = {};
  try {
    detail::tune({"spin", &matrix}, cpu_with(all_but([](const Plan&) { return true; })), options);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()), "no plan could be measured; the last: wrong, injected");
  }
}

TEST(Tune, RefusesOptionsWithoutMeaning) {
  Seed seed(5502);
  const AnyMatrix matrix(poisson(30));
  const AnyMatrix wide(random_matrix<real<double>>({.rows = 9, .columns = 20}, seed.generator));
  const AnyMatrix empty(random_matrix<real<double>>({}, seed.generator));
  const auto expect_usage = [&](const AnyMatrix* m, const auto& change) {
    TuneOptions options = hasty(parse_objective("cg"));
    change(options);
    try {
      tune({"m", m}, Device::cpu(1), options);
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage) << error.what();
    }
  };
  const auto nothing = [](TuneOptions&) {};
  expect_usage(nullptr, nothing);
  expect_usage(&wide, nothing);
  expect_usage(&empty, nothing);
  expect_usage(&matrix, [](TuneOptions& o) { o.max_memory_ratio = 0; });
  expect_usage(&matrix, [](TuneOptions& o) { o.memory_weight = -1; });
  expect_usage(&matrix, [](TuneOptions& o) { o.memory_weight = std::nan(""); });
  expect_usage(&matrix, [](TuneOptions& o) { o.confidence = 1; });
  expect_usage(&matrix, [](TuneOptions& o) { o.tightness = 0; });
  expect_usage(&matrix, [](TuneOptions& o) { o.least_runs = 0; });
  expect_usage(&matrix, [](TuneOptions& o) { o.most_runs = 0; });
  expect_usage(&matrix, [](TuneOptions& o) { o.seconds_limit = std::nan(""); });
}

TEST(Tune, NamesItsSearches) {
  for (const Search search : {Search::full, Search::pruned, Search::predict}) {
    EXPECT_EQ(parse_search(name(search)), search);
  }
  EXPECT_EQ(name(Search::pruned), "pruned");
  try {
    parse_search("half");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()),
              "no search is named 'half'; there are full, pruned and predict");
  }
}

/// Plans of one kind, which every matrix proposed.
DomainScores scores_of(const std::vector<std::vector<double>>& scores) {
  const std::size_t plans = scores.front().size();
  return {scores, std::vector(scores.size(), std::vector<bool>(plans, true)),
          std::vector<int>(plans, 0)};
}

TEST(BestOfDomain, IsTheLeastProductOfRatios) {
  EXPECT_FALSE(best_of_domain(scores_of({{1, infinity}, {infinity, 1}})));
  // Best of the one, best of the other, and 10% from both.
  const auto best = best_of_domain(scores_of({{1.0, 2.0, 1.1}, {6.0, 3.0, 3.3}}));
  ASSERT_TRUE(best);
  EXPECT_EQ(best->plan, 2u);
  EXPECT_NEAR(best->regret, 0.1, 1e-12);
  // What fails on one matrix is no plan for all, and the first of equals is taken.
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
  // Three whole plans, each the best of a matrix and 30% from the best of one other, of which the
  // first is the least bad over all three; and a plan that is 10% from the best everywhere.
  DomainScores known =
      scores_of({{1.1, 1.0, 1.3, 1.01}, {1.1, 1.0, 1.0, 1.3}, {1.1, 1.3, 1.01, 1.0}});
  known.kind = {0, 2, 2, 2};
  known.proposed = {
      {true, true, false, false}, {true, false, true, false}, {true, false, false, true}};
  const auto best = best_of_domain(known);
  ASSERT_TRUE(best);
  EXPECT_EQ(best->plan, 0u);
  EXPECT_NEAR(best->regret, 0.1, 1e-12);
  // What gains everywhere is taken, what gains by one matrix alone is chance.
  for (const bool everywhere : {true, false}) {
    DomainScores gains = scores_of({{1.10, 1.0}, {1.12, 1.0}, {1.11, 1.0}});
    if (!everywhere) gains.scores = {{1.3, 1.0}, {1.0, 1.02}, {1.0, 1.01}};
    gains.kind = {0, 1};
    EXPECT_EQ(best_of_domain(gains)->plan, everywhere ? 1u : 0u);
  }
  // The first that is not clearly worse than the best one, which need not be the best.
  DomainScores three = scores_of({{1.20, 1.0, 1.02}, {1.22, 1.03, 1.0}, {1.21, 1.02, 1.0}});
  three.kind = {0, 1, 2};
  EXPECT_EQ(best_of_domain(three)->plan, 1u);
  three.scores[0][1] = 1.2;
  three.scores[1][1] = 1.19;
  three.scores[2][1] = 1.21;
  EXPECT_EQ(best_of_domain(three)->plan, 2u);
  // Less than times are told apart is no gain, however even.
  DomainScores alike = scores_of({{1.005, 1.0}, {1.005, 1.0}, {1.006, 1.0}});
  alike.kind = {0, 1};
  EXPECT_EQ(best_of_domain(alike)->plan, 0u);
  // A plan that fails on one matrix costs what the prediction takes there.
  DomainScores fails = scores_of({{1.3, 1.0, 9.0}, {1.3, 1.0, 9.0}, {1.3, 9.0, 1.0}});
  fails.scores[2][1] = infinity;
  fails.kind = {0, 1, 1};
  EXPECT_EQ(best_of_domain(fails)->plan, 0u);
  // One matrix says nothing of others.
  DomainScores one = scores_of({{1.1, 1.0}});
  one.kind = {0, 2};
  EXPECT_EQ(best_of_domain(one)->plan, 1u);
}

TEST(LossesLeftOut, AreOfPlansThatTheOthersHave) {
  // A plan that is near the best of all, and each matrix's own, which the others do not know.
  DomainScores known =
      scores_of({{1.0, 2.0, 9.0, 1.1}, {6.0, 3.0, 9.0, 3.3}, {9.0, 9.0, 5.0, 6.0}});
  known.proposed = {
      {true, false, false, true}, {false, true, false, false}, {false, false, true, false}};
  known.otherwise = 3;
  const auto losses = losses_left_out(known);
  ASSERT_EQ(losses.size(), 3u);
  // Without the first nobody proposes the compromise.
  EXPECT_NEAR(losses[0], 1, 1e-12);
  EXPECT_NEAR(losses[1], 0.1, 1e-12);
  EXPECT_NEAR(losses[2], 0.2, 1e-12);
  // What does not run on a matrix is left for the prediction, as long as that runs.
  DomainScores some_run =
      scores_of({{1.0, infinity, 2.0}, {infinity, 1.0, 1.0}, {infinity, 1.0, infinity}});
  some_run.proposed = {{true, false, false}, {false, true, false}, {false, true, false}};
  some_run.otherwise = 2;
  EXPECT_EQ(losses_left_out(some_run), (std::vector<double>{1, 0, infinity}));
  EXPECT_TRUE(losses_left_out(scores_of({{1.0}})).empty());
  EXPECT_TRUE(losses_left_out(scores_of({{1.0}, {1.0}})).empty());
}

/// Times by matrix and outer layout: each matrix has a layout that suits it and no other, and C=16
/// is within 4% of it for all.
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
  std::vector<int> searched_when_told, compared_when_told;
  options.on_matrix = [&](const std::string&) { ++searched; };
  options.observer = [&](const TuneProgress& progress) {
    (progress.compares ? compared_when_told : searched_when_told).push_back(searched);
    return true;
  };
  const Profile profile =
      detail::tune_domain("grids", matrices, cpu_with(one_good_compromise), options);
  EXPECT_EQ(std::set<int>(searched_when_told.begin(), searched_when_told.end()),
            (std::set<int>{1, 2, 3}));
  EXPECT_EQ(std::set<int>(compared_when_told.begin(), compared_when_told.end()), std::set<int>{3});
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
/// Planar components suit all matrices, and as many threads a row as are predicted for each.
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
