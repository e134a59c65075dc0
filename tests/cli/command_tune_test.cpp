// Runs in both builds.
// `heddle tune` as its users see it. Times must exist, but their values are not checked.
#include <chrono>
#include <thread>

#include "cli/run.hpp"
#include "heddle/plan.hpp"
#include "support/where_it_runs.hpp"

namespace {

class Tune : public CommandLine {
 protected:
  void SetUp() override {
    for (const auto& [name, size] : {std::pair{"a.mtx", "400"}, {"b.mtx", "900"}}) {
      ASSERT_EQ(run({"generate", "poisson", "--size", size, "-o", name, "-q"}).status, 0);
    }
  }

  /// Arguments for a search of few runs that ends by itself or after a second.
  static std::vector<std::string> quick(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "tune");
    for (const char* argument : {"--max-runs", "3", "--seconds", "1", "--threads", "1"}) {
      arguments.emplace_back(argument);
    }
    return arguments;
  }
  nlohmann::json json_of(const std::string& name) const {
    return nlohmann::json::parse(text_of(name), nullptr, false);
  }
  static void expect_plan(const nlohmann::json& plan) {
    ASSERT_TRUE(plan.is_string()) << plan;
    EXPECT_NO_THROW(heddle::parse_plan(plan.get<std::string>())) << plan;
  }
};

TEST_F(Tune, WritesAProfileThatSolvesLoad) {
  const Result result = run(quick({"a.mtx", "-o", "p.json", "--objective", "cg"}));
  ASSERT_EQ(result.status, 0) << result.error;
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(files(), (Names{"a.mtx", "b.mtx", "p.json"}));
  for (const char* part : {"speed-up", "median", "memory", "written    p.json"}) {
    EXPECT_NE(result.out.find(part), std::string::npos) << part << "\n" << result.out;
  }
  const auto profile = json_of("p.json");
  ASSERT_EQ(profile["records"].size(), 1U) << profile;
  EXPECT_EQ(profile["records"][0]["matrix"], "a");
  const std::string plan = profile["records"][0]["plan"];
  EXPECT_NE(result.out.find("plan of a\n" + plan + "\n"), std::string::npos) << result.out;
  const Result solve = run({"solve", "a.mtx", "--profile", "p.json", "--threads", "1"});
  EXPECT_EQ(solve.status, 0) << solve.error;
  EXPECT_EQ(solve.error, "");
  EXPECT_NE(solve.out.find("tuned for this pattern"), std::string::npos) << solve.out;
}

TEST_F(Tune, EverySearch) {
  HEDDLE_RELEASE_ONLY();
  for (const std::string search : {"pruned", "full", "predict"}) {
    SCOPED_TRACE(search);
    const Result result = run(quick({"a.mtx", "--search", search, "-o", "p.json", "--json"}));
    ASSERT_EQ(result.status, 0) << result.error;
    const auto json = result.json();
    EXPECT_EQ(json["search"], search);
    EXPECT_EQ(json["profile"], "p.json");
    ASSERT_EQ(json["matrices"].size(), 1U);
    const auto& matrix = json["matrices"][0];
    expect_plan(matrix["plan"]);
    EXPECT_EQ(matrix["seconds"].is_null(), search == "predict");
    EXPECT_EQ(matrix["measured"] == 0, search == "predict");
    EXPECT_EQ(matrix["wrong"], 0);
    EXPECT_EQ(json_of("p.json")["records"][0]["search"], search);
  }
}

TEST_F(Tune, PageAndTrials) {
  HEDDLE_RELEASE_ONLY();
  const Result result = run(quick({"a.mtx", "-o", "p.json", "--html", "p.html", "--trials",
                                   "t.json", "--objective", "product"}));
  ASSERT_EQ(result.status, 0) << result.error;
  EXPECT_EQ(files(), (Names{"a.mtx", "b.mtx", "p.html", "p.json", "t.json"}));
  EXPECT_EQ(text_of("p.html").rfind("<!DOCTYPE html>", 0), 0U);
  const auto trials = json_of("t.json");
  const auto& matrix = trials["matrices"][0];
  EXPECT_GT(matrix["trials"].size(), 0U);
  EXPECT_GT(matrix["rows"], 0);
  EXPECT_EQ(matrix["layouts"][0]["layout"], "CSR");
  for (const auto& trial : matrix["trials"]) expect_plan(trial["plan"]);
}

