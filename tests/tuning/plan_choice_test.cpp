// The plan that a matrix gets, and why: the order in which profiles are asked, what is left out,
// and when a prediction replaces a tuned plan.
#include "heddle/plan_choice.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "heddle/runtime/any_solver.hpp"
#include "io/temporary_folder.hpp"
#include "support/random_matrix.hpp"
#include "support/scoped_environment.hpp"
#include "support/tuning/profiles.hpp"

namespace {

using namespace heddle;
using namespace heddle::test;

/// Has a cache folder of its own, and an empty environment.
class PlanChoiceTest : public testing::Test {
 protected:
  PlanChoiceTest() {
    setenv("XDG_CACHE_HOME", (caches / "").c_str(), 1);
    std::filesystem::create_directories(profile_folder());
  }

  PlanChoice choose(const std::optional<std::string>& path = {},
                    Objective objective = parse_objective("cg")) const {
    return Profiles::for_device(device, path).choose(matrix, device, objective);
  }
  /// A record of exactly this pattern.
  ProfileRecord record_of_it(const std::string& plan) const {
    ProfileRecord record = some_record("itself", "0", plan);
    record.fingerprint = fingerprint(matrix.pattern());
    record.features = pattern_features(matrix.pattern());
    return record;
  }
  /// A record of a matrix that is `times` as large.
  ProfileRecord record_near_it(const std::string& plan, double times,
                               const std::string& digits = "a") const {
    ProfileRecord record = some_record("a neighbour", digits, plan);
    record.features = pattern_features(matrix.pattern());
    record.features.rows = record.features.columns =
        static_cast<Index>(times * record.features.rows);
    return record;
  }
  std::string save(const std::string& path, const std::vector<ProfileRecord>& records) const {
    Profile profile = some_profile();
    profile.records = records;
    profile.save(path);
    return path;
  }
  static std::string in_cache(const std::string& name) { return profile_folder() + "/" + name; }
  Plan predicted() const { return Profiles().choose(matrix, device, parse_objective("cg")).plan; }

