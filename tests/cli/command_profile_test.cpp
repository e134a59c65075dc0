// Runs in both builds.
// Profiles as the commands use them: the plan that runs, and messages about it.
#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "cli/run.hpp"
#include "heddle/plan_choice.hpp"
#include "heddle/read.hpp"
#include "support/scoped_environment.hpp"
#include "support/tuning/profiles.hpp"
#include "support/where_it_runs.hpp"

namespace {

using namespace heddle;
using namespace heddle::test;

class CommandProfile : public CommandLine {
 protected:
  void SetUp() override {
    setenv("HEDDLE_PROFILE", "none", 1);
    setenv("XDG_CACHE_HOME", (caches / "").c_str(), 1);
    const Result made = run({"generate", "dirac", "--size", "300", "-o", "a.mtx", "--quiet"});
    ASSERT_EQ(made.status, 0) << made.error;
  }

  /// A record for the matrix, solved by cg.
  ProfileRecord record(const std::string& plan) const {
    const auto matrix = read_matrix<quaternion<double>>(folder / "a.mtx");
    ProfileRecord record = some_record("a.mtx", "0", plan);
    record.fingerprint = fingerprint(matrix.view().pattern());
    record.features = pattern_features(matrix.view().pattern());
    return record;
  }
  void save(const std::string& path, const std::vector<ProfileRecord>& records) const {
    Profile profile = some_profile();
    profile.records = records;
    profile.save(path);
  }
  Result solve(std::vector<std::string> options) const {
    options.insert(options.begin(), {"solve", "a.mtx", "--entry", "quaternion"});
    return run(options);
  }
  Result spmv(std::vector<std::string> options) const {
    options.insert(options.begin(),
                   {"spmv", "a.mtx", "--entry", "quaternion", "--repetitions", "1"});
    return run(options);
  }

