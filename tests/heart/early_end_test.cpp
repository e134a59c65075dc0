// Runs of `heddle-heart` that end early, and runs that continue from a state.
#include <chrono>
#include <filesystem>
#include <thread>

#include "heart/command_heart.hpp"

namespace heddle::heart::test {
namespace {

/// Waits until a process, which does not end on its own, has created `path`.
void wait_for(const Process& process, const std::string& path) {
  while (!std::filesystem::exists(path)) {
    ASSERT_FALSE(process.has_ended());
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

TEST_F(CommandHeart, KeepsItsStateAtAnInterruption) {
  folder.write("case.json",
               changed(changed(small(), "/time/end", 50000), "/output_every", 1000).dump());
  Process process(HEDDLE_HEART_PROGRAM,
                  {"--case", "case.json", "--restart", "s", "--output", "w.pvd", "-q"},
                  folder / "");
  while (!std::filesystem::exists(folder / "w-000000.vtu")) {
    ASSERT_FALSE(process.has_ended());
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  process.signal(SIGINT);
  const Result result = process.wait();
  EXPECT_EQ(result.status, 130) << result.error;
  EXPECT_TRUE(files().contains("s"));
}

/// A limit on file sizes that admits the state, but not the growing traces.
TEST_F(CommandHeart, KeepsItsStateWhereTracesAreNotWritten) {
  folder.write("case.json", changed(small(), "/time/end", 30).dump());
  const Result result = Process("/bin/sh",
                                {"-c", std::string("ulimit -f 32; ") + HEDDLE_HEART_PROGRAM +
                                           " --case case.json --restart s --traces t.csv -q"},
                                folder / "")
                            .wait();
  EXPECT_NE(result.status, 0);
  EXPECT_EQ(result.error.substr(0, 36), "heddle-heart: t.csv: cannot write: F") << result.error;
  ASSERT_TRUE(files().contains("s"));
  const Result whole = tissue(changed(small(), "/time/end", 30), {"--activation", "a.vtu"});
  ASSERT_EQ(whole.status, 0) << whole.error;
  const Result rest = tissue(changed(small(), "/time/end", 30),
                             {"--resume", "s", "--activation", "b.vtu", "--json"});
  ASSERT_EQ(rest.status, 0) << rest.error;
  EXPECT_GT(rest.json()["first_step"], 100);
  EXPECT_EQ(text_of("a.vtu"), text_of("b.vtu"));
}

TEST_F(CommandHeart, EndsWhereASolveFails) {
  const json of = changed(small(), "/solver", {{"tolerance", 1e-12}, {"max_iterations", 3}});
  const Result result =
      tissue(of, {"--output", "w.pvd", "--activation", "a.vtu", "--traces", "t.csv", "--json"});
  EXPECT_EQ(result.status, 1);
  EXPECT_EQ(result.error.find("heddle-heart: at 0.05 ms the step was not solved: iteration "
                              "limit; the potential is largest at vertex "),
            0U)
      << result.error;
  EXPECT_EQ(result.error_lines(), 1U);
  EXPECT_EQ(files(), (Names{"case.json", "w.pvd", "w-000000.vtu", "t.csv", "a.vtu"}));
  EXPECT_EQ(result.json()["failure"]["finite"], true);
}

TEST_F(CommandHeart, NamesWhatIsNotFinite) {
  json of = small();
  // A current that makes Euler's rule for the membranes overflow.
  of["stimuli"][0]["amplitude"] = 5000;
  of["time"]["step"] = 0.5;
  const Result result = tissue(of, {"--json"});
  EXPECT_EQ(result.status, 1);
  const json failure = result.json()["failure"];
  EXPECT_EQ(failure["finite"], false);
  EXPECT_NE(result.error.find("ms the potential is not finite, first at vertex "),
            std::string::npos)
      << result.error;
}

TEST_F(CommandHeart, ReportsAnInterruption) {
  folder.write("case.json",
               changed(changed(small(), "/time/end", 50000), "/output_every", 1000).dump());
  Process process(HEDDLE_HEART_PROGRAM,
                  {"--case", "case.json", "--activation", "a.vtu", "--picture", "a.png", "--traces",
                   "t.csv", "--json"},
                  folder / "");
  // Waits until after the stimulus.
  while (!files().contains("t.csv") || std::filesystem::file_size(folder / "t.csv") < 10000) {
    ASSERT_FALSE(process.has_ended());
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  process.signal(SIGINT);
  const Result result = process.wait();
  EXPECT_EQ(result.status, 130) << result.error;
  EXPECT_EQ(files(), (Names{"case.json", "a.vtu", "a.png", "t.csv"}));
  const json report = result.json();
  EXPECT_EQ(report["status"], "interrupted");
  EXPECT_GT(report["activated"], 0);
  EXPECT_EQ(report["warnings"], json::array());
}

TEST_F(CommandHeart, KeepsItsStateWhereStatesAreNotWritten) {
  std::filesystem::create_directory(folder / "z");
  const json of = changed(changed(small(), "/time/end", 50000), "/output_every", 2);
  folder.write("case.json", of.dump());
  Process process(HEDDLE_HEART_PROGRAM,
                  {"--case", "case.json", "--output", "z/u.pvd", "--restart", "s", "-q"},
                  folder / "");
  wait_for(process, folder / "z/u-000080.vtu");
  // While a state is being written, the folder may not be removable at once.
  for (std::error_code error; std::filesystem::exists(folder / "z");) {
    std::filesystem::remove_all(folder / "z", error);
  }
  const Result result = process.wait();
  EXPECT_EQ(result.status, 3);
  EXPECT_EQ(result.error_lines(), 1U);
  EXPECT_NE(result.error.find(": cannot write: No such file or directory; s has the state at "),
            std::string::npos)
      << result.error;
  ASSERT_TRUE(files().contains("s"));
  Process rest(HEDDLE_HEART_PROGRAM,
               {"--case", "case.json", "--resume", "s", "--traces", "t.csv", "--json"},
               folder / "");
  wait_for(rest, folder / "t.csv");
  rest.signal(SIGINT);
  EXPECT_GE(rest.wait().json()["first_step"], 80);
}

/// A killed run leaves no state newer than the frames: a run that continues has all of them.
TEST_F(CommandHeart, LosesNoFrameWhereItIsKilled) {
  const json of = changed(changed(small(), "/time/end", 4), "/output_every", 0.05);
  const auto frames = [this] {
    std::string times;
    const std::string text = text_of("w.pvd");
    for (std::size_t at = 0; (at = text.find("timestep=", at)) != std::string::npos; ++at) {
      times += text.substr(at, text.find(" group", at) - at) + "\n";
    }
    return times;
  };
  ASSERT_EQ(tissue(of, {"--output", "w.pvd", "-q"}).status, 0);
  const std::string whole = frames();
  ASSERT_NE(whole.find("\"4\""), std::string::npos) << whole;
  const std::vector<std::string> words = {
      "--case", "case.json", "--output", "w.pvd",           "--restart", "s",
      "-q",     "--threads", "1",        "--restart-every", "0.05"};
  for (const int milliseconds : {0, 7, 19, 31}) {
    for (const auto& file : files()) {
      if (file != "case.json") std::filesystem::remove(folder / file);
    }
    Process process(HEDDLE_HEART_PROGRAM, words, folder / "");
    wait_for(process, folder / "s");
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
    process.signal(SIGKILL);
    process.wait();
    const Result rest = tissue(of, {"--output", "w.pvd", "--resume", "s", "-q"});
    EXPECT_EQ(rest.status, 0) << rest.error;
    EXPECT_EQ(frames(), whole) << "killed " << milliseconds << " ms after its first state";
  }
}

/// Includes rows of every third step, which are not at the state's step.
TEST_F(CommandHeart, GoesOnWithItsFiles) {
  for (const char* part : {"whole", "parts"}) std::filesystem::create_directory(folder / part);
  const json of = changed(changed(small(), "/trace_every", 0.15), "/output_every", 2.5);
  const auto outputs = [](const std::string& part, std::vector<std::string> more) {
    for (const char* word : {"--output", "/w.pvd", "--traces", "/t.csv"}) {
      more.push_back(word[0] == '/' ? part + word : word);
    }
    return more;
  };
  ASSERT_EQ(tissue(of, outputs("whole", {})).status, 0);
  ASSERT_EQ(tissue(changed(of, "/time/end", 5), outputs("parts", {"--restart", "s"})).status, 0);
  // Rows from after the state, of a run that was killed later, including one that was cut off.
  const std::string earlier = text_of("parts/t.csv");
  folder.write("parts/t.csv", earlier + "5.1,1,2,3\n5.25,1");
  const Result rest = tissue(of, outputs("parts", {"--resume", "s"}));
  ASSERT_EQ(rest.status, 0) << rest.error;
  for (const char* file : {"/w.pvd", "/t.csv", "/w-000100.vtu", "/w-000200.vtu"}) {
    EXPECT_EQ(text_of(std::string("parts") + file), text_of(std::string("whole") + file)) << file;
  }
  EXPECT_EQ(tissue(changed(of, "/points", {{"here", {0, 0, 0}}}),
                   {"--resume", "s", "--traces", "parts/t.csv"})
                .error,
            "heddle-heart: --traces parts/t.csv has other columns than the resumed run; give "
            "another name\n");
  EXPECT_EQ(text_of("parts/t.csv"), text_of("whole/t.csv"));
}

TEST_F(CommandHeart, RefusesStatesOfOtherRuns) {
  ASSERT_EQ(tissue(changed(small(), "/time/end", 5), {"--restart", "s"}).status, 0);
  const auto why_not = [&](const char* pointer, const json& part) {
    const Result result = tissue(changed(small(), pointer, part), {"--resume", "s", "-q"});
    const std::string begin = "heddle-heart: s: the state is from a run that differs in: ";
    if (result.status == 0) return std::string();
    EXPECT_EQ(result.status, 2);
    EXPECT_EQ(result.error.substr(0, begin.size()), begin);
    return result.error.substr(begin.size(), result.error.size() - begin.size() - 1);
  };
  EXPECT_EQ(why_not("/conductivity/along", 0.15), "conductivity, chi or Cm");
  EXPECT_EQ(why_not("/chi", 150), "conductivity, chi or Cm");
  EXPECT_EQ(why_not("/fibres", {{"direction", {0, 1, 0}}}), "fibres");
  EXPECT_EQ(why_not("/regions/0/membrane/parameters", {{"c", 8.5}}), "membranes");
  EXPECT_EQ(why_not("/stimuli/0/amplitude", 51), "stimuli before its time");
  EXPECT_EQ(why_not("/stimuli/0/box/to", {1.5, 1, 1}), "stimuli before its time");
  EXPECT_EQ(why_not("/time/ionic_current", "integration-points"),
            "ionic_current (nodes, not integration-points)");
  EXPECT_EQ(why_not("/activation_threshold", -40), "activation_threshold (0, not -40)");
  EXPECT_EQ(why_not("/time/step", 0.025), "time step (0.05, not 0.025)");
  EXPECT_EQ(why_not("/solver", {{"tolerance", 1e-7}}), "tolerance (1e-08, not 1e-07)");
  EXPECT_EQ(why_not("/mesh/split", "five"), "mesh");
  // The state contains nothing of what happens after it.
  json more = small()["stimuli"];
  more.push_back({{"group", "x-greatest"}, {"start", 6}, {"duration", 2}, {"amplitude", 50}});
  EXPECT_EQ(why_not("/stimuli", more), "");
  EXPECT_EQ(why_not("/points", {{"middle", {2, 1, 0.5}}}), "");
  EXPECT_EQ(tissue(small(), {"--resume", "."}).error,
            "heddle-heart: .: is a folder, not a state\n");
}

TEST_F(CommandHeart, EndsBeyondEveryPotential) {
  json of = changed(small(), "/stimuli/0/amplitude", 1000);
  of["regions"][0]["membrane"] = {{"model", "ten-tusscher-panfilov"}};
  const Result result = tissue(of, {"--json", "--activation", "a.vtu"});
  EXPECT_EQ(result.status, 1);
  const json report = result.json();
  EXPECT_EQ(report["status"], "out of range");
  EXPECT_EQ(report["failure"]["finite"], true);
  EXPECT_GT(report["failure"]["potential"], 500);
  EXPECT_NE(result.error.find("mV, beyond 500 mV, at vertex "), std::string::npos) << result.error;
  EXPECT_NE(result.error.find("warning: case.json: stimuli[0]: the amplitude is 1000 uA/mm3; usual "
                              "values are 1 to 500\n"),
            std::string::npos)
      << result.error;
  EXPECT_TRUE(files().contains("a.vtu"));
}

TEST_F(CommandHeart, WarnsOfPotentialsBeyondTheTables) {
  json of = changed(small(), "/stimuli/0/amplitude", 400);
  of["regions"][0]["membrane"] = {{"model", "ten-tusscher-panfilov"}};
  of["time"]["end"] = 5;
  const Result result = tissue(of, {"--json"});
  EXPECT_EQ(result.status, 0) << result.error;
  ASSERT_EQ(result.json()["warnings"].size(), 1U) << result.error;
  EXPECT_EQ(result.error_lines(), 1U);
  EXPECT_NE(result.error.find("mV at vertex "), std::string::npos) << result.error;
  of["tables"] = false;
  EXPECT_EQ(tissue(of).error, "");
}

TEST_F(CommandHeart, WarnsWhereNothingComesOfStimuli) {
  json of = changed(small(), "/stimuli/0/amplitude", 2);
  EXPECT_EQ(tissue(of, {"-q"}).error,
            "heddle-heart: warning: no vertex was activated until 10 ms\n");
  of = changed(small(), "/conductivity", {{"along", 0.0001}, {"across", 0.0001}});
  EXPECT_NE(
      tissue(of, {"-q"})
          .error.find(
              "heddle-heart: warning: no wave has left the stimuli until 10 ms: only vertices "
              "where they act were activated\n"),
      std::string::npos);
}

}  // namespace
}  // namespace heddle::heart::test
