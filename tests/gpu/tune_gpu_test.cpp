// Tuning on a GPU: matrices that are rescheduled, timed trials, kernels compiled ahead, and a tuned
// plan that solves.
#include "heddle/tune.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "heddle/hierarchical_matrix.hpp"
#include "heddle/operator.hpp"
#include "heddle/problems.hpp"
#include "heddle/runtime/any_solver.hpp"
#include "support/entry_definitions.hpp"
#include "support/gpu.hpp"
#include "support/random_matrix.hpp"
#include "support/refusing_memory.hpp"
#include "tuning/search/operator_trials.hpp"
#include "tuning/trees/tree_iterations.hpp"

namespace tune_gpu {
namespace {

using namespace heddle;
using namespace heddle::test;

class TuneOnGpu : public OnGpu {};

TEST_F(TuneOnGpu, ReschedulesWithoutBuilding) {
  using E = quaternion<double>;
  Seed seed(5601);
  const auto matrix = random_matrix<E>({.rows = 3000, .columns = 3000}, seed.generator);
  const Field<E> users_x = random_field<E>(3000, seed.generator);
  RefusingMemory memory(device.memory());
  const Device counted = Device::cuda(0, device.stream().queue, &memory);
  const auto product = [&](const Operator<E>& A) {
    Field<E> x = A.field(), y = A.field();
    permute<double>(users_x.view(), x.view(), 1.0, counted.stream());
    A.iterated().apply(1, x.view(), 0, y.view(), counted.stream());
    return y.scalars().to_host();
  };
  for (const char* layout : {"CSR", "pJDS,inner=aosoa16", "K2rs,inner=soa,stored=float"}) {
    const Plan first = parse_plan(layout);
    const Operator<E> built(matrix, first, counted);
    for (const char* schedule :
         {"schedule=full,threads=128,unroll=4", "schedule=dynamic,chunk=2,threads=512",
          "schedule=static,blocks=2,load=evict-first,kept=30"}) {
      SCOPED_TRACE(std::string(layout) + "," + schedule);
      const Plan plan = parse_plan(schedule, first);
      const long long live = memory.live;
      const Operator<E> same = built.scheduled(plan);
      EXPECT_EQ(memory.live, live);
      EXPECT_EQ(&same.pattern(), &built.pattern());
      EXPECT_EQ(product(same), product(Operator<E>(matrix, plan, counted)));
    }
    EXPECT_THROW(static_cast<void>(built.scheduled(parse_plan("C=8"))), Error);
  }
}

TEST_F(TuneOnGpu, TimesEveryPlanThatIsRight) {
  Seed seed(5602);
  std::vector<AnyMatrix> matrices;
  matrices.emplace_back(
      random_positive_definite_matrix<quaternion<double>>(2000, 7, seed.generator));
  matrices.emplace_back(
      random_positive_definite_matrix<block<float, 3, 3>>(900, 12, seed.generator));
  matrices.emplace_back(
      as_defined(random_positive_definite_matrix<quaternion<float>>(500, 6, seed.generator),
                 quaternion_definition()));
  for (const AnyMatrix& matrix : matrices) {
    for (const std::string_view objective_name : objective_names()) {
      const Objective objective = parse_objective(objective_name);
      SCOPED_TRACE(std::string(matrix.entry().name()) + " " + std::string(name(objective)));
      // Quaternions are refused here.
      if (!objective.is_product() && objective.method->needs_symmetric) continue;
      OperatorTrials trials(matrix, device, objective);
      std::vector<Plan> plans;
      for (const char* text :
           {"pJDS,T=2,schedule=full,loop=graph", "CSR,schedule=dynamic,loop=stepped",
            "Sl-32,inner=aosoa,vector=soa,schedule=static,loop=persistent",
            "pJDS,T=2,schedule=full,loop=graph,reductions=1,launch=overlapped"}) {
        plans.push_back(parse_plan(text));
      }
      trials.announce(plans);
      for (const Plan& plan : plans) {
        SCOPED_TRACE(to_string(plan));
        EXPECT_GT(trials.memory_ratio(plan), 0);
        const auto prepared = trials.prepare(plan);
        for (int run = 0; run < 3; ++run) {
          const double seconds = prepared->run();
          EXPECT_GT(seconds, 0);
          EXPECT_TRUE(std::isfinite(seconds));
        }
      }
    }
  }
}

TEST_F(TuneOnGpu, GivesBackWhatItTook) {
  RefusingMemory memory(device.memory());
  const Device counted = Device::cuda(0, device.stream().queue, &memory);
  const AnyMatrix matrix(dirac(2000));
  {
    OperatorTrials trials(matrix, counted, parse_objective("cg"));
    for (const char* text : {"pJDS,loop=graph,schedule=full", "CSR,loop=graph", "ELL,loop=graph"}) {
      trials.announce({parse_plan(text), parse_plan("C=16,threads=512")});
      EXPECT_GT(trials.prepare(parse_plan(text))->run(), 0);
    }
  }
  EXPECT_EQ(memory.live, 0);
}

TEST_F(TuneOnGpu, FindsAPlanThatSolves) {
  const AnyMatrix matrix(dirac(3000));
  TuneOptions options;
  options.min_runs = 1;
  options.max_runs = 3;
  options.seconds_limit = 30;
  const Profile profile = tune({"spin", &matrix}, device, options);
  ASSERT_EQ(profile.records.size(), 1u);
  const ProfileRecord& record = profile.records.front();
  EXPECT_EQ(profile.device, properties_of(device));
  EXPECT_GT(profile.ceilings.cache, 0);
  EXPECT_GT(record.seconds.median, 0);
  EXPECT_LE(record.memory_ratio, options.max_memory_ratio);
  const AnyOperator A(matrix, record.plan, device);
  AnySolver solver(A, find_method("cg"), PreconditionerKind::jacobi, {});
  AnyField b = A.row_field(), x = A.column_field();
  for (Offset i = 0; i < Offset(b.rows()) * b.components(); ++i) {
    b.set(i, std::cos(static_cast<double>(i)));
  }
  EXPECT_TRUE(solver.solve(b, x).converged());
}

TEST_F(TuneOnGpu, TriesLaunchesOfTreesAndTakesThem) {
  using E = quaternion<double>;
  Seed seed(5605);
  const CsrMatrix<E> rows =
      random_matrix<E>({.rows = 4000, .columns = 4000, .per_row = 20}, seed.generator);
  const AnyMatrix matrix(rows);
  TuneOptions options;
  options.min_runs = options.max_runs = 3;
  const Profile profile = tune_nodes({"a", &matrix}, device, options);
  const TreeRecord& tree = profile.trees.at(0);
  int launches = 0;
  for (const NodeTrial& trial : tree.sizes) {
    if (trial.nodes.launch == TreeLaunch()) continue;
    ++launches;
    // Each trial is launched as requested.
    const TreeLaunch wanted = trial.nodes.launch,
                     made = HierarchicalMatrix<E>(rows, trial.nodes, device).launch();
    EXPECT_TRUE(wanted.run == 0 || wanted.run == made.run) << to_string(wanted);
    EXPECT_TRUE(wanted.warps == 0 || wanted.warps == made.warps) << to_string(wanted);
    EXPECT_TRUE(wanted.piece == 0 || wanted.piece == made.piece) << to_string(wanted);
    EXPECT_EQ(std::ranges::count(tree.sizes, trial.nodes, &NodeTrial::nodes), 1);
  }
  EXPECT_GE(launches, 4);
  const NodeChoice choice = Profiles::for_device(device, profile, "it")
                                .choose_node(subject_of(matrix), device, TreeUse::product);
  EXPECT_EQ(choice.nodes, tree.best(TreeUse::product).nodes);
  EXPECT_GE(std::ranges::count(tree.sizes, NodeSchedule::tree, &NodeTrial::schedule), 1);
}

TEST_F(TuneOnGpu, TimesIterationsOfTreesByEachSchedule) {
  const AnyMatrix matrix(dirac(3000));
  TreeIterations iterations(matrix, device);
  for (const NodeSchedule schedule : {NodeSchedule::kept, NodeSchedule::tree}) {
    const auto prepared = iterations.prepare(128, schedule);
    ASSERT_NE(prepared, nullptr);
    EXPECT_GT(prepared->run(), 0);
    EXPECT_TRUE(std::isfinite(prepared->run()));
  }
}

}  // namespace
}  // namespace tune_gpu
