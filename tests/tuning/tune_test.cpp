// The tuner from matrix to profile: on the CPU, with so few runs that its choices mean nothing, and
// over synthetic times, where they must be the best ones.
#include "heddle/tune.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "hasty_tuning.hpp"
#include "heddle/problems.hpp"
#include "heddle/runtime/any_solver.hpp"
#include "io/temporary_folder.hpp"
#include "support/random_matrix.hpp"
#include "support/refusing_memory.hpp"
#include "support/tuning/landscapes.hpp"
#include "support/tuning/synthetic_trials.hpp"
#include "tuning/search/domain_regret.hpp"
#include "tuning/search/tuned_matrix.hpp"

namespace {

using namespace heddle;
using namespace heddle::test;

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
    std::vector<std::string> names;
    TuneOptions options = hasty(objective);
    options.on_trial = [&](const Trial& trial) { trials.push_back(trial); };
    options.on_matrix = [&](const std::string& matrix_name) { names.push_back(matrix_name); };
    const Profile profile = detail::tune({"some", matrix}, cpu_with(), options);
    ASSERT_EQ(profile.records.size(), 1u);
    const ProfileRecord& record = profile.records.front();
    EXPECT_EQ(record.matrix, "some");
    EXPECT_EQ(record.objective, objective);
    EXPECT_EQ(record.search, "pruned");
    EXPECT_EQ(profile.device, properties_of(Device::cpu(2)));
    EXPECT_GT(profile.ceilings.memory, 0);
    EXPECT_EQ(names, std::vector<std::string>{"some"});
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
  options.max_runs = 1;
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

  // Plans known to profiles come before the model's.
  const TemporaryFolder folder;
  given.save(folder / "given.json");
  options.starts = {};
  options.known = Profiles::of_file(Device::cpu(), folder / "given.json");
  EXPECT_EQ(detail::tune({"spin", &matrix}, cpu_with(no_trials), options).records.front().plan,
            parse_plan("Sl-32"));
}

TEST(Tune, KeepsToItsMemory) {
  // A dense row: a layout that pads every row to the longest takes a hundred times CSR.
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
  // The ceilings' arrays are not included.
  const detail::TuningDevice on{Device::cpu(2, &memory), properties_of(Device::cpu(2)),
                                typical_ceilings(properties_of(Device::cpu(2))),
                                detail::trials_on_device};
  detail::TunedMatrix tuned({"one dense row", &matrix}, on, options);
  std::vector<Trial> trials;
  const SearchResult found = tuned.search(trials);
  EXPECT_GT(too_large, 0);
  EXPECT_EQ(found.too_large, too_large);
  ASSERT_TRUE(found.best);
  // Two prepared plans and two layouts that stay built, each with its order and its map.
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

/// Real trials that report some plans as wrong.
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
  expect_usage(&matrix, [](TuneOptions& o) { o.min_runs = 0; });
  expect_usage(&matrix, [](TuneOptions& o) { o.max_runs = 0; });
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

}  // namespace
