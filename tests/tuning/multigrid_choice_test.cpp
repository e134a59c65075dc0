// Multigrid settings, by measurement and from profiles.
#include <gtest/gtest.h>

#include "heddle/plan_choice.hpp"
#include "heddle/problems.hpp"
#include "heddle/tune.hpp"
#include "io/temporary_folder.hpp"
#include "support/expect_error.hpp"
#include "support/tuning/profiles.hpp"

namespace multigrid_choice {
namespace {

using namespace heddle;
using namespace heddle::test;

TEST(MultigridChoice, IsThatOfTheSamePatternOrTheNearest) {
  const TemporaryFolder folder;
  const Device device = Device::cpu(2);
  const AnyMatrix matrix(dirac(1000));
  const std::string path = folder / "p.json";
  const auto choose = [&](const Profile& profile, std::string_view candidates) {
    profile.save(path);
    return Profiles::of_file(device, path).choose_multigrid(subject_of(matrix), device, candidates);
  };
  Profile profile = some_profile();
  EXPECT_FALSE(choose(profile, "constant"));
  MultigridRecord record = some_multigrid("other", "a");
  record.features = pattern_features(matrix.pattern());
  profile.multigrids = {record, some_multigrid("far", "b", 100000)};
  const auto near = choose(profile, "constant");
  ASSERT_TRUE(near);
  EXPECT_EQ(near->preconditioner, "multigrid:2:w:jacobi");
  EXPECT_EQ(near->strength, 0.02);
  EXPECT_EQ(near->reason, "tuned for other, 0.0 away (profile " + path + ")");
  EXPECT_FALSE(choose(profile, "adaptive"));
  record.fingerprint = fingerprint(matrix.pattern());
  record.preconditioner = "multigrid:3";
  profile.multigrids.push_back(record);
  const auto same = choose(profile, "constant");
  ASSERT_TRUE(same);
  EXPECT_EQ(same->preconditioner, "multigrid:3");
  EXPECT_EQ(same->reason, "tuned for this pattern (profile " + path + ")");
}

TEST(TuneMultigrid, FindsWhatIsNoSlowerAndMerges) {
  const AnyMatrix matrix(poisson(700));
  const Device device = Device::cpu(1);
  TuneOptions options;
  options.min_runs = options.max_runs = 1;
  Profile profile = tune_multigrid({"p", &matrix}, {}, device, options);
  ASSERT_EQ(profile.multigrids.size(), 1U);
  const MultigridRecord& found = profile.multigrids.front();
  EXPECT_EQ(found.entry, "real");
  EXPECT_EQ(found.candidates, "constant");
  EXPECT_EQ(found.fingerprint, fingerprint(matrix.pattern()));
  EXPECT_LE(found.seconds.median, found.usual_seconds.median);
  EXPECT_GT(found.iterations, 0);
  EXPECT_EQ(ComposedChoice::parse(found.preconditioner).text(), found.preconditioner);
  Profile before = profile;
  before.multigrids.front().strength = 0.5;
  before.merge(profile);
  EXPECT_EQ(before.multigrids, profile.multigrids);
  // If cancelled at once, the default.
  options.observer = [](const TuneProgress&) { return false; };
  const Profile cancelled = tune_multigrid({"p", &matrix}, {}, device, options);
  EXPECT_EQ(cancelled.multigrids.at(0).preconditioner, "multigrid");
}

TEST(TuneMultigrid, RefusesWhatMultigridDoesNotSolve) {
  const AnyMatrix waves(helmholtz(500));
  expect_error(ErrorKind::unsupported,
               "multigrid: the matrix is not Hermitian; use jacobi, or none",
               [&] { tune_multigrid({"h", &waves}, {}, Device::cpu(1)); });
  const AnyMatrix empty((CsrMatrix<real<double>>()));
  expect_error(ErrorKind::usage, "tuning: the matrix has no entries",
               [&] { tune_multigrid({"e", &empty}, {}, Device::cpu(1)); });
}

}  // namespace
}  // namespace multigrid_choice
