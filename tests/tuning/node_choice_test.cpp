// The size of a tree's nodes, by measurement and from profiles.
#include <gtest/gtest.h>

#include "heddle/plan_choice.hpp"
#include "heddle/tune.hpp"
#include "io/temporary_folder.hpp"
#include "support/expect_error.hpp"
#include "support/profiles.hpp"
#include "support/random_matrix.hpp"

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
  EXPECT_EQ(choose(profile, TreeUse::both).node, default_node_size);
  EXPECT_EQ(choose(profile, TreeUse::both).reason, "default");
  TreeRecord tree = some_tree("other", "a");
  tree.features = pattern_features(matrix.pattern());
  profile.trees = {tree};
  EXPECT_EQ(choose(profile, TreeUse::product).node, 64);
  EXPECT_EQ(choose(profile, TreeUse::adjoint_product).node, 256);
  EXPECT_EQ(choose(profile, TreeUse::both).node, 256);
  EXPECT_EQ(choose(profile, TreeUse::both).reason,
            "tuned for other, 0.0 away (profile " + (folder / "p.json") + ")");
  // The same pattern comes before a near one.
  tree.matrix = "same";
  tree.fingerprint = fingerprint(matrix.pattern());
  tree.sizes = {{32, 1, some_statistics(1e-5), {}}};
  profile.trees.push_back(tree);
  EXPECT_EQ(choose(profile, TreeUse::both).node, 32);
  EXPECT_EQ(choose(profile, TreeUse::both).reason,
            "tuned for this pattern (profile " + (folder / "p.json") + ")");
  // Others are too far away, or of other entries.
  profile.trees = {some_tree("far", "a", 100000), tree};
  profile.trees.back().entry = "real";
  EXPECT_EQ(choose(profile, TreeUse::product).node, default_node_size);
}

TEST(NodeChoice, KeepsTheDefaultWhereNothingIsClearlyFaster) {
  TreeRecord tree = some_tree("a", "a");
  tree.sizes[0].product = some_statistics(1.995e-5);
  EXPECT_EQ(tree.best(TreeUse::product).node, 128);
}

TEST(TuneNodes, MeasuresSizesAndMerges) {
  const AnyMatrix matrix(matrix_of(900));
  const Device device = Device::cpu(2);
  TuneOptions options;
  options.least_runs = options.most_runs = 2;
  int asked = 0;
  options.observer = [&](const TuneProgress& now) {
    EXPECT_EQ(now.expected, 7);
    return ++asked > 0;
  };
  Profile profile = tune_nodes({"a", &matrix}, device, options);
  EXPECT_GT(asked, 0);
  ASSERT_EQ(profile.trees.size(), 1U);
  const TreeRecord& tree = profile.trees.front();
  EXPECT_EQ(tree.entry, "quaternion");
  EXPECT_EQ(tree.fingerprint, fingerprint(matrix.pattern()));
  ASSERT_GE(tree.sizes.size(), 2U);
  for (std::size_t k = 1; k < tree.sizes.size(); ++k) {
    EXPECT_LT(tree.sizes[k - 1].node, tree.sizes[k].node);
    EXPECT_TRUE(tree.sizes[k].adjoint_product);
  }
  Profile before = profile;
  before.trees.front().sizes.resize(1);
  before.merge(profile);
  EXPECT_EQ(before.trees, profile.trees);
  options.observer = [](const TuneProgress&) { return false; };
  EXPECT_TRUE(tune_nodes({"a", &matrix}, device, options).trees.empty());
}

TEST(TuneNodes, LeavesOutTheAdjointThatEntriesHaveNot) {
  Seed seed(92);
  const AnyMatrix matrix(random_matrix<dual_quaternion<double>>(
      {.rows = 300, .columns = 200, .per_row = 3}, seed.generator));
  TuneOptions options;
  options.least_runs = options.most_runs = 1;
  const Profile profile = tune_nodes({"a", &matrix}, Device::cpu(1), options);
  for (const NodeTrial& size : profile.trees.at(0).sizes) {
    EXPECT_EQ(size.adjoint_product.has_value(), has_adjoint<dual_quaternion<double>>);
    EXPECT_GT(size.seconds(TreeUse::adjoint_product), 0);
  }
}

TEST(TuneNodes, RefusesWhatItCannotMeasure) {
  const AnyMatrix empty((CsrMatrix<E>()));
  expect_error(ErrorKind::usage, "tuning: the matrix has no entries",
               [&] { tune_nodes({"a", &empty}, Device::cpu()); });
}

}  // namespace
}  // namespace node_choice
