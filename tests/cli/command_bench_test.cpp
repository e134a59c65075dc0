// Runs in the release.
// `heddle bench` as its users see it. Times must exist, but their values are not checked.
#include <chrono>
#include <cstdlib>
#include <thread>

#include "cli/run.hpp"
#include "cli/small_systems.hpp"
#include "support/where_it_runs.hpp"

namespace {

class Bench : public CommandLine {
 protected:
  static Names problems_of(const nlohmann::json& run, const std::string& suite) {
    Names names;
    for (const auto& record : run["records"]) {
      if (record["suite"] == suite) names.insert(record["problem"]);
    }
    return names;
  }
  /// Every candidate has a figure or a reason for having none. Heddle's chosen candidate has a
  /// figure, if there is one: sums of element values have none.
  static void expect_figures(const nlohmann::json& run) {
    for (const auto& record : run["records"]) {
      SCOPED_TRACE(record["suite"].get<std::string>() + " " + record["problem"].get<std::string>() +
                   " " + record["quantity"].get<std::string>());
      EXPECT_FALSE(record["candidates"].empty());
      bool chosen = false;
      for (const auto& candidate : record["candidates"]) {
        const bool has_figure = candidate.contains("seconds") || candidate.contains("memory_ratio");
        EXPECT_TRUE(has_figure || candidate.contains("failure")) << candidate;
        // Other work on the machine does not fail the test.
        const bool was_busy =
            candidate.value("failure", "").find("the machine was too busy") != std::string::npos;
        chosen |= candidate["role"] == "chosen" && (has_figure || was_busy);
      }
      EXPECT_TRUE(chosen || record["quantity"] == "sum");
    }
  }
};

/// Takes minutes: without HEDDLE_DEEP_CHECK only the example of the help runs, with all suites
/// except the solvers', on one problem.
TEST_F(Bench, QuickRunOfEverything) {
  if (std::getenv("HEDDLE_DEEP_CHECK") == nullptr) {
    GTEST_SKIP() << "HEDDLE_DEEP_CHECK is not set";
  }
  const Result result =
      run({"bench", "--quick", "--repetitions", "3", "-o", "run.json", "--html", "run.html"});
  ASSERT_EQ(result.status, 0) << result.error;
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(files(), (Names{"run.json", "run.html"}));
  EXPECT_NE(result.out.find("surface-34834"), std::string::npos);
  EXPECT_EQ(text_of("run.html").rfind("<!DOCTYPE html>", 0), 0U);
  const auto json = nlohmann::json::parse(text_of("run.json"));
  EXPECT_TRUE(json["quick"]);
  EXPECT_FALSE(json["interrupted"]);
  EXPECT_EQ(json["device_kind"], "cpu");
  EXPECT_GT(json["bandwidth"], 0);
  EXPECT_EQ(json["command"], "heddle bench --quick --repetitions 3 -o run.json --html run.html");
  const Names all = {"surface-2562", "surface-34834", "solid-1016", "filter-1280"};
  EXPECT_EQ(problems_of(json, "product"), all);
  EXPECT_EQ(problems_of(json, "layouts"), all);
  EXPECT_EQ(problems_of(json, "setup"), all);
  EXPECT_EQ(problems_of(json, "solver"), (Names{"surface-2562", "solid-1016", "filter-1280"}));
  for (const char* suite : {"right-hand-sides", "pjds"}) {
    EXPECT_EQ(problems_of(json, suite), (Names{"surface-2562", "solid-1016"})) << suite;
  }
  EXPECT_EQ(problems_of(json, "scaling"), (Names{"rows-surface-4096", "rows-surface-16384",
                                                 "length-complex-4", "length-complex-16"}));
  expect_figures(json);
  // A run compared with itself shows no change.
  const Result same = run({"bench", "--compare", "run.json", "run.json"});
  EXPECT_EQ(same.status, 0) << same.error;
  std::filesystem::create_directory(folder / "runs");
  std::filesystem::copy(folder / "run.json", folder / "runs/a.json");
  const Result page = run({"bench", "--results", "runs", "-o", "results.md"});
  EXPECT_EQ(page.status, 0) << page.error;
  EXPECT_NE(text_of("results.md").find("surface-34834"), std::string::npos);
}

TEST_F(Bench, OneSuiteOfOneProblem) {
  HEDDLE_DEEP_CHECK_ONLY();
  const Result result =
      run({"bench", "--suite", "product", "--problem", "solid-1016", "--quick", "--plan", "Sl-32",
           "--plan", "chosen,schedule=dynamic", "--json", "--repetitions", "3"});
  EXPECT_EQ(result.status, 0) << result.error;
  const auto json = result.json();
  EXPECT_EQ(json["records"].size(), 1U);
  expect_figures(json);
  Names methods;
  for (const auto& candidate : json["records"][0]["candidates"]) {
    methods.insert(candidate["method"].get<std::string>().substr(0, 5));
  }
  EXPECT_TRUE(methods.contains("C=32")) << result.out;
  EXPECT_EQ(files(), Names{});
}

TEST_F(Bench, MatricesOfAFolder) {
  HEDDLE_DEEP_CHECK_ONLY();
  std::filesystem::create_directory(folder / "in");
  folder.write("in/b.mtx", matrix_market(real_matrix(12)));
  folder.write("in/a.mtx", complex_system("complex", 5).text);
  folder.write("in/broken.mtx", "nonsense");
  folder.write("in/readme.txt", "not a matrix");
  const Result result = run({"bench", "--matrices", "in", "--suite", "product", "--quick", "--json",
                             "--repetitions", "3"});
  EXPECT_EQ(result.status, 0) << result.error;
  const auto json = result.json();
  ASSERT_EQ(json["records"].size(), 3U);
  EXPECT_EQ(json["records"][0]["entry"], "complex");
  EXPECT_EQ(json["records"][1]["entry"], "real");
  EXPECT_TRUE(json["records"][2]["candidates"][0].contains("failure"));
}

TEST_F(Bench, WritesProblemsForOthers) {
  std::filesystem::create_directory(folder / "out");
  const Result written = run({"bench", "--write-problems", "out", "--problem", "solid-1016",
                              "--problem", "surface-34834-single"});
  ASSERT_EQ(written.status, 0) << written.error;
  EXPECT_NE(written.out.find("solid-1016.npz (--entry block3)"), std::string::npos) << written.out;
  const Result solid = run({"info", "out/solid-1016.npz", "--entry", "block3", "--json"});
  ASSERT_EQ(solid.status, 0) << solid.error;
  EXPECT_EQ(solid.json()["rows"], 1016);
  const Result surface =
      run({"info", "out/surface-34834-single.npz", "--entry", "quaternion", "--json"});
  ASSERT_EQ(surface.status, 0) << surface.error;
  EXPECT_EQ(surface.json()["rows"], 34834);
}

TEST_F(Bench, ResultsHoldWhatTuningFound) {
  std::filesystem::create_directories(folder / "runs/tuning");
  const Result measured = run({"bench", "--quick", "--suite", "layouts", "--problem", "solid-1016",
                               "--quiet", "-o", "runs/a.json"});
  ASSERT_EQ(measured.status, 0) << measured.error;
  std::filesystem::create_directory(folder / "in");
  run({"bench", "--write-problems", "in", "--problem", "solid-1016", "--quiet"});
  const Result tuned = run({"tune", "in/solid-1016.npz", "--entry", "block3", "--seconds", "2",
                            "--max-runs", "3", "-o", "p.json", "--json", "--quiet"});
  ASSERT_EQ(tuned.status, 0) << tuned.error;
  folder.write("runs/tuning/t.json", tuned.out);
  const Result page = run({"bench", "--results", "runs"});
  EXPECT_EQ(page.status, 0) << page.error;
  EXPECT_NE(page.out.find("## Tuning on "), std::string::npos);
  EXPECT_NE(page.out.find("| solid-1016, block3 | 1 016 | cg | pruned |"), std::string::npos)
      << page.out;
  folder.write("runs/tuning/u.json", "{\"device\": 3}");
  const Result broken = run({"bench", "--results", "runs"});
  EXPECT_EQ(broken.status, 2);
  EXPECT_EQ(broken.error_lines(), 1U) << broken.error;
}

TEST_F(Bench, Lists) {
  const Result all = run({"bench", "--list"});
  EXPECT_EQ(all.status, 0) << all.error;
  for (const char* name : {"surface-6000000", "solid-1016", "device-74104", "rows-solid-4096"}) {
    EXPECT_NE(all.out.find("\n" + std::string(name) + " "), std::string::npos) << name;
  }
  const Result some = run({"bench", "--list", "--suite", "scaling", "--quick"});
  EXPECT_EQ(std::count(some.out.begin(), some.out.end(), '\n'), 5);
}

TEST_F(Bench, NamesWhatThereIs) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> mistakes = {
      {{"--suite", "speed"},
       "there are: product, solver, right-hand-sides, layouts, setup, scaling"},
      {{"--problem", "cube"}, "surface-34834"},
      {{"--suite", "primitives"}, "the suite primitives needs a GPU: --device cuda"},
      {{"--device", "tpu"}, "there are: cpu, cuda, cuda:N, auto"},
      {{"--plan", "C=99"}, "C=99"},
      {{"--matrices", "nowhere"}, "nowhere"},
      {{"--entry", "octonion", "--matrices", "."}, "quaternion"},
      {{"--tolerance", "2"}, "--tolerance"},
      {{"-o", "no/such/folder.json"}, "no/such"},
      {{"--suite", "scaling", "--problem", "solid-1016"}, "--list"},
      {{"--compare", "a.json", "b.json"}, "a.json"},
      {{"--results", "."}, ".json"},
      {{"--write-problems", "nowhere"}, "nowhere"},
  };
  for (const auto& [options, expected] : mistakes) {
    std::vector<std::string> arguments = {"bench"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const Result result = run(arguments);
    EXPECT_EQ(result.status, 2) << options[0];
    EXPECT_EQ(result.error_lines(), 1U) << result.error;
    EXPECT_NE(result.error.find(expected), std::string::npos) << result.error;
    EXPECT_EQ(result.out, "");
  }
}

TEST_F(Bench, KeepsWhatWasMeasuredBeforeAnInterrupt) {
  Result result;
  // Before the first measurement there is nothing to keep, and with all checks enabled it takes
  // long.
  for (const int seconds : {5, 20, 60}) {
    if (!files().empty()) break;
    Process process(HEDDLE_PROGRAM,
                    {"bench", "--problem", "surface-2562", "--suite", "layouts", "--suite",
                     "product", "--suite", "solver", "--repetitions", "100000", "-o", "run.json"},
                    folder / "");
    std::this_thread::sleep_for(std::chrono::seconds(seconds));
    ASSERT_FALSE(process.has_ended());
    process.signal(SIGINT);
    result = process.wait();
    EXPECT_EQ(result.status, 130) << result.error;
  }
  ASSERT_EQ(files(), Names{"run.json"});
  const auto json = nlohmann::json::parse(text_of("run.json"));
  EXPECT_FALSE(json["records"].is_null());
  EXPECT_TRUE(json["interrupted"]);
  EXPECT_NE(result.out.find("heddle bench"), std::string::npos);
}

TEST_F(Bench, KeepsWhatWasMeasuredBeforeItIsKilled) {
  Process process(HEDDLE_PROGRAM,
                  {"bench", "--quick", "--problem", "solid-1016", "--problem", "surface-2562",
                   "--problem", "filter-1280", "--suite", "product", "-o", "run.json"},
                  folder / "");
  while (!process.has_ended() && !files().contains("run.json")) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  process.signal(SIGKILL);
  EXPECT_EQ(process.wait().status, 128 + SIGKILL);
  const auto json = nlohmann::json::parse(text_of("run.json"));
  EXPECT_FALSE(json["records"].empty());
  EXPECT_TRUE(json["interrupted"]);
}

}  // namespace