  const ScopedEnvironment profile{"HEDDLE_PROFILE", nullptr}, cache{"XDG_CACHE_HOME", nullptr};
  TemporaryFolder caches, folder;
  Device device = Device::cpu(2);
  Generator generator{1};
  // Far smaller than any matrix in the shipped profiles.
  AnyMatrix matrix{
      random_matrix<quaternion<double>>({.rows = 60, .columns = 60, .diagonal = true}, generator)};
};

TEST_F(PlanChoiceTest, IsAPredictionWhereNobodyKnowsBetter) {
  const PlanChoice choice = choose();
  EXPECT_EQ(choice.reason, "predicted");
  EXPECT_FALSE(choice.tuned);
  EXPECT_EQ(choice.warning, "");
  EXPECT_EQ(choice.plan, predicted());
  EXPECT_TRUE(Profiles::for_device(device).warnings().empty());
  // A profile without records for this entry has no effect.
  ProfileRecord other = record_of_it("C=8");
  other.entry = "complex";
  save(in_cache("p.json"), {other});
  EXPECT_EQ(choose().reason, "predicted");
}

TEST_F(PlanChoiceTest, SaysWhatItIsFrom) {
  const std::string path = folder / "p.json";
  save(path, {record_of_it("C=8")});
  PlanChoice choice = choose(path);
  EXPECT_TRUE(choice.tuned);
  EXPECT_EQ(choice.plan, parse_plan("C=8"));
  EXPECT_EQ(choice.reason, "tuned for this pattern (profile " + path + ")");
  choice = choose(path, Objective::product());
  EXPECT_EQ(choice.reason, "tuned for this pattern (profile " + path + ", for cg)");

  save(path, {record_near_it("C=16", 1.5)});
  EXPECT_EQ(choose(path).reason, "predicted");
  save(path, {record_near_it("C=16", 1.3)});
  choice = choose(path);
  EXPECT_EQ(choice.plan, parse_plan("C=16"));
  EXPECT_EQ(choice.reason, "tuned for a neighbour, 0.4 away (profile " + path + ")");
  EXPECT_EQ(choose_plan(matrix, device, Profiles::for_device(device, path)), parse_plan("C=16"));

  save(path, {record_near_it("C=16,iteration-precision=dictionary", 1.3)});
  EXPECT_EQ(choose(path).plan, parse_plan("C=16"));  // dictionary depended on the other's values

  Profile profile = Profile::load(path);
  profile.domains = {some_domain("surfaces", "C=4", {"a"})};
  profile.save(path);
  choice = choose(path);
  EXPECT_EQ(choice.plan, parse_plan("C=4"));
  EXPECT_EQ(choice.reason, "best of domain surfaces (profile " + path + ")");

  const Plan predicted = choose_plan(matrix, device, Profiles());
  profile.domains[0].plan = parse_plan("C=4,inner=soa");
  profile.domains[0].use = DomainUse::storage;
  profile.save(path);
  choice = choose(path);
  EXPECT_TRUE(choice.tuned);
  EXPECT_EQ(choice.plan, parse_plan("inner=soa", predicted));
  EXPECT_EQ(choice.reason, "storage best of domain surfaces (profile " + path + ")");
  profile.domains[0].plan = parse_plan("C=4,inner=soa,columns=given");
  profile.domains[0].use = DomainUse::order;
  profile.save(path);
  choice = choose(path);
  EXPECT_EQ(choice.plan, parse_plan("columns=given", predicted));
  EXPECT_EQ(choice.reason, "order best of domain surfaces (profile " + path + ")");
  profile.domains[0].use = DomainUse::predicted;
  profile.save(path);
  choice = choose(path);
  EXPECT_FALSE(choice.tuned);
  EXPECT_EQ(choice.plan, predicted);
  EXPECT_EQ(choice.reason, "predicted, best for domain surfaces (profile " + path + ")");
}

TEST_F(PlanChoiceTest, LeavesOutAnExactCopyThatTheValuesRefuse) {
  using E = quaternion<double>;
  CsrMatrix<E> values = random_matrix<E>({.rows = 60, .columns = 60, .diagonal = true}, generator);
  ASSERT_GT(values.entries(), 256);
  ProfileRecord record = record_of_it("CSR");
  record.fingerprint = fingerprint(values.view().pattern());
  record.features = pattern_features(values.view().pattern());
  for (const std::string precision : {"dictionary", "unit"}) {
    record.plan = parse_plan("C=8,iteration-precision=" + precision);
    const std::string path = save(folder / "p.json", {record});
    const Profiles profiles = Profiles::of_file(device, path);
    const PlanChoice choice = profiles.choose(values, device, parse_objective("cg"));
    EXPECT_EQ(choice.plan, parse_plan("C=8"));
    EXPECT_TRUE(choice.tuned);
    const std::string says = "an exact copy is not used, tuned for this pattern (profile " + path +
                             "): plan: iteration-precision=" + precision + ": the entry of row ";
    EXPECT_TRUE(choice.warning.starts_with(says)) << choice.warning;
    EXPECT_EQ(choose_plan(AnyMatrix(values), device, profiles), parse_plan("C=8"));
    // The same text as the operator's own error.
    const std::string why = choice.warning.substr(choice.warning.find("plan: "));
    try {
      AnyOperator(AnyMatrix(values), parse_plan("CSR,iteration-precision=" + precision), device);
      ADD_FAILURE() << precision;
    } catch (const Error& error) {
      EXPECT_EQ(error.what(), why);
    }
    CsrMatrix<E> few = values;
    for (Offset i = 0; i < few.entries(); ++i) {
      for (int k = 0; k < 4; ++k) few.values()[i * 4 + k] = k == i % 4 ? (i % 3 == 0 ? 2 : -1) : 0;
    }
    const PlanChoice kept = profiles.choose(few, device, parse_objective("cg"));
    EXPECT_EQ(kept.plan, record.plan);
    EXPECT_EQ(kept.warning, "");
    EXPECT_EQ(choose_plan(few, device, profiles), record.plan);
  }
}

TEST_F(PlanChoiceTest, AsksTheNamedFileThenTheEnvironmentThenTheCache) {
  save(in_cache("p.json"), {record_near_it("C=2", 1)});
  EXPECT_EQ(choose().plan, parse_plan("C=2"));
  setenv("HEDDLE_PROFILE", save(folder / "e.json", {record_near_it("C=4", 1)}).c_str(), 1);
  EXPECT_EQ(choose().plan, parse_plan("C=4"));
  const std::string named = save(folder / "n.json", {record_near_it("C=8", 1.3)});
  EXPECT_EQ(choose(named).plan, parse_plan("C=8"));
  EXPECT_EQ(Profiles::of_file(device, named).choose(matrix, device, parse_objective("cg")).plan,
            parse_plan("C=8"));
  // A profile that knows nothing about the matrix leaves it to the next.
  save(named, {record_near_it("C=8", 100)});
  EXPECT_EQ(choose(named).plan, parse_plan("C=4"));
  EXPECT_EQ(Profiles::of_file(device, named).choose(matrix, device, parse_objective("cg")).reason,
            "predicted");
  // The identical pattern comes first, wherever it is.
  save(named, {record_near_it("C=8", 1)});
  save(in_cache("p.json"), {record_of_it("C=2")});
  EXPECT_EQ(choose(named).plan, parse_plan("C=2"));
  save(folder / "e.json", {record_of_it("C=4")});
  EXPECT_EQ(choose(named).plan, parse_plan("C=4"));
}

TEST_F(PlanChoiceTest, AProductSaysNothingOfTheLoopAroundIt) {
  ProfileRecord of_product = record_of_it("C=8,reductions=1,passes=1,launch=overlapped");
  of_product.objective = Objective::product();
  const std::string path = save(caches / "p.json", {of_product});
  const PlanChoice of_solve = choose(path, parse_objective("cg"));
  EXPECT_TRUE(of_solve.tuned);
  EXPECT_EQ(of_solve.plan.layout.lanes, 8);
  EXPECT_EQ(of_solve.plan.loop.single_reduction, predicted().loop.single_reduction);
  EXPECT_EQ(of_solve.plan.loop.fused_updates, predicted().loop.fused_updates);
  EXPECT_EQ(of_solve.plan.loop.launch, predicted().loop.launch);
  EXPECT_EQ(choose(path, Objective::product()).plan, of_product.plan);
}

TEST_F(PlanChoiceTest, FilesOfAFolderAnswerTogether) {
  save(in_cache("a.json"), {record_near_it("C=2", 1.9)});
  save(in_cache("b.json"), {record_near_it("C=4", 1.1)});
  save(in_cache("c.json"), {record_near_it("C=8", 1.1)});
  save(in_cache(".d.json"), {record_of_it("C=16")});
  save(in_cache("e.txt"), {record_of_it("C=32")});
  EXPECT_EQ(choose().plan, parse_plan("C=4"));
  ProfileRecord by_product = record_of_it("C=64");
  by_product.objective = Objective::product();
  save(in_cache("a.json"), {by_product});
  EXPECT_EQ(choose().plan, parse_plan("C=64"));
  save(in_cache("c.json"), {record_of_it("C=8")});
  EXPECT_EQ(choose().plan, parse_plan("C=8"));
  EXPECT_EQ(choose({}, Objective::product()).plan, parse_plan("C=64"));
}

TEST_F(PlanChoiceTest, NoneEndsTheList) {
  save(in_cache("p.json"), {record_of_it("C=2")});
  EXPECT_TRUE(choose().tuned);
  EXPECT_FALSE(choose("none").tuned);
  setenv("HEDDLE_PROFILE", "none", 1);
  EXPECT_FALSE(choose().tuned);
  const std::string named = save(folder / "n.json", {record_near_it("C=8", 1)});
  EXPECT_EQ(choose(named).plan, parse_plan("C=8"));
  setenv("HEDDLE_PROFILE", "", 1);
  EXPECT_TRUE(choose().tuned);
}

// ---- unusable profiles ----

std::vector<std::string> warnings_of(const Device& device,
                                     const std::optional<std::string>& path = {}) {
  return Profiles::for_device(device, path).warnings();
}

TEST_F(PlanChoiceTest, ProfilesOfOtherDevicesAreLeftOut) {
  Profile foreign = some_profile();
  foreign.device = some_gpu();
  foreign.records = {record_of_it("C=2")};
  const std::string path = folder / "gpu.json";
  foreign.save(path);
  const std::vector<std::string> warnings = {"a profile is not used: " + path +
                                             ": it is for a GPU"};
  EXPECT_EQ(warnings_of(device, path), warnings);
  EXPECT_EQ(choose(path).reason, "predicted");
  setenv("HEDDLE_PROFILE", path.c_str(), 1);
  EXPECT_EQ(warnings_of(device), warnings);
  EXPECT_EQ(choose().reason, "predicted");
  // A folder is for all devices.
  unsetenv("HEDDLE_PROFILE");
  foreign.save(in_cache("gpu.json"));
  EXPECT_TRUE(warnings_of(device).empty());
  EXPECT_EQ(choose().reason, "predicted");
}

TEST_F(PlanChoiceTest, ProfilesOfOtherVersionsAreLeftOut) {
  save(folder / "p.json", {record_of_it("C=2")});
  std::string text = contents(folder / "p.json");
  const std::string newer = folder.write(
      "newer.json",
      std::regex_replace(text, std::regex("\"schema\": 1"), "\"schema\": 2, \"key\": []"));
  const std::string unknown = folder.write(
      "unknown.json", std::regex_replace(text, std::regex("\"C=2\""), "\"C=2,weave=twill\""));
  for (const auto& [path, why] :
       {std::pair(newer, "schema: 2 is newer than 1, the one that is known here"),
        std::pair(unknown, "records[0].plan: there is no key 'weave'")}) {
    const std::string expected = std::string("a profile is not used: ") + path + ": " + why;
    ASSERT_EQ(warnings_of(device, path).size(), 1u);
    EXPECT_TRUE(warnings_of(device, path)[0].starts_with(expected)) << warnings_of(device, path)[0];
    EXPECT_EQ(choose(path).reason, "predicted");
    setenv("HEDDLE_PROFILE", path.c_str(), 1);
    EXPECT_TRUE(warnings_of(device)[0].starts_with(expected));
    unsetenv("HEDDLE_PROFILE");
    std::filesystem::copy_file(path, in_cache("p.json"));
    EXPECT_EQ(warnings_of(device).size(), 1u);
    EXPECT_EQ(choose().reason, "predicted");
    std::filesystem::remove(in_cache("p.json"));
  }
}

TEST_F(PlanChoiceTest, OnlyANamedFileMustBeThereAndWhole) {
  const std::string missing = folder / "missing.json";
  const std::string broken = folder.write("broken.json", "{\"schema\": 1");
  const auto kind_of = [&](const std::string& path) {
    try {
      warnings_of(device, path);
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(path), std::string::npos) << error.what();
      return error.kind();
    }
    return ErrorKind::internal;
  };
  EXPECT_EQ(kind_of(missing), ErrorKind::io);
  EXPECT_EQ(kind_of(broken), ErrorKind::bad_plan);
  for (const std::string& path : {missing, broken}) {
    setenv("HEDDLE_PROFILE", path.c_str(), 1);
    ASSERT_EQ(warnings_of(device).size(), 1u);
    EXPECT_TRUE(warnings_of(device)[0].starts_with("a profile is not used: " + path));
  }
  unsetenv("HEDDLE_PROFILE");
  std::filesystem::copy_file(broken, in_cache("broken.json"));
  save(in_cache("whole.json"), {record_of_it("C=2")});
  EXPECT_EQ(warnings_of(device).size(), 1u);
  EXPECT_TRUE(choose().tuned);
  std::filesystem::remove_all(profile_folder());
  EXPECT_TRUE(warnings_of(device).empty());
  EXPECT_EQ(choose().reason, "predicted");
}

