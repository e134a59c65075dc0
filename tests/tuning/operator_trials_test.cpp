// Runs in both builds.
// Trials over operators: a prepared plan is right, has the reported cost, and is timed.
#include "tuning/search/operator_trials.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "heddle/problems.hpp"
#include "support/entry_definitions.hpp"
#include "support/random_matrix.hpp"
#include "support/refusing_memory.hpp"
#include "support/where_it_runs.hpp"
#include "tuning/search/reference_product.hpp"

namespace {

using namespace heddle;
using namespace heddle::test;

constexpr const char* some_plans[] = {"CSR",
                                      "CSR,inner=soa,vector=soa,schedule=dynamic,chunk=1",
                                      "Sl-32,inner=aosoa",
                                      "K2rs,inner=aosoa16",
                                      "pJDS,T=4",
                                      "ELL",
                                      "K1",
                                      "CSR,order=rcm"};

std::vector<AnyMatrix> some_matrices(Generator& generator) {
  std::vector<AnyMatrix> matrices;
  matrices.emplace_back(random_positive_definite_matrix<real<float>>(150, 6, generator));
  matrices.emplace_back(random_positive_definite_matrix<quaternion<double>>(150, 6, generator));
  matrices.emplace_back(random_positive_definite_matrix<block<float, 3, 3>>(90, 5, generator));
  return matrices;
}

TEST(OperatorTrials, TimesEveryPlanThatIsRight) {
  HEDDLE_RELEASE_ONLY();
  Seed seed(5401);
  for (const AnyMatrix& matrix : some_matrices(seed.generator)) {
    SCOPED_TRACE(std::string(matrix.entry().name()));
    for (const std::string_view objective_name : objective_names()) {
      const Objective objective = parse_objective(objective_name);
      if (!objective.is_product() && objective.method->needs_symmetric &&
          matrix.kind() == EntryKind::quaternion) {
        EXPECT_THROW(check_objective(matrix, objective), Error);
        continue;
      }
      OperatorTrials trials(matrix, Device::cpu(2), objective);
      std::vector<Plan> plans;
      for (const char* text : some_plans) plans.push_back(parse_plan(text));
      trials.announce(plans);
      const double before = trials.now();
      for (const Plan& plan : plans) {
        SCOPED_TRACE(to_string(plan));
        const auto prepared = trials.prepare(plan);
        for (int run = 0; run < 2; ++run) {
          const double seconds = prepared->run();
          EXPECT_GT(seconds, 0);
          EXPECT_TRUE(std::isfinite(seconds));
        }
      }
      EXPECT_GT(trials.now(), before);
    }
  }
}

TEST(OperatorTrials, TimesFloatsUnderDouble) {
  Seed seed(5402);
  const AnyMatrix matrix(random_positive_definite_matrix<complex<double>>(150, 6, seed.generator));
  OperatorTrials trials(matrix, Device::cpu(2), parse_objective("cg"));
  const Plan plan = parse_plan("Sl-32,stored=float");
  EXPECT_GT(trials.prepare(plan)->run(), 0);
  EXPECT_GT(trials.memory_ratio(plan), trials.memory_ratio(parse_plan("Sl-32")));
}

TEST(OperatorTrials, KnowsMemoryBeforehand) {
  Seed seed(5403);
  RefusingMemory memory(std::pmr::new_delete_resource());
  const Device device = Device::cpu(2, &memory);
  const AnyMatrix matrix(random_matrix<quaternion<double>>(
      {.rows = 700, .columns = 700, .per_row = 3, .dense_row = true}, seed.generator));
  OperatorTrials trials(matrix, device, Objective::product());
  const auto csr = static_cast<double>(AnyOperator(matrix, Plan{}, device).memory().product());
  for (const char* text : some_plans) {
    SCOPED_TRACE(text);
    const Plan plan = parse_plan(text);
    memory.peak = memory.live;
    const double ratio = trials.memory_ratio(plan);
    // At most an order of rows.
    EXPECT_LE(memory.peak - memory.live, 700 * 8LL);
    const AnyOperator built(matrix, plan, device);
    EXPECT_DOUBLE_EQ(ratio, static_cast<double>(built.memory().product()) / csr);
  }
  EXPECT_DOUBLE_EQ(trials.memory_ratio(Plan{}), 1);
}

TEST(OperatorTrials, BuildsALayoutOnce) {
  Seed seed(5404);
  RefusingMemory memory(std::pmr::new_delete_resource());
  const Device device = Device::cpu(2, &memory);
  const AnyMatrix matrix(
      random_matrix<block<double, 4, 4>>({.rows = 900, .columns = 900}, seed.generator));
  OperatorTrials trials(matrix, device, Objective::product());
  const Plan first = parse_plan("Sl-32");
  const long long matrix_bytes = AnyOperator(matrix, first, device).memory().total();
  const auto prepared = trials.prepare(first);
  for (const char* schedule : {"schedule=dynamic", "prefetch-x=0", "chunk=3"}) {
    memory.peak = memory.live;
    const long long live = memory.live;
    static_cast<void>(trials.prepare(parse_plan(schedule, first)));
    EXPECT_LT(memory.peak - live, matrix_bytes / 2) << schedule;  // only the product's fields
    EXPECT_EQ(memory.live, live);
  }
  // Layouts that are no longer in use do not pile up.
  for (const char* layout : {"CSR", "K1rs", "C=8", "ELL", "Sl-16"}) {
    static_cast<void>(trials.prepare(parse_plan(layout)));
    EXPECT_LT(memory.live, 4 * matrix_bytes) << layout;
  }
}

TEST(OperatorTrials, FindsWrongResults) {
  Seed seed(5405);
  auto broken = random_matrix<real<double>>({.rows = 60, .columns = 60}, seed.generator);
  broken.values()[7] = std::numeric_limits<double>::quiet_NaN();
  const AnyMatrix matrix(std::move(broken));
  OperatorTrials trials(matrix, Device::cpu(1), Objective::product());
  try {
    trials.prepare(Plan{});
    FAIL() << "no error";
  } catch (const WrongResult& error) {
    EXPECT_EQ(std::string(error.what()), "its product is off by nan of the reference's norm");
  }
}

TEST(OperatorTrials, RefusesWhatAnObjectiveCannotTake) {
  Seed seed(5406);
  const auto kind_of = [](const auto& work) {
    try {
      work();
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
      return error.kind();
    }
    ADD_FAILURE() << "no error";
    return ErrorKind::internal;
  };
  const AnyMatrix wide(random_matrix<real<double>>({.rows = 30, .columns = 50}, seed.generator));
  EXPECT_EQ(kind_of([&] { OperatorTrials(wide, Device::cpu(1), parse_objective("cg")); }),
            ErrorKind::usage);
  OperatorTrials of_product(wide, Device::cpu(1), Objective::product());
  EXPECT_GT(of_product.prepare(parse_plan("Sl-32,sigma=n,use=scatter"))->run(), 0);
  EXPECT_EQ(kind_of([&] { of_product.prepare(parse_plan("pJDS")); }), ErrorKind::bad_plan);

  const AnyMatrix screws(
      random_dominant_matrix<dual_quaternion<double>>({.rows = 40, .columns = 40}, seed.generator));
  EXPECT_EQ(kind_of([&] { OperatorTrials(screws, Device::cpu(1), parse_objective("cg")); }),
            ErrorKind::unsupported);
  OperatorTrials of_bicgstab(screws, Device::cpu(1), parse_objective("bicgstab"));
  EXPECT_GT(of_bicgstab.prepare(Plan{})->run(), 0);

  auto negative = random_positive_definite_matrix<real<double>>(40, 3, seed.generator);
  for (double& value : negative.values()) value = -value;
  const AnyMatrix indefinite(std::move(negative));
  OperatorTrials of_cg(indefinite, Device::cpu(1), parse_objective("cg"));
  EXPECT_EQ(kind_of([&] { of_cg.prepare(Plan{}); }), ErrorKind::unsupported);
}

TEST(OperatorTrials, TakesADefinition) {
  Seed seed(5407);
  const auto typed = random_positive_definite_matrix<quaternion<double>>(80, 4, seed.generator);
  const AnyMatrix matrix(as_defined(typed, quaternion_definition()));
  OperatorTrials trials(matrix, Device::cpu(1), parse_objective("cg"));
  for (const char* plan : {"CSR,schedule=dynamic", "Sl-32", "K2rs,inner=soa", "CSR,stored=float"}) {
    EXPECT_GT(trials.prepare(parse_plan(plan))->run(), 0) << plan;
  }
}

TEST(ReferenceProduct, IsThatOfTheMatrixInDouble) {
  Seed seed(5408);
  const auto of_floats = random_matrix<quaternion<float>>(
      {.rows = 50, .columns = 70, .empty_rows = true, .sorted = false}, seed.generator);
  AnyField x(70, 4, Precision::single_precision, Device::cpu());
  std::vector<float> numbers;
  for (Offset i = 0; i < 280; ++i) {
    numbers.push_back(static_cast<float>(std::cos(static_cast<double>(i))));
    x.set(i, numbers.back());
  }
  const Reference expected = test::reference_product(of_floats, numbers);
  const auto check = [&](const AnyMatrix& matrix) {
    const std::vector<double> y = heddle::reference_product(matrix, x);
    ASSERT_EQ(y.size(), expected.value.size());
    for (std::size_t i = 0; i < y.size(); ++i) {
      EXPECT_LE(std::abs(static_cast<double>(y[i] - expected.value[i])),
                static_cast<double>(expected.bound(i, unit_roundoff<double>)));
    }
  };
  check(AnyMatrix(of_floats));
  check(AnyMatrix(as_defined(of_floats, quaternion_definition())));
}

TEST(ReferenceProduct, DifferencesAreRelativeAndNeverHideANaN) {
  AnyField y(2, 1, Precision::double_precision, Device::cpu());
  y.set(0, 3);
  y.set(1, 5);
  EXPECT_DOUBLE_EQ(relative_difference(y, {3, 4}), 0.2);
  EXPECT_DOUBLE_EQ(relative_difference(y, {0, 0}), std::sqrt(34.0));
  y.set(1, std::numeric_limits<double>::quiet_NaN());
  EXPECT_TRUE(std::isnan(relative_difference(y, {3, 4})));
}

}  // namespace