TEST_F(Tune, SeveralMatricesAreADomain) {
  HEDDLE_RELEASE_ONLY();
  const Result result =
      run(quick({"a.mtx", "b.mtx", "--domain", "grids", "-o", "p.json", "--json"}));
  ASSERT_EQ(result.status, 0) << result.error;
  const auto json = result.json();
  ASSERT_EQ(json["matrices"].size(), 2U);
  EXPECT_EQ(json["domain"]["name"], "grids");
  expect_plan(json["domain"]["plan"]);
  EXPECT_GE(json["domain"]["regret"], 0);
  // With two matrices, leaving one out would test a plan that only suits the other.
  EXPECT_TRUE(json["domain"]["left_out"].empty());
  EXPECT_TRUE(json["domain"]["mean_left_out"].is_null());
  const auto profile = json_of("p.json");
  EXPECT_EQ(profile["records"].size(), 2U);
  EXPECT_EQ(profile["domains"].size(), 1U);

  // The loss on another matrix.
  ASSERT_EQ(run({"generate", "poisson", "--size", "625", "-o", "c.mtx", "-q"}).status, 0);
  const Result evaluated = run(quick({"c.mtx", "--evaluate", "p.json", "--json"}));
  ASSERT_EQ(evaluated.status, 0) << evaluated.error;
  const auto losses = evaluated.json();
  ASSERT_EQ(losses["matrices"].size(), 1U);
  EXPECT_EQ(losses["matrices"][0]["domain"], "grids");
  expect_plan(losses["matrices"][0]["plan"]["plan"]);
  EXPECT_EQ(losses["mean_loss"].is_null(), losses["matrices"][0]["loss"].is_null());
  const Result shown = run(quick({"a.mtx", "c.mtx", "--evaluate", "p.json"}));
  ASSERT_EQ(shown.status, 0) << shown.error;
  EXPECT_NE(shown.out.find("geometric mean of 2 matrices"), std::string::npos) << shown.out;
}

TEST_F(Tune, AppendMerges) {
  HEDDLE_RELEASE_ONLY();
  ASSERT_EQ(run(quick({"a.mtx", "-o", "p.json"})).status, 0);
  ASSERT_EQ(run(quick({"b.mtx", "-o", "p.json", "--append"})).status, 0);
  ASSERT_EQ(run(quick({"b.mtx", "-o", "p.json", "--append"})).status, 0);
  EXPECT_EQ(json_of("p.json")["records"].size(), 2U);
  ASSERT_EQ(run(quick({"b.mtx", "-o", "p.json"})).status, 0);
  EXPECT_EQ(json_of("p.json")["records"].size(), 1U);
  // A file that is no profile of this device stays unchanged, and is reported before anything is
  // measured.
  auto foreign = json_of("p.json");
  foreign["device"]["instructions"] = "those of another processor";
  for (const std::string& content : {std::string("{}"), foreign.dump()}) {
    folder.write("q.json", content);
    const Result result = run(quick({"a.mtx", "-o", "q.json", "--append"}));
    EXPECT_EQ(result.status, 2);
    EXPECT_EQ(result.error_lines(), 1U) << result.error;
    EXPECT_NE(result.error.find("q.json"), std::string::npos) << result.error;
    EXPECT_EQ(text_of("q.json"), content);
  }
}

TEST_F(Tune, WithoutAFileTheUsersCacheKeepsIt) {
  HEDDLE_RELEASE_ONLY();
  const auto tune_into_cache = [&](const std::string& matrix) {
    return shell("XDG_CACHE_HOME=$PWD/cache HEDDLE_PROFILE= $heddle tune " + matrix +
                 " --max-runs 3 --seconds 1 --threads 1");
  };
  for (const char* matrix : {"a.mtx", "b.mtx"}) {
    const Result result = tune_into_cache(matrix);
    ASSERT_EQ(result.status, 0) << result.error;
    EXPECT_NE(result.out.find("/cache/heddle/profiles/"), std::string::npos) << result.out;
  }
  std::vector<std::string> found;
  for (const auto& file : std::filesystem::directory_iterator(folder / "cache/heddle/profiles")) {
    found.push_back("cache/heddle/profiles/" + file.path().filename().string());
  }
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(json_of(found[0])["records"].size(), 2U);
  const Result solve =
      shell("XDG_CACHE_HOME=$PWD/cache HEDDLE_PROFILE= $heddle solve a.mtx --threads 1");
  EXPECT_NE(solve.out.find("tuned for this pattern"), std::string::npos) << solve.out;
}

TEST_F(Tune, ListsTheSpace) {
  HEDDLE_RELEASE_ONLY();
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"tune", "--list"},
        {"tune", "--list", "a.mtx"},
        {"tune", "--list", "--entry", "quaternion", "--objective", "product"}}) {
    const Result result = run(arguments);
    EXPECT_EQ(result.status, 0) << result.error;
    EXPECT_EQ(result.error, "");
    for (const char* part : {"--search full measures", "--search pruned", "outer layout", "C=n",
                             "vector-layout=soa", "schedule=dynamic", "prefetch-x=48"}) {
      EXPECT_NE(result.out.find(part), std::string::npos) << part << "\n" << result.out;
    }
  }
  const auto json = run({"tune", "--list", "a.mtx", "--json"}).json();
  EXPECT_GT(json["full"]["plans"], 100);
  EXPECT_GT(json["pruned"]["combinations"], json["full"]["plans"]);
  for (const auto& axis : json["full"]["axes"]) {
    for (const auto& choice : axis["choices"]) expect_plan(choice);
  }
}

