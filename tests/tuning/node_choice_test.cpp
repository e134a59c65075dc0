// The size of a tree's nodes, by measurement and from profiles.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "heddle/hierarchical_matrix.hpp"
#include "heddle/plan_choice.hpp"
#include "heddle/tune.hpp"
#include "io/temporary_folder.hpp"
#include "support/entry_definitions.hpp"
#include "support/expect_error.hpp"
#include "support/random_matrix.hpp"
#include "support/tuning/profiles.hpp"
#include "tuning/trees/tree_iterations.hpp"

namespace node_choice {
namespace {

using namespace heddle;
using namespace heddle::test;
using E = quaternion<double>;

CsrMatrix<E> matrix_of(Index rows) {
  Seed seed(91);
  return random_matrix<E>({.rows = rows, .columns = rows, .per_row = 7}, seed.generator);
}

TEST(NodeChoice, TakesTheFastestOfTheUse) {
  const TemporaryFolder folder;
  const Device device = Device::cpu(2);
  const AnyMatrix matrix(matrix_of(3000));
  const auto choose = [&](const Profile& profile, TreeUse use) {
    const std::string path = folder / "p.json";
    profile.save(path);
    return Profiles::of_file(device, path).choose_node(subject_of(matrix), device, use);
  };
  Profile profile = some_profile();
  EXPECT_EQ(choose(profile, TreeUse::both).nodes, NodeLayout());
  EXPECT_EQ(choose(profile, TreeUse::both).reason, "default");
  TreeRecord tree = some_tree("other", "a");
  tree.features = pattern_features(matrix.pattern());
  profile.trees = {tree};
  EXPECT_EQ(choose(profile, TreeUse::product).nodes.size, 64);
  EXPECT_EQ(choose(profile, TreeUse::adjoint_product).nodes.size, 256);
  EXPECT_EQ(choose(profile, TreeUse::both).nodes.size, 256);
  EXPECT_EQ(choose(profile, TreeUse::both).reason,
            "tuned for other, 0.0 away (profile " + (folder / "p.json") + ")");
  // The same pattern comes before a near one.
  tree.matrix = "same";
  tree.fingerprint = fingerprint(matrix.pattern());
  tree.sizes = {{32, 1, some_statistics(1e-5), {}}};
  profile.trees.push_back(tree);
  EXPECT_EQ(choose(profile, TreeUse::both).nodes.size, 32);
  EXPECT_EQ(choose(profile, TreeUse::both).reason,
            "tuned for this pattern (profile " + (folder / "p.json") + ")");
  // Others are too far away, or for other entries.
  profile.trees = {some_tree("far", "a", 100000), tree};
  profile.trees.back().entry = "real";
  EXPECT_EQ(choose(profile, TreeUse::product).nodes, NodeLayout());
}

TEST(NodeChoice, KeepsTheDefaultWhereNothingIsClearlyFaster) {
  TreeRecord tree = some_tree("a", "a");
  tree.sizes[0].product = some_statistics(1.995e-5);
  EXPECT_EQ(tree.best(TreeUse::product).nodes.size, 128);
}

TEST(NodeChoice, TakesAScheduleThatIsFasterWhereItRuns) {
  TreeRecord tree = some_tree("same", "a");
  const AnyMatrix matrix(matrix_of(300));
  tree.fingerprint = fingerprint(matrix.pattern());
  tree.features = pattern_features(matrix.pattern());
  const Device device = Device::cpu(1);
  const TemporaryFolder folder;
  const auto choose = [&](TreeUse use, std::optional<NodeSchedule> schedule) {
    Profile profile = some_profile();
    profile.trees = {tree};
    profile.save(folder / "p.json");
    EXPECT_EQ(Profile::load(folder / "p.json").trees, profile.trees);
    const NodeChoice choice = Profiles::of_file(device, folder / "p.json")
                                  .choose_node(subject_of(matrix), device, use, schedule);
    return std::pair(choice.nodes.size, choice.schedule);
  };
  constexpr NodeSchedule kept = NodeSchedule::kept, by_tree = NodeSchedule::tree;
  // A profile without trials of it leaves the nodes to those of the kept schedule.
  EXPECT_EQ(choose(TreeUse::product, by_tree), std::pair(64, by_tree));
  tree.sizes.push_back({128, 1, some_statistics(0.5e-5), some_statistics(2e-5), by_tree});
  tree.sizes.push_back({256, 1, some_statistics(0.4e-5), some_statistics(2e-5), by_tree});
  EXPECT_EQ(choose(TreeUse::product, kept), std::pair(64, kept));
  EXPECT_EQ(choose(TreeUse::product, by_tree), std::pair(256, by_tree));
  EXPECT_EQ(choose(TreeUse::product, {}), std::pair(256, by_tree));
  EXPECT_EQ(choose(TreeUse::adjoint_product, {}), std::pair(256, kept));
  EXPECT_EQ(choose(TreeUse::both, {}), std::pair(256, by_tree));
  // Products say nothing about a loop.
  EXPECT_EQ(choose(TreeUse::solve, {}), std::pair(64, kept));
  tree.sizes[0].iteration = some_statistics(2e-5);
  tree.sizes[4].iteration = some_statistics(1.995e-5);
  EXPECT_EQ(choose(TreeUse::solve, {}), std::pair(64, kept));
  tree.sizes[4].iteration = some_statistics(1.9e-5);
  EXPECT_EQ(choose(TreeUse::solve, {}), std::pair(256, by_tree));
  EXPECT_EQ(choose(TreeUse::solve, kept), std::pair(64, kept));
  tree.sizes = {tree.sizes[3]};
  EXPECT_EQ(choose(TreeUse::product, kept), std::pair(128, kept));
}

TEST(TuneNodes, MeasuresSizesAndMerges) {
  const AnyMatrix matrix(matrix_of(900));
  const Device device = Device::cpu(2);
  TuneOptions options;
  options.min_runs = options.max_runs = 2;
  int asked = 0;
  options.observer = [&](const TuneProgress& now) {
    EXPECT_GE(now.expected, 14);
    return ++asked > 0;
  };
  Profile profile = tune_nodes({"a", &matrix}, device, options);
  EXPECT_GT(asked, 0);
  ASSERT_EQ(profile.trees.size(), 1U);
  const TreeRecord& tree = profile.trees.front();
  EXPECT_EQ(tree.entry, "quaternion");
  EXPECT_EQ(tree.fingerprint, fingerprint(matrix.pattern()));
  ASSERT_GE(tree.sizes.size(), 3U);
  const auto order = [](const NodeTrial& trial) {
    return std::pair(trial.nodes.size, trial.schedule);
  };
  for (std::size_t k = 1; k < tree.sizes.size(); ++k) {
    EXPECT_LT(order(tree.sizes[k - 1]), order(tree.sizes[k]));
    EXPECT_TRUE(tree.sizes[k].adjoint_product);
  }
  EXPECT_EQ(std::ranges::count(tree.sizes, std::pair(128, NodeSchedule::tree), order), 1);
  // Both schedules have iterations, or none has.
  const auto iterations = std::ranges::count_if(
      tree.sizes, [](const NodeTrial& trial) { return trial.iteration.has_value(); });
  EXPECT_EQ(iterations, tree.best(TreeUse::product, {}).schedule == NodeSchedule::tree ? 2 : 0);
  Profile before = profile;
  before.trees.front().sizes.resize(1);
  before.merge(profile);
  EXPECT_EQ(before.trees, profile.trees);
  options.observer = [](const TuneProgress&) { return false; };
  EXPECT_TRUE(tune_nodes({"a", &matrix}, device, options).trees.empty());
}

/// Two places of three hold entries: in nodes of every size dense leaves take more bytes, and few
/// leaves except the smallest are full.
TEST(TuneNodes, TriesOtherSharesOfPlacesWhereLeavesChange) {
  Seed seed(93);
  constexpr Index rows = 256;
  Pattern pattern{rows, rows, {0}, {}};
  for (Index row = 0; row < rows; ++row) {
    for (Index column = 0; column < rows; ++column) {
      if (random_between(0, 2, seed.generator) != 0) pattern.column.push_back(column);
    }
    pattern.offsets.push_back(static_cast<Offset>(pattern.column.size()));
  }
  const AnyMatrix matrix(random_matrix_of<E>(pattern, seed.generator));
  TuneOptions options;
  options.min_runs = options.max_runs = 1;
  const Profile profile = tune_nodes({"a", &matrix}, Device::cpu(1), options);
  const TreeRecord& tree = profile.trees.at(0);
  int others = 0;
  for (const NodeTrial& trial : tree.sizes) {
    const auto usual =
        std::ranges::find(tree.sizes, NodeLayout(trial.nodes.size), &NodeTrial::nodes);
    ASSERT_NE(usual, tree.sizes.end());
    if (trial.nodes.dense == NodeLayout::by_bytes) continue;
    // The fastest size is not known in advance; leaves of more than 64 places are not full here.
    EXPECT_TRUE(trial.nodes.dense == 50 || trial.nodes.size <= 8) << to_string(trial.nodes);
    EXPECT_NE(trial.bytes, usual->bytes);
    ++others;
  }
  EXPECT_GT(others, 0);
  const TemporaryFolder folder;
  profile.save(folder / "p.json");
  EXPECT_EQ(Profile::load(folder / "p.json").trees, profile.trees);
}

TEST(TuneNodes, ATextTellsALaunch) {
  for (const char* const text : {"", "run=2", "warps=8", "piece=64", "run=1,warps=4,piece=65536"}) {
    const TreeLaunch launch = parse_tree_launch(text);
    EXPECT_EQ(to_string(launch), text);
    EXPECT_EQ(to_string(NodeLayout(64, 50, launch)),
              std::string("node=64,dense=50") + (*text == 0 ? "" : ",") + text);
  }
  EXPECT_EQ(parse_tree_launch("piece=512,run=4"), (TreeLaunch{4, 0, 512}));
  for (const auto& [text, message] :
       {std::pair{"run=3", "the launch of a tree's products has run=1, 2 or 4, not 3"},
        {"warps=16", "the launch of a tree's products has warps=1, 2, 4 or 8, not 16"},
        {"piece=63", "the launch of a tree's products has piece=64 to 65536, not 63"},
        {"piece=65537", "the launch of a tree's products has piece=64 to 65536, not 65537"},
        {"warps=-2", "the launch of a tree's products has warps=1, 2, 4 or 8, not -2"}}) {
    expect_error(ErrorKind::usage, message, [&] { parse_tree_launch(text); });
  }
  for (const char* const text :
       {"warps", "warps=", "warps=0", "warps=2,warps=2", "warps=2 ", "blocks=2", ",", "run=1,,"}) {
    expect_error(ErrorKind::usage,
                 std::string("a launch is run=N, warps=N and piece=N, separated by commas, each "
                             "once, not ") +
                     text,
                 [&] { parse_tree_launch(text); });
  }
  expect_error(ErrorKind::usage, "the launch of a tree's products has run=1, 2 or 4, not 8", [] {
    static_cast<void>(HierarchicalMatrix<E>(matrix_of(3), NodeLayout(16, 50, {.run = 8})));
  });
}

TEST(TuneNodes, LeavesOutTheAdjointThatEntriesHaveNot) {
  Seed seed(92);
  const AnyMatrix matrix(random_matrix<dual_quaternion<double>>(
      {.rows = 300, .columns = 200, .per_row = 3}, seed.generator));
  TuneOptions options;
  options.min_runs = options.max_runs = 1;
  const Profile profile = tune_nodes({"a", &matrix}, Device::cpu(1), options);
  for (const NodeTrial& size : profile.trees.at(0).sizes) {
    EXPECT_EQ(size.adjoint_product.has_value(), has_adjoint<dual_quaternion<double>>);
    EXPECT_GT(size.seconds(TreeUse::adjoint_product), 0);
  }
}

TEST(TuneNodes, TimesIterationsByEachSchedule) {
  Seed seed(94);
  const auto times = [](const AnyMatrix& matrix) {
    TreeIterations iterations(matrix, Device::cpu(2));
    for (const NodeSchedule schedule : {NodeSchedule::kept, NodeSchedule::tree}) {
      const auto prepared = iterations.prepare(16, schedule);
      if (prepared == nullptr) return false;
      EXPECT_GT(prepared->run(), 0);
      EXPECT_TRUE(std::isfinite(prepared->run()));
    }
    return true;
  };
  EXPECT_TRUE(times(AnyMatrix(random_positive_definite_matrix<E>(300, 7, seed.generator))));
  EXPECT_TRUE(times(AnyMatrix(matrix_of(300))));
  EXPECT_TRUE(
      times(AnyMatrix(random_positive_definite_matrix<block<float, 3, 3>>(99, 5, seed.generator))));
  EXPECT_FALSE(times(AnyMatrix(random_matrix<E>({.rows = 20, .columns = 30}, seed.generator))));
}

TEST(TuneNodes, KeepsTheScheduleOfEntriesOfADefinition) {
  Seed seed(95);
  const AnyMatrix matrix(
      as_defined(random_matrix<quaternion<double>>({.rows = 300, .columns = 200, .per_row = 3},
                                                   seed.generator),
                 quaternion_definition()));
  TuneOptions options;
  options.min_runs = options.max_runs = 1;
  const Profile profile = tune_nodes({"a", &matrix}, Device::cpu(1), options);
  for (const NodeTrial& trial : profile.trees.at(0).sizes) {
    EXPECT_EQ(trial.schedule, NodeSchedule::kept);
  }
}

TEST(TuneNodes, RefusesWhatItCannotMeasure) {
  const AnyMatrix empty((CsrMatrix<E>()));
  expect_error(ErrorKind::usage, "tuning: the matrix has no entries",
               [&] { tune_nodes({"a", &empty}, Device::cpu()); });
}

}  // namespace
}  // namespace node_choice