TEST_F(PlanChoiceTest, APlanThatCannotRunIsLeftForAPrediction) {
  const std::string path = folder / "p.json";
  matrix = AnyMatrix(random_matrix<quaternion<double>>({.rows = 60, .columns = 59}, generator));
  save(path, {record_near_it("K1rs", 1)});
  Profile profile = Profile::load(path);
  profile.records[0].features.columns = 59;
  profile.save(path);
  const PlanChoice choice = choose(path, Objective::product());
  EXPECT_FALSE(choice.tuned);
  EXPECT_EQ(choice.reason, "predicted");
  EXPECT_EQ(choice.warning,
            "a plan is not used, tuned for a neighbour, 0.0 away (profile " + path +
                ", for cg): rows that are sorted in the permuted basis need a square matrix");
}

// ---- inputs of a choice ----

TEST_F(PlanChoiceTest, SubjectsAreNamedAsTheCommandLineNamesThem) {
  const PlanSubject subject = subject_of(matrix);
  EXPECT_EQ(subject.entry, "quaternion");
  EXPECT_EQ(subject.precision, "double");
  EXPECT_EQ(subject.entry_bytes, 32);
  EXPECT_EQ(subject.result_bytes, 32);
  const auto small = random_matrix<block<float, 3, 3>>({.rows = 10, .columns = 10}, generator);
  EXPECT_EQ(subject_of(small).entry, "block3");
  EXPECT_EQ(subject_of(small).precision, "single");
  EXPECT_EQ(subject_of(small).entry_bytes, 36);
  EXPECT_EQ(subject_of(small).result_bytes, 12);
  EXPECT_EQ(subject_of(AnyMatrix(small)).entry, "block3");
  const auto three =
      random_matrix<block<complex<double>, 3, 3>>({.rows = 10, .columns = 10}, generator);
  EXPECT_EQ(subject_of(three).entry, "complex-block3");
  EXPECT_EQ(subject_of(three).result_bytes, 48);
  // A typed matrix and one whose type is chosen at run time are the same to a profile.
  save(in_cache("p.json"), {record_of_it("C=2")});
  const Profiles profiles = Profiles::for_device(device);
  matrix.visit([&](const auto& typed) {
    EXPECT_EQ(choose_plan(typed, device, profiles), parse_plan("C=2"));
  });
}

TEST_F(PlanChoiceTest, TheFolderFollowsTheEnvironment) {
  EXPECT_EQ(profile_folder(), caches / "heddle/profiles");
  setenv("XDG_CACHE_HOME", "relative", 1);
  setenv("HOME", "/home/somebody", 1);
  EXPECT_EQ(profile_folder(), "/home/somebody/.cache/heddle/profiles");
  unsetenv("HOME");
  EXPECT_EQ(profile_folder(), "");
  EXPECT_TRUE(Profiles::for_device(device).warnings().empty());
}

}  // namespace