struct BadOption {
  std::vector<std::string> arguments;
  std::string part;
};

TEST_F(Tune, RefusesWhatHasNoMeaning) {
  folder.write("broken.json", "{\"schema\": 1");
  const BadOption table[] = {
      {{"a.mtx", "--search", "lucky"}, "lucky"},
      {{"a.mtx", "--objective", "fun"}, "fun"},
      {{"a.mtx", "--max-memory-ratio", "0.5"}, "--max-memory-ratio"},
      {{"a.mtx", "--max-memory-ratio", "nan"}, "--max-memory-ratio"},
      {{"a.mtx", "--memory-weight", "-1"}, "--memory-weight"},
      {{"a.mtx", "--memory-weight", "inf"}, "--memory-weight"},
      {{"a.mtx", "--confidence", "1"}, "--confidence"},
      {{"a.mtx", "--tightness", "0"}, "--tightness"},
      {{"a.mtx", "--max-runs", "0"}, "--max-runs"},
      {{"a.mtx", "--seconds", "0"}, "--seconds"},
      {{"a.mtx", "--entry", "octonion"}, "octonion"},
      {{"a.mtx", "--device", "tpu"}, "tpu"},
      {{"a.mtx", "--append"}, "--output"},
      {{"a.mtx", "a.mtx"}, "twice"},
      {{"a.mtx", "-o", "x", "--html", "./x"}, "--html writes"},
      {{"a.mtx", "-o", "no-folder/p.json"}, "no-folder"},
      {{"a.mtx", "--html", "no-folder/p.html", "-o", "p.json"}, "no-folder"},
      {{"a.mtx", "--trials", ".", "-o", "p.json"}, "folder"},
      {{"a.mtx", "--search", "predict", "--trials", "t.json", "-o", "p.json"}, "--trials"},
      {{"a.mtx", "--search", "predict", "--evaluate", "broken.json"}, "predict"},
      {{"a.mtx", "--evaluate", "broken.json"}, "broken.json"},
      {{"a.mtx", "--evaluate", "none.json"}, "none.json"},
      {{"a.mtx", "--evaluate", "broken.json", "-o", "p.json"}, "--evaluate"},
      {{"--list", "-o", "p.json"}, "--list"},
      {{"--list", "a.mtx", "b.mtx"}, "--list"},
      {{}, "no matrix"},
      {{"none.mtx", "-o", "p.json"}, "none.mtx"}};
  const Names before = files();
  for (const BadOption& bad : table) {
    std::vector<std::string> arguments = {"tune"};
    arguments.insert(arguments.end(), bad.arguments.begin(), bad.arguments.end());
    const Result result = run(arguments);
    SCOPED_TRACE(testing::PrintToString(bad.arguments));
    EXPECT_EQ(result.status, 2) << result.out;
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(result.error_lines(), 1U) << result.error;
    EXPECT_NE(result.error.find(bad.part), std::string::npos) << result.error;
    EXPECT_EQ(files(), before);
  }
}

TEST_F(Tune, InterruptKeepsWhatWasMeasured) {
  HEDDLE_RELEASE_ONLY();
  ASSERT_EQ(run({"generate", "poisson", "--size", "40000", "-o", "d.mtx", "-q"}).status, 0);
  // There are far more plans than can be measured before the signal arrives; nothing is kept before
  // the first.
  Result result;
  for (const int seconds : {2, 8, 32, 128}) {
    Process process(
        HEDDLE_PROGRAM,
        {"tune", "d.mtx", "--search", "full", "--max-runs", "1000", "--tightness", "0.0001",
         "--threads", "1", "-o", "p.json", "--html", "p.html", "--trials", "t.json"},
        folder / "");
    std::this_thread::sleep_for(std::chrono::seconds(seconds));
    ASSERT_FALSE(process.has_ended()) << process.wait().error;
    process.signal(SIGINT);
    result = process.wait();
    ASSERT_EQ(result.status, 130) << result.error;
    if (files().contains("p.json")) break;
  }
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(files(), (Names{"a.mtx", "b.mtx", "d.mtx", "p.json", "p.html", "t.json"}));
  EXPECT_NE(result.out.find("cancelled"), std::string::npos) << result.out;
  EXPECT_EQ(json_of("p.json")["records"].size(), 1U);
  const auto trials = json_of("t.json");
  EXPECT_TRUE(trials["cancelled"]);
  EXPECT_GT(trials["matrices"][0]["trials"].size(), 0U);
}

TEST_F(Tune, HelpHasAnExample) {
  const Result result = run({"tune", "--help"});
  EXPECT_EQ(result.status, 0);
  EXPECT_NE(result.out.find("Example: heddle tune"), std::string::npos);
}

}  // namespace