  const ScopedEnvironment profile{"HEDDLE_PROFILE", nullptr}, cache{"XDG_CACHE_HOME", nullptr};
  TemporaryFolder caches;
  const std::string tuned = to_string(parse_plan("C=4,schedule=dynamic"));
};

TEST_F(CommandProfile, SolvesUnderItsPlanAndSaysSo) {
  save(folder / "p.json", {record("C=4,schedule=dynamic")});
  const Result predicted = solve({"--json", "-o", "x.mtx"});
  EXPECT_EQ(predicted.json()["plan_reason"], "predicted");
  EXPECT_EQ(predicted.error, "");
  const Result result = solve({"--profile", "p.json", "--json", "-o", "y.mtx"});
  ASSERT_EQ(result.status, 0) << result.error;
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(result.json()["plan"], tuned);
  EXPECT_EQ(result.json()["plan_reason"], "tuned for this pattern (profile p.json)");
  EXPECT_LE(result.json()["residual"].get<double>(), 1e-10);
  const Result text = solve({"--profile", "p.json"});
  EXPECT_NE(text.out.find("plan       " + tuned + "\nreason     tuned for this pattern"),
            std::string::npos)
      << text.out;
  EXPECT_EQ(solve({"--profile", "p.json", "--solver", "bicgstab", "--json"}).json()["plan_reason"],
            "tuned for this pattern (profile p.json, for cg)");
}

TEST_F(CommandProfile, ItsPlanCanBeChangedAndNamed) {
  save(folder / "p.json", {record("C=4,schedule=dynamic")});
  auto report = solve({"--profile", "p.json", "--plan", "chosen", "--json"}).json();
  EXPECT_EQ(report["plan"], tuned);
  report = solve({"--profile", "p.json", "--plan", "chosen,chunk=2", "--json"}).json();
  EXPECT_EQ(report["plan"], to_string(parse_plan("C=4,schedule=dynamic,chunk=2")));
  EXPECT_EQ(report["plan_reason"], "tuned for this pattern (profile p.json), changed by --plan");
  EXPECT_EQ(solve({"--plan", "CSR", "--json"}).json()["plan_reason"], "by --plan");
  EXPECT_EQ(solve({"--plan", "chosen,chunk=2", "--json"}).json()["plan_reason"],
            "predicted, changed by --plan");
  for (const Result& both : {solve({"--plan", "CSR", "--profile", "p.json"}),
                             spmv({"--plan", "CSR", "--profile", "p.json"})}) {
    EXPECT_EQ(both.status, 2);
    EXPECT_EQ(both.error,
              "heddle: --profile chooses a plan, and --plan names one: give one of "
              "them\n");
  }
}

TEST_F(CommandProfile, ProductsRunUnderItsPlan) {
  HEDDLE_RELEASE_ONLY();
  ProfileRecord by_product = record("C=8");
  by_product.objective = Objective::product();
  save(folder / "p.json", {record("C=4,schedule=dynamic"), by_product});
  const Result result =
      spmv({"--profile", "p.json", "--plan", "CSR", "--plan", "chosen", "--json"});
  ASSERT_EQ(result.status, 0) << result.error;
  const auto products = result.json()["products"];
  ASSERT_EQ(products.size(), 2u);
  EXPECT_EQ(products[0]["plan_reason"], "by --plan");
  EXPECT_EQ(products[1]["plan"], to_string(parse_plan("C=8")));
  EXPECT_EQ(products[1]["plan_reason"], "tuned for this pattern (profile p.json)");
  EXPECT_NE(spmv({"--profile", "p.json"}).out.find("\nreason      tuned for this pattern"),
            std::string::npos);
}

TEST_F(CommandProfile, IsFoundWhereNobodyNamesIt) {
  std::filesystem::create_directories(profile_folder());
  save(profile_folder() + "/p.json", {record("C=4")});
  EXPECT_EQ(solve({"--json"}).json()["plan_reason"], "predicted");  // HEDDLE_PROFILE=none
  setenv("HEDDLE_PROFILE", "", 1);
  EXPECT_EQ(solve({"--json"}).json()["plan_reason"],
            "tuned for this pattern (profile " + profile_folder() + "/p.json)");
  EXPECT_EQ(solve({"--profile", "none", "--json"}).json()["plan_reason"], "predicted");
  save(folder / "e.json", {record("C=16")});
  setenv("HEDDLE_PROFILE", "e.json", 1);
  EXPECT_EQ(solve({"--json"}).json()["plan_reason"], "tuned for this pattern (profile e.json)");
}

TEST_F(CommandProfile, ThatCannotBeUsedIsAWarningAndNoFailure) {
  HEDDLE_RELEASE_ONLY();
  save(folder / "p.json", {record("C=4")});
  Profile foreign = Profile::load(folder / "p.json");
  foreign.device = some_gpu();
  foreign.save(folder / "gpu.json");
  std::string newer = text_of("p.json");
  newer.replace(newer.find("\"schema\": 1"), 11, "\"schema\": 9");
  folder.write("newer.json", newer);
  for (const auto& [name, why] :
       {std::pair("gpu.json", "it is for a GPU"),
        std::pair("newer.json", "schema: 9 is newer than 1, the one that is known here")}) {
    const std::string expected =
        std::string("heddle: warning: a profile is not used: ") + name + ": " + why + "\n";
    const Result named = solve({"--profile", name, "--json"});
    EXPECT_EQ(named.status, 0);
    EXPECT_EQ(named.error, expected);
    EXPECT_EQ(named.json()["plan_reason"], "predicted");
    EXPECT_EQ(solve({"--profile", name, "--quiet"}).error, "");
    setenv("HEDDLE_PROFILE", name, 1);
    const Result by_environment = spmv({});
    EXPECT_EQ(by_environment.status, 0);
    EXPECT_EQ(by_environment.error, expected);
    EXPECT_EQ(spmv({"--plan", "CSR"}).error, "");  // no plan needs the profile
    setenv("HEDDLE_PROFILE", "none", 1);
  }
}

TEST_F(CommandProfile, NamedButMissingOrBrokenIsAnError) {
  folder.write("broken.json", "{\"schema\": 1, \"records\": 7}");
  for (const auto& [name, message] :
       {std::pair("missing.json", "missing.json: No such file or directory"),
        std::pair("broken.json", "broken.json: version: is missing")}) {
    const Result result = solve({"--profile", name, "--output", "x.mtx"});
    EXPECT_EQ(result.status, 2);
    EXPECT_EQ(result.error, std::string("heddle: ") + message + "\n");
    EXPECT_EQ(result.out, "");
  }
  EXPECT_EQ(files(), (Names{"a.mtx", "broken.json"}));
}

TEST_F(CommandProfile, APlanThatIsRefusedWhereItIsBuiltIsLeftForAPrediction) {
  // Numbers beyond the range of a float have no copy in floats: this is detected when the copy is
  // made.
  std::string text = "%%MatrixMarket matrix coordinate real symmetric\n4 4 4\n";
  for (int i = 1; i <= 4; ++i) text += std::to_string(i) + " " + std::to_string(i) + " 1e200\n";
  folder.write("large.mtx", text);
  const auto matrix = read_matrix<real<double>>(folder / "large.mtx");
  ProfileRecord record = some_record("large.mtx", "0", "stored=float");
  record.entry = "real";
  record.fingerprint = fingerprint(matrix.view().pattern());
  record.features = pattern_features(matrix.view().pattern());
  save(folder / "p.json", {record});
  const Result result = run({"solve", "large.mtx", "--profile", "p.json", "--json"});
  EXPECT_EQ(result.status, 0) << result.out;
  EXPECT_EQ(result.json()["plan_reason"], "predicted");
  EXPECT_EQ(result.json()["stored"], "own");
  EXPECT_EQ(result.error_lines(), 1u);
  EXPECT_TRUE(result.error.starts_with(
      "heddle: warning: a plan is not used, tuned for this pattern (profile p.json): plan: "))
      << result.error;
}

/// The matrix has the tuned pattern, but other values than those that were tuned.
TEST_F(CommandProfile, AnExactCopyThatTheValuesRefuseIsLeftOut) {
  save(folder / "p.json", {record("C=4,iteration-precision=unit")});
  const Result result = solve({"--profile", "p.json", "--json"});
  EXPECT_EQ(result.status, 0) << result.out;
  EXPECT_EQ(result.json()["plan"], to_string(parse_plan("C=4")));
  EXPECT_EQ(result.json()["plan_reason"], "tuned for this pattern (profile p.json)");
  EXPECT_EQ(result.error_lines(), 1u);
  EXPECT_TRUE(result.error.starts_with(
      "heddle: warning: an exact copy is not used, tuned for this pattern (profile p.json): plan: "
      "iteration-precision=unit: the entry of row "))
      << result.error;
}

TEST_F(CommandProfile, ComesWithAnInstallation) {
  namespace fs = std::filesystem;
  fs::create_directories(folder / "bin");
  fs::create_directories(folder / "share/heddle/profiles");
  fs::copy_file(HEDDLE_PROGRAM, folder / "bin/heddle");
  save(folder / "share/heddle/profiles/p.json", {record("C=4")});
  setenv("HEDDLE_PROFILE", "", 1);
  const std::vector<std::string> arguments = {"solve", "a.mtx", "--entry", "quaternion", "--json"};
  const Result result = Process(folder / "bin/heddle", arguments, folder / "").wait();
  ASSERT_EQ(result.status, 0) << result.error;
  const std::string reason = result.json()["plan_reason"];
  EXPECT_TRUE(reason.starts_with("tuned for this pattern (profile /")) << reason;
  EXPECT_TRUE(reason.ends_with("share/heddle/profiles/p.json)")) << reason;
  // The installed profile is asked last.
  fs::create_directories(profile_folder());
  save(profile_folder() + "/p.json", {record("C=8")});
  EXPECT_EQ(Process(folder / "bin/heddle", arguments, folder / "").wait().json()["plan"],
            to_string(parse_plan("C=8")));
}

TEST_F(CommandProfile, BenchTriesItsPlan) {
  HEDDLE_DEEP_CHECK_ONLY();
  ProfileRecord by_product = record("C=8");
  by_product.objective = Objective::product();
  save(folder / "p.json", {by_product});
  std::filesystem::create_directories(folder / "matrices");
  std::filesystem::copy_file(folder / "a.mtx", folder / "matrices/a.mtx");
  const auto plans_of = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments = {"bench",      "--matrices", "matrices", "--entry",
                                          "quaternion", "--suite",    "product",  "--repetitions",
                                          "3",          "--quick",    "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Result result = run(arguments);
    EXPECT_EQ(result.status, 0) << result.error;
    std::map<std::string, std::string> roles;
    const nlohmann::json candidates = result.json()["records"][0]["candidates"];
    for (const auto& candidate : candidates) {
      if (candidate["library"] == "Heddle") roles[candidate["method"]] = candidate["role"];
    }
    return roles;
  };
  const std::string plan = to_string(parse_plan("C=8"));
  EXPECT_FALSE(plans_of({}).contains(plan));
  const auto roles = plans_of({"--profile", "p.json"});
  ASSERT_TRUE(roles.contains(plan));
  EXPECT_TRUE(roles.at(plan) == "tried" || roles.at(plan) == "best") << roles.at(plan);
  EXPECT_EQ(run({"bench", "--profile", "missing.json", "--problem", "surface-2562"}).status, 2);
}

}  // namespace
