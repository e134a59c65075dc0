// `heddle-heart` from a user's point of view.
#include <chrono>
#include <cmath>
#include <thread>

#include "heart/command_heart.hpp"

namespace heddle::heart::test {
namespace {

TEST_F(CommandHeart, WritesWhatItIsAskedFor) {
  const Result result = tissue(small(), {"--output", "w.pvd", "--activation", "a.vtu", "--traces",
                                         "t.csv", "--picture", "a.png", "--json"});
  ASSERT_EQ(result.status, 0) << result.error;
  EXPECT_EQ(files(), (Names{"case.json", "w.pvd", "w-000000.vtu", "w-000100.vtu", "w-000200.vtu",
                            "a.vtu", "t.csv", "a.png"}));
  const json report = result.json();
  EXPECT_EQ(report["status"], "done");
  EXPECT_EQ(report["mesh"], nullptr);
  EXPECT_EQ(report["vertices"], 9 * 5 * 3);
  EXPECT_EQ(report["tetrahedra"], 8 * 4 * 2 * 6);
  EXPECT_EQ(report["steps"], 200);
  EXPECT_EQ(report["time"], 10);
  EXPECT_EQ(report["frames"], 3);
  EXPECT_EQ(report["mass"], "consistent");
  EXPECT_EQ(report["ionic_current"], "nodes");
  EXPECT_EQ(report["tables"], false);  // these cells have none
  EXPECT_EQ(report["points"][0]["name"], "here");
  EXPECT_LT(report["points"][0]["activation"], 3);
  EXPECT_EQ(report["points"][1]["activation"], nullptr);
  EXPECT_GT(report["activated"], 20);
  EXPECT_LT(report["first_activation"], 3);
  EXPECT_LE(report["residual"], 1e-8);
  for (const char* key :
       {"read", "setup", "membranes", "iterate", "fields", "steps", "output", "wall"}) {
    EXPECT_GE(report["times"][key], 0) << key;
  }
  const std::string traces = text_of("t.csv");
  EXPECT_EQ(traces.substr(0, traces.find('\n')), "time,here,there,V1");
  EXPECT_EQ(std::count(traces.begin(), traces.end(), '\n'), 202);
  EXPECT_NE(traces.find("\n0.95,"), std::string::npos);  // the sum of 19 steps of 0.05 differs
  EXPECT_NE(text_of("a.vtu").find("\"wave_velocity\""), std::string::npos);
  EXPECT_NE(text_of("w-000100.vtu").find("\"potential\""), std::string::npos);
}

TEST_F(CommandHeart, TakesAMeshWithItsGroups) {
  const std::string mesh = HEDDLE_SOURCE_DIR "/data/elastic/cantilever.msh";
  json of = small();
  of.erase("mesh");
  of["regions"][0]["group"] = "beam";
  of["stimuli"][0].erase("box");
  of["stimuli"][0]["group"] = "clamped";
  of["stimuli"][0]["duration"] = 20;
  of["points"] = {{"tip", {1, 0.05, 0.05}}};
  of["time"]["end"] = 60;
  const Result result = tissue(of, {mesh, "--json"});
  ASSERT_EQ(result.status, 0) << result.error;
  EXPECT_EQ(result.json()["mesh"], mesh);
  EXPECT_EQ(result.json()["vertices"], 189);
  EXPECT_EQ(result.json()["activated"], 189);
  EXPECT_EQ(result.json()["warnings"], json::array());
  const json speed = result.json()["speed"];
  EXPECT_GT(speed["low"], 0);
  EXPECT_LT(speed["low"], speed["median"]);
  EXPECT_LT(speed["median"], speed["high"]);
  EXPECT_EQ(tissue(changed(of, "/stimuli/0/group", "apex"), {mesh}).error,
            "heddle-heart: case.json: stimuli[0] names the group apex, which the mesh does not "
            "have; its groups of triangles are: clamped, tip, top; of tetrahedra: beam\n");
}

TEST_F(CommandHeart, TellsPeople) {
  const Result result = tissue(small());
  ASSERT_EQ(result.status, 0) << result.error;
  for (const char* line :
       {"mesh       slab: 135 vertices, 384 tetrahedra\n", "membranes  ",
        "scheme     godunov splitting, theta 0.5, consistent mass, ionic current at nodes, "
        "200 steps of 0.05 ms",
        "status     done at 10 ms after ", "activated  ",
        "point      there (4, 2, 1): not activated\n", "time       read "}) {
    EXPECT_NE(result.out.find(line), std::string::npos) << line << "\n" << result.out;
  }
  EXPECT_EQ(tissue(small(), {"-q"}).out, "");
}

TEST_F(CommandHeart, GoesOnWithTheSameBits) {
  ASSERT_EQ(tissue(small(), {"--output", "whole.pvd", "--activation", "whole.vtu"}).status, 0);
  ASSERT_EQ(
      tissue(changed(small(), "/time/end", 5), {"--restart", "s", "--restart-every", "1"}).status,
      0);
  const Result rest = tissue(
      small(), {"--resume", "s", "--output", "rest.pvd", "--activation", "rest.vtu", "--json"});
  ASSERT_EQ(rest.status, 0) << rest.error;
  EXPECT_EQ(rest.json()["first_step"], 100);
  EXPECT_EQ(text_of("whole.vtu"), text_of("rest.vtu"));
  for (const char* step : {"-000100.vtu", "-000200.vtu"}) {
    EXPECT_EQ(text_of(std::string("whole") + step), text_of(std::string("rest") + step));
  }
  // These cells have no tables.
  EXPECT_EQ(tissue(changed(small(), "/tables", false), {"--resume", "s"}).status, 0);
  EXPECT_EQ(
      tissue(changed(small(), "/time/step", 0.025), {"--resume", "s"}).error,
      "heddle-heart: s: the state is from a run that differs in: time step (0.05, not 0.025)\n");
  EXPECT_EQ(tissue(changed(small(), "/time/end", 5), {"--resume", "s"}).error,
            "heddle-heart: s: the state is from 5 ms, but the case ends at 5 ms\n");
  const std::string state = text_of("s");
  folder.write("s", state.substr(0, state.size() - 1));
  EXPECT_EQ(tissue(small(), {"--resume", "s"}).error, "heddle-heart: s: the state is cut off\n");
  std::string damaged = state;
  damaged[damaged.size() / 2] = static_cast<char>(damaged[damaged.size() / 2] ^ 1);
  folder.write("s", damaged);
  EXPECT_EQ(tissue(small(), {"--resume", "s"}).error, "heddle-heart: s: the state is damaged\n");
  folder.write("s", "x" + state);
  EXPECT_EQ(tissue(small(), {"--resume", "s"}).error,
            "heddle-heart: s: the state is not from heddle-heart, or is from another version\n");
}

TEST_F(CommandHeart, TakesNewtonsScheme) {
  json of = small();
  of["regions"][0]["membrane"]["parameters"] = {{"t_scale", 4}};
  of["points"] = {{"a", {1.5, 0.5, 0.5}}, {"b", {3, 1.5, 0.5}}};
  of["time"] = {{"step", 0.05}, {"end", 25}};
  const json split = tissue(of, {"--json"}).json();
  of["time"]["scheme"] = "newton";
  const Result result = tissue(of, {"--json", "--traces", "t.csv", "--output", "w.pvd"});
  ASSERT_EQ(result.status, 0) << result.error;
  const json report = result.json();
  EXPECT_EQ(report["scheme"], "newton");
  EXPECT_GE(report["newton_iterations"], 500);
  EXPECT_NEAR(report["largest_step"], 4 / (8 * (1.01 * 1.01 / 3 - 0.01)), 1e-12);
  EXPECT_FALSE(report.contains("theta"));
  const json& times = report["times"];
  double parts = 0;
  for (const char* part : {"assembly", "product", "rest_of_solve", "other"}) {
    EXPECT_GT(times[part], 0) << part;
    parts += times[part].get<double>();
  }
  EXPECT_NEAR(parts, times["steps"], 1e-9);
  EXPECT_FALSE(times.contains("membranes"));
  EXPECT_FALSE(split["times"].contains("assembly"));
  EXPECT_EQ(report["frames"], 6);
  const json on_cpu = tissue(of, {"--json", "--assembly-on-cpu"}).json();
  EXPECT_EQ(on_cpu["iterations"], report["iterations"]);
  EXPECT_EQ(on_cpu["points"], report["points"]);
  const std::string traces = text_of("t.csv");
  EXPECT_EQ(std::count(traces.begin(), traces.end(), '\n'), 502);
  for (int i = 0; i < 2; ++i) {
    const double time = report["points"][i]["activation"], other = split["points"][i]["activation"];
    EXPECT_NEAR(time, other, 0.15 * other);
  }
  EXPECT_EQ(tissue(changed(of, "/solver/guess", "last")).error,
            "heddle-heart: case.json: solver.guess applies only to the scheme splitting\n");
  const Result refused = tissue(changed(changed(of, "/output_every", 10), "/time",
                                        {{"step", 2}, {"end", 10}, {"scheme", "newton"}}));
  EXPECT_EQ(refused.status, 2);
  EXPECT_EQ(refused.error.find("heddle-heart: a time step of 2 ms is too long for Newton's "
                               "method; it takes at most 1.51"),
            0U)
      << refused.error;
  EXPECT_EQ(tissue(small(), {"--assembly-on-cpu"}).error,
            "heddle-heart: --assembly-on-cpu applies only to the scheme newton\n");
  of["time"]["theta"] = 1;
  EXPECT_EQ(tissue(of).error,
            "heddle-heart: case.json: time.theta is not known; there are: step, end, scheme, "
            "adaptive\n");
}

/// Regions have their own cells and conductivities, and stimuli overlap in time.
TEST_F(CommandHeart, GoesOnWithTheSameBitsUnderNewtonsScheme) {
  json of = small();
  of["regions"][0]["membrane"]["parameters"] = {{"t_scale", 4}};
  of["regions"].push_back(
      {{"box", {{"from", {2, 0, 0}}, {"to", {4, 2, 1}}}},
       {"membrane", {{"model", "aliev-panfilov"}, {"parameters", {{"t_scale", 6}, {"b", 0.2}}}}},
       {"conductivity", {{"along", 0.07}, {"across", 0.07}}}});
  of["stimuli"].push_back({{"box", {{"from", {3, 0, 0}}, {"to", {4, 2, 1}}}},
                           {"start", 1},
                           {"duration", 3},
                           {"amplitude", 30},
                           {"period", 6},
                           {"count", 2}});
  of["time"] = {{"step", 0.1}, {"end", 10}, {"scheme", "newton"}};
  ASSERT_EQ(tissue(of, {"--output", "whole.pvd", "--activation", "whole.vtu"}).status, 0);
  ASSERT_EQ(tissue(changed(of, "/time/end", 5), {"--restart", "s", "--restart-every", "2"}).status,
            0);
  const Result rest = tissue(of, {"--resume", "s", "--output", "rest.pvd", "--activation",
                                  "rest.vtu", "--traces", "rest.csv", "--json"});
  ASSERT_EQ(rest.status, 0) << rest.error;
  EXPECT_EQ(rest.json()["first_step"], 50);
  const std::string traces = text_of("rest.csv");
  EXPECT_EQ(traces.find("\n5,"), traces.find('\n'));
  EXPECT_EQ(std::count(traces.begin(), traces.end(), '\n'), 52);
  EXPECT_GT(rest.json()["lists"], 0);
  // The second stimulus has activated its end independently.
  EXPECT_LT(rest.json()["points"][1]["activation"], 5);
  EXPECT_EQ(text_of("whole.vtu"), text_of("rest.vtu"));
  for (const char* step : {"-000050.vtu", "-000100.vtu"}) {
    EXPECT_EQ(text_of(std::string("whole") + step), text_of(std::string("rest") + step));
  }
  of["time"].erase("scheme");
  EXPECT_EQ(
      tissue(of, {"--resume", "s"}).error,
      "heddle-heart: s: the state is from a run that differs in: scheme (newton, not splitting)\n");
  of["time"]["scheme"] = "newton";
  for (const char* model : {"fitzhugh-nagumo", "ten-tusscher-panfilov"}) {
    of["regions"][1]["membrane"] = {{"model", model}};
    EXPECT_EQ(tissue(of).error,
              std::string("heddle-heart: case.json: regions[1].membrane: the scheme newton does "
                          "not take ") +
                  model + "; it takes aliev-panfilov\n");
  }
}

/// All results so far are in the file at any time, in whole lines.
TEST_F(CommandHeart, WritesTracesAsTheyCome) {
  folder.write("case.json",
               changed(changed(small(), "/time/end", 50000), "/output_every", 1000).dump());
  Process process(HEDDLE_HEART_PROGRAM, {"--case", "case.json", "--traces", "t.csv", "-q"},
                  folder / "");
  while (!files().contains("t.csv") || std::filesystem::file_size(folder / "t.csv") < 1000) {
    ASSERT_FALSE(process.has_ended());
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  process.signal(SIGKILL);
  process.wait();
  const std::string traces = text_of("t.csv");
  EXPECT_EQ(traces.substr(0, traces.find('\n')), "time,here,there,V1");
  EXPECT_EQ(traces.back(), '\n');
}

TEST_F(CommandHeart, RefusesOptions) {
  expect_refusal(tissue(small(), {"--output", "w.vtu"}),
                 "--output w.vtu: a series of states is written as .pvd");
  expect_refusal(tissue(small(), {"--activation", "a.pvd"}),
                 "--activation a.pvd: a map of activation is written as .vtu");
  expect_refusal(tissue(small(), {"--restart-every", "5"}),
                 "--restart-every needs --restart, the file to write");
  expect_refusal(tissue(small(), {"--restart", "s", "--restart-every", "0.01"}),
                 "--restart-every must be at least a time step, 0.05 ms");
  expect_refusal(tissue(small(), {"--restart", "s", "--restart-every", "0.07"}),
                 "--restart-every is not a whole number of time steps of 0.05 ms");
  expect_refusal(tissue(small(), {"--restart", "s", "--restart-every", "0"}),
                 "--restart-every must be above 0 ms, not 0");
  expect_refusal(
      tissue(changed(changed(small(), "/output_every", 10), "/time", {{"step", 2}, {"end", 10}})),
      "case.json: time.step of 2 ms is unstable for aliev-panfilov of regions[0]; at "
      "most 1.6125 ms are stable");
  expect_refusal(tissue(small(), {"--traces", "case.json"}),
                 "--traces case.json: a table of traces is written as .csv");
  expect_refusal(tissue(small(), {"--activation", "x.vtu", "--output", "nowhere/w.pvd"}),
                 "cannot write nowhere/w.pvd: there is no folder nowhere");
  expect_refusal(tissue(small(), {"solid.mesh"}),
                 "case.json has a slab as mesh already; leave out solid.mesh");
  json bare = small();
  bare.erase("mesh");
  expect_refusal(tissue(bare), "there is no mesh: name a file, or give the case a slab as mesh");
  bare = small();
  bare.erase("points");
  bare.erase("electrodes");
  expect_refusal(tissue(bare, {"--traces", "t.csv"}),
                 "--traces: case.json has neither points nor electrodes to follow");
  expect_refusal(tissue(changed(small(), "/time", {{"step", 2}, {"end", 10}})),
                 "case.json: output_every is not a whole number of time steps of 2 ms");
  expect_refusal(tissue(changed(small(), "/regions/0/membrane/parameters", {{"k", 8}})),
                 "case.json: regions[0].membrane: aliev-panfilov has no parameter \"k\"; there "
                 "are: alpha, b, c, gamma, mu1, mu2, "
                 "V_rest, V_scale, t_scale");
  EXPECT_EQ(heart({"--case", "missing.json"}).status, 2);
  folder.write("f.csv", "1 0 0\n");
  EXPECT_EQ(tissue(changed(small(), "/fibres", {{"file", "f.csv"}}), {"--traces", "f.csv"}).error,
            "heddle-heart: --traces f.csv is the file that the case reads\n");
}

/// Files of a series are named during the run: all names that they could have are refused before.
TEST_F(CommandHeart, RefusesNamesOfItsStates) {
  std::filesystem::create_symlink("w-000020.vtu", folder / "link");
  for (const char* option : {"--restart", "--activation"}) {
    for (const std::string name : {"w-000010.vtu", "./w-000010.vtu", "link"}) {
      if (name == "link" && option[2] == 'a') continue;  // must end with .vtu
      const Result result = tissue(small(), {"--output", "w.pvd", option, name});
      EXPECT_EQ(result.status, 2);
      const std::string ending = " is the file that --output writes\n";
      EXPECT_EQ(result.error, std::string("heddle-heart: ") + option + " " + name + ending);
    }
  }
  EXPECT_EQ(files(), (Names{"case.json", "link"}));
  folder.write("w-000004.vtu", "a state");
  const Result result = tissue(small(), {"--output", "w.pvd", "--resume", "w-000004.vtu"});
  EXPECT_EQ(result.error,
            "heddle-heart: --output ./w-000004.vtu is the file that --resume reads\n");
}

TEST_F(CommandHeart, HelpShowsWhatIsDocumented) {
  const Result help = heart({"--help"});
  EXPECT_EQ(help.status, 0);
  const std::string page = contents(HEDDLE_SOURCE_DIR "/docs/simulations/heart.md");
  for (const char* option :
       {"--case", "--output", "--activation", "--traces", "--picture", "--restart",
        "--restart-every", "--resume", "--assembly-on-cpu", "--device", "--threads", "--plan",
        "--profile", "--json", "--quiet", "--version"}) {
    EXPECT_NE(help.out.find(option), std::string::npos) << option;
    if (std::string(option) != "--version") {
      EXPECT_NE(page.find(std::string("`") + option), std::string::npos) << option;
    }
  }
}

}  // namespace
}  // namespace heddle::heart::test
