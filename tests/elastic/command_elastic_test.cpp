// `heddle-elastic` from a user's point of view.
#include <cmath>

#include "cli/small_systems.hpp"
#include "elastic/command_elastic.hpp"

namespace {

double largest_of(const std::vector<double>& values) {
  double most = 0;
  for (const double value : values) most = std::max(most, std::abs(value));
  return most;
}

TEST_F(CommandElastic, TakesWhatRoundingLeavesOfASolution) {
  const json exacting = with(case_of("static"), "/solver", {{"tolerance", 1e-17}});
  const Result result = beam(exacting, {"--output", "beam.vtu", "--json"});
  EXPECT_EQ(result.status, 0) << result.out;
  EXPECT_EQ(files(), (Names{"beam.vtu", "case.json"}));
  EXPECT_EQ(result.error_lines(), 1u) << result.error;
  EXPECT_EQ(result.error.find("heddle-elastic: warning: rounding kept 1 of 1 systems"), 0u)
      << result.error;
  const json report = result.json();
  EXPECT_EQ(report["status"], "accuracy limit");
  EXPECT_EQ(report["tolerance"], 1e-17);
  const double backward_error = report["steps"][0]["backward_error"];
  EXPECT_LE(backward_error, 64 * 2.3e-16);
  const std::string out = beam(exacting).out;
  EXPECT_NE(out.find("residual   |b - A x| / |b| = "), std::string::npos) << out;
}

TEST_F(CommandElastic, BendsTheCantilever) {
  const Result result = beam(case_of("static"), {"--output", "beam.vtu", "--json"});
  ASSERT_EQ(result.status, 0) << result.error;
  EXPECT_EQ(files(), (Names{"beam.vtu", "case.json"}));
  const json report = result.json();
  EXPECT_EQ(report["status"], "converged");
  EXPECT_EQ(report["mesh"], data + "cantilever.msh");
  EXPECT_EQ(report["vertices"], 189);
  EXPECT_EQ(report["tetrahedra"], 480);
  EXPECT_EQ(report["unknowns"], 3 * (189 - 9));
  EXPECT_EQ(report["analysis"], "static");
  EXPECT_EQ(report["projected"], false);
  EXPECT_EQ(report["frames"], 1);
  EXPECT_EQ(report["steps"].size(), 1U);
  EXPECT_EQ(report["iterations"], report["steps"][0]["iterations"]);
  EXPECT_GT(report["entries"], 189 * 7);
  // Without kinetic energy, half of the loads' work is stored in the beam.
  const double elastic = report["steps"][0]["elastic"], work = report["steps"][0]["work"];
  EXPECT_NEAR(elastic, work / 2, 1e-8 * elastic);
  // Stiffer than Euler and Bernoulli's beam, as expected of so few linear tetrahedra.
  const double inertia = 1e-4 / 12, force = 1e6 * 0.01, weight = 7850 * 9.81 * 0.01;
  const double expected = (force / 3 + weight / 8) / (2e11 * inertia);
  EXPECT_GT(report["largest_displacement"], 0.3 * expected);
  EXPECT_LT(report["largest_displacement"], expected);
  for (const char* key : {"device", "plan", "plan_reason", "loop", "memory", "lists", "share"}) {
    EXPECT_TRUE(report.contains(key)) << key;
  }
  for (const char* key :
       {"read", "setup", "elements", "values", "iterate", "fields", "output", "wall"}) {
    EXPECT_GE(report["times"][key], 0) << key;
  }
  const std::string vtu = text_of("beam.vtu");
  for (const char* name : {"\"displacement\"", "\"stress\"", "\"von_mises\""}) {
    EXPECT_NE(vtu.find(name), std::string::npos) << name;
  }
  EXPECT_EQ(vtu.find("\"velocity\""), std::string::npos);
}

TEST_F(CommandElastic, TellsPeople) {
  const Result result = beam(case_of("static"));
  ASSERT_EQ(result.status, 0) << result.error;
  for (const char* line :
       {"mesh       ", "189 vertices, 480 tetrahedra\n", "matrix     540 unknowns, ", "plan       ",
        "reason     ", "analysis   static\n", "status     converged after ",
        "energy     kinetic 0, elastic ", "time       read ", "share      "}) {
    EXPECT_NE(result.out.find(line), std::string::npos) << line << "\n" << result.out;
  }
  EXPECT_EQ(beam(case_of("static"), {"-q"}).out, "");
}

TEST_F(CommandElastic, WritesASeries) {
  const json of = with(with(case_of("dynamic"), "/analysis/steps", 7), "/analysis/output_every", 3);
  const Result result = beam(of, {"--output", "swing.pvd", "--history", "swing.csv", "--json"});
  ASSERT_EQ(result.status, 0) << result.error;
  EXPECT_EQ(files(), (Names{"case.json", "swing.pvd", "swing.csv", "swing-000000.vtu",
                            "swing-000003.vtu", "swing-000006.vtu", "swing-000007.vtu"}));
  const json report = result.json();
  EXPECT_EQ(report["analysis"], "dynamic");
  EXPECT_EQ(report["method"], "newmark");
  EXPECT_EQ(report["frames"], 4);
  ASSERT_EQ(report["steps"].size(), 8U);
  EXPECT_EQ(report["steps"][7]["time"], 7 * 5e-4);
  const double total = report["steps"][7]["total"], elastic = report["steps"][7]["elastic"];
  EXPECT_NEAR(total, 0, 1e-6 * elastic);
  const std::string history = text_of("swing.csv");
  EXPECT_EQ(history.substr(0, history.find('\n')),
            "step,time,iterations,residual,kinetic,elastic,work,total");
  EXPECT_EQ(std::count(history.begin(), history.end(), '\n'), 9);
  const std::string pvd = text_of("swing.pvd");
  EXPECT_NE(pvd.find("swing-000007.vtu"), std::string::npos);
  EXPECT_NE(text_of("swing-000003.vtu").find("\"velocity\""), std::string::npos);
}

TEST_F(CommandElastic, SwingsARubberBeam) {
  const Result result = beam(case_of("corotational"), {"--json"});
  ASSERT_EQ(result.status, 0) << result.error;
  const json report = result.json();
  EXPECT_EQ(report["method"], "backward-euler");
  EXPECT_GT(report["largest_displacement"], 1.0);  // far from its initial position
  const json guesses = report["earlier_solutions"];
  EXPECT_EQ(guesses["most"], 8);
  EXPECT_EQ(guesses["guesses"], report["steps"].size() - 2);  // not at the start or the first step
  EXPECT_GT(guesses["used"], 6);
  EXPECT_LT(guesses["residual"], 0.1 * guesses["residual_before"].get<double>());
  const json alone = with(case_of("corotational"), "/solver/earlier_solutions", 0);
  const json plain = beam(alone, {"--json"}).json();
  EXPECT_EQ(plain["earlier_solutions"], (json{{"most", 0}, {"guesses", 0}}));
  EXPECT_LT(report["iterations"], 0.8 * plain["iterations"].get<double>());
  EXPECT_NEAR(report["largest_displacement"], plain["largest_displacement"].get<double>(), 1e-4);
  const std::string out = beam(with(case_of("corotational"), "/analysis/steps", 5)).out;
  EXPECT_NE(out.find("guesses    for 4 systems, from "), std::string::npos) << out;
  // Rotations are fixed during a step: some energy comes and goes, little compared with the fall.
  double fallen = 0;
  for (const json& step : report["steps"]) fallen = std::max(fallen, step["work"].get<double>());
  EXPECT_GT(fallen, 40);
  for (const json& step : report["steps"])
    EXPECT_LT(std::abs(step["total"].get<double>()), 0.05 * fallen);
}

/// `heddle solve` on the dumped system takes as many iterations, to the same displacement, both
/// with Jacobi's preconditioner.
TEST_F(CommandElastic, DumpsASystemThatHeddleSolves) {
  struct Dumped {
    json of;
    std::size_t solve;
  };
  const json moved =
      with(case_of("static"), "/displacements", json::array({{{"group", "tip"}, {"y", 0.001}}}));
  for (const Dumped& dumped : {Dumped{case_of("static"), 0}, Dumped{moved, 0},
                               Dumped{with(case_of("dynamic"), "/analysis/steps", 1), 1},
                               Dumped{with(case_of("corotational"), "/analysis/steps", 1), 1}}) {
    const json report =
        beam(dumped.of, {"--dump", "system", "--json", "--preconditioner", "jacobi"}).json();
    const std::string tolerance = dumped.of.contains("solver") ? "1e-8" : "1e-10";
    const Result solved =
        run({"solve", "system.npz", "--entry", "block3", "--rhs", "system-rhs.mtx", "--output",
             "x.mtx", "--json", "--tolerance", tolerance});
    ASSERT_EQ(solved.status, 0) << solved.error;
    EXPECT_EQ(solved.json()["iterations"], report["steps"][dumped.solve]["iterations"]);
    EXPECT_EQ(solved.json()["plan"], report["plan"]);
    if (dumped.of == case_of("static")) {
      EXPECT_DOUBLE_EQ(largest_of(components_of(text_of("x.mtx"))),
                       report["largest_displacement"].get<double>());
    }
  }
}

TEST_F(CommandElastic, EndsWhereASolveDoesNotConverge) {
  json of = with(case_of("static"), "/solver", {{"max_iterations", 3}});
  const Result result = beam(of, {"--output", "beam.vtu", "--json"});
  EXPECT_EQ(result.status, 1);
  EXPECT_EQ(result.json()["status"], "iteration limit");
  EXPECT_EQ(files(), (Names{"case.json"}));
}

TEST_F(CommandElastic, RefusesCases) {
  const json good = case_of("static");
  expect_refusal(beam(with(good, "/materials/0/yong", 1)),
                 "case.json: materials[0].yong is not known; did you mean young?");
  expect_refusal(beam(with(good, "/materials/0/poisson", 0.5)),
                 "case.json: materials[0].poisson must be at least 0 and below 0.5, not 0.5");
  expect_refusal(beam(with(good, "/supports/0/group", "left")),
                 "case.json: supports[0] names the group left, which the mesh does not have; its "
                 "groups of triangles are: clamped, tip, top; of tetrahedra: beam");
  expect_refusal(beam(with(good, "/loads/0/group", "beam")),
                 "case.json: loads[0] names the group beam, which the mesh does not have; its "
                 "groups of triangles are: clamped, tip, top");
  expect_refusal(beam(with(good, "/materials/0/group", "steel")),
                 "case.json: materials[0] names the group steel, which the mesh does not have; its "
                 "groups of tetrahedra are: beam");
  const json nowhere = {{"from", {5, 5, 5}}, {"to", {6, 6, 6}}};
  expect_refusal(beam(with(good, "/supports/0", {{"box", nowhere}})),
                 "case.json: supports[0] selects no vertices");
  expect_refusal(beam(with(good, "/loads/0", {{"box", nowhere}, {"pressure", 1}})),
                 "case.json: loads[0] selects no triangles of the boundary");
  expect_refusal(beam(with(good, "/materials/0/box", nowhere)),
                 "case.json: materials[0] selects no tetrahedra");
  const json half = {{"from", {0, 0, 0}}, {"to", {0.5, 1, 1}}};
  expect_refusal(beam(with(good, "/materials/0/box", half)),
                 "case.json: no entry of materials covers tetrahedron 61 of the mesh");
  expect_refusal(
      beam(with(good, "/displacements", json::array({{{"group", "clamped"}, {"z", 1}}}))),
      "case.json: displacements[0] moves vertex 1 by 1 along z, supports[0] by 0");
  expect_refusal(beam(with(good, "/supports", json::array())),
                 "nothing is supported and the loads are not in balance: they sum to the force (0, "
                 "0, -1.08e+04) and the moment (0, 5e+03, 0) about the centre; add supports or "
                 "balance the loads");
  expect_refusal(beam(with(good, "/supports/0/fixed", {"x", "y"})),
                 "the solid can move as a rigid body: its supports leave 1 of 6 motions free");
  expect_refusal(beam(with(good, "/analysis/null_space", "rigid")),
                 "analysis.null_space is rigid, but there are supports: leave one of the two out");
}

TEST_F(CommandElastic, RefusesOptions) {
  expect_refusal(beam(case_of("static"), {"--output", "beam.vtk"}),
                 "--output beam.vtk: one state is written as .vtu, a series as .pvd");
  expect_refusal(beam(case_of("dynamic"), {"--output", "beam.vtu"}),
                 "--output beam.vtu: a series of states is written as .pvd");
  expect_refusal(beam(case_of("static"), {"--output", "nowhere/beam.vtu"}),
                 "cannot write nowhere/beam.vtu: there is no folder nowhere");
  expect_refusal(beam(case_of("static"), {"--dump", "nowhere/system"}),
                 "cannot write nowhere/system.npz: there is no folder nowhere");
  expect_refusal(beam(case_of("static"), {"--output", "same.vtu", "--history", "./same.vtu"}),
                 "--history ./same.vtu is the file that --output writes");
  expect_refusal(beam(case_of("static"), {"--history", "case.json"}),
                 "--history case.json is the file that --case reads");
  expect_refusal(elastic({"missing.msh", "--case", "missing.json"}),
                 "missing.json: No such file or directory");
  EXPECT_EQ(beam(case_of("static"), {"--plan", "nonsense"}).status, 2);
  EXPECT_EQ(beam(case_of("static"), {"--device", "tpu"}).status, 2);
  EXPECT_EQ(elastic({data + "cantilever.msh"}).status, 2);
}

/// Files that a run reads, including those next to the named one, are not overwritten. A new case
/// is one more line.
TEST_F(CommandElastic, WritesOverNoInput) {
  folder.write("t.node", "4 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n");
  folder.write("t.ele", "1 4 0\n1 1 2 3 4\n");
  folder.write("t.face", "0 0\n");
  folder.write("case.json", case_of("dynamic").dump());
  folder.write("p.json", "{}");
  folder.write("swing-000003.vtu", case_of("dynamic").dump());
  folder.write("b-rhs.mtx", case_of("dynamic").dump());
  std::filesystem::create_symlink("t.ele", folder / "ele");
  std::filesystem::create_symlink("case.json", folder / "bent-0000001.vtu");
  const std::vector<std::string> lines[] = {
      {"t.ele", "--history", "t.ele"},
      {"t.ele", "--history", "t.node"},
      {"t.ele", "--history", "./t.face"},
      {"t.node", "--history", "ele"},
      {"t.node", "--output", "s.pvd", "--history", "t.face"},
      {"t.ele", "--profile", "p.json", "--history", "p.json"},
      {"t.ele", "--case", "swing-000003.vtu", "--output", "swing.pvd"},
      {"t.ele", "--output", "bent.pvd"},
      {"t.ele", "--output", "s.pvd", "--history", "s-000000.vtu"},
      {"t.ele", "--output", "s.pvd", "--history", "s.pvd"},
      {"t.ele", "--output", "s\n.pvd"},
      {"t.ele", "--output", "s\xff.pvd"},
      {"t.ele", "--case", "b-rhs.mtx", "--dump", "b"}};
  const Names before = files();
  for (std::vector<std::string> arguments : lines) {
    if (std::find(arguments.begin(), arguments.end(), "--case") == arguments.end()) {
      arguments.insert(arguments.end(), {"--case", "case.json"});
    }
    SCOPED_TRACE(testing::PrintToString(arguments));
    const std::string ele = text_of("t.ele"), node = text_of("t.node");
    const Result result = elastic(arguments);
    EXPECT_EQ(result.status, 2);
    EXPECT_EQ(result.error_lines(), 1U) << result.error;
    EXPECT_TRUE(result.error.find("is the file that") != std::string::npos ||
                result.error.find("control character") != std::string::npos)
        << result.error;
    EXPECT_EQ(files(), before);
    EXPECT_EQ(text_of("t.ele") + text_of("t.node"), ele + node);
  }
}

TEST_F(CommandElastic, ReadsNoCaseWithoutAnEnd) {
  expect_refusal(elastic({data + "cantilever.msh", "--case", "/dev/zero"}),
                 "/dev/zero: over 16 MiB, the limit for JSON");
}

/// A result that overflows has not converged, and is not written.
TEST_F(CommandElastic, TellsWhatIsNotFinite) {
  auto heavy = case_of("static");
  heavy["gravity"] = {0, 0, -1e308};
  const Result result = beam(heavy, {"--output", "heavy.vtu"});
  EXPECT_EQ(result.status, 1);
  EXPECT_NE(result.out.find("status     not finite"), std::string::npos) << result.out;
  EXPECT_FALSE(files().contains("heavy.vtu"));
}

TEST_F(CommandElastic, TellsOfADumpOnlyWhereThereIsOne) {
  auto short_of = case_of("dynamic");
  short_of["solver"] = {{"max_iterations", 1}};
  const Result result = beam(short_of, {"--dump", "system"});
  EXPECT_EQ(result.status, 1);
  EXPECT_EQ(result.out.find("system.npz"), std::string::npos) << result.out;
}

/// Medit's text of a unit cube's corners, plus the given parts.
std::string medit(const std::string& tetrahedra, int count, const std::string& triangles = "",
                  int triangle_count = 0, const std::string& more_vertices = "", int more = 0) {
  std::string text = "MeshVersionFormatted 2\nDimension 3\nVertices\n" + std::to_string(8 + more) +
                     "\n0 0 0 0\n1 0 0 0\n0 1 0 0\n1 1 0 0\n0 0 1 0\n1 0 1 0\n0 1 1 0\n1 1 1 0\n" +
                     more_vertices;
  if (triangle_count > 0) {
    text += "Triangles\n" + std::to_string(triangle_count) + "\n" + triangles;
  }
  return text + "Tetrahedra\n" + std::to_string(count) + "\n" + tetrahedra + "End\n";
}

const std::string cube = "1 2 4 8 1\n1 4 3 8 1\n1 3 7 8 1\n1 7 5 8 1\n1 5 6 8 1\n1 6 2 8 1\n";

json cube_case() {
  return json::parse(R"({
    "materials": [{"young": 1, "poisson": 0.3}],
    "supports": [{"box": {"from": [0, 0, 0], "to": [1, 1, 0]}}],
    "loads": [{"box": {"from": [0, 0, 1], "to": [1, 1, 1]}, "pressure": 0.1}],
    "analysis": {"type": "static"}
  })");
}

TEST_F(CommandElastic, PressesACube) {
  const Result result = solid(medit(cube, 6), cube_case());
  ASSERT_EQ(result.status, 0) << result.error;
  EXPECT_EQ(files(), (Names{"solid.mesh", "case.json", "out.vtu", "history.csv", "system.npz",
                            "system-rhs.mtx"}));
  // The dumped load presses on the cube: downwards, with a total force of 0.1.
  const std::vector<double> load = components_of(text_of("system-rhs.mtx"));
  ASSERT_EQ(load.size(), 24U);
  double down = 0;
  for (std::size_t i = 0; i < load.size(); ++i) {
    if (i % 3 == 2) {
      down += load[i];
    } else {
      EXPECT_EQ(load[i], 0);
    }
  }
  EXPECT_NEAR(down, -0.1, 1e-15);
}

TEST_F(CommandElastic, TakesReversedTetrahedra) {
  const std::string reversed = "1 2 8 4 1\n1 4 8 3 1\n1 3 8 7 1\n1 7 8 5 1\n1 5 8 6 1\n1 6 8 2 1\n";
  std::string mixed = cube;
  mixed.replace(mixed.find("1 7 5 8"), 7, "1 7 8 5");
  ASSERT_EQ(solid(medit(cube, 6), cube_case()).status, 0);
  const std::string expected = text_of("history.csv");
  for (const std::string& tetrahedra : {reversed, mixed}) {
    const Result result = solid(medit(tetrahedra, 6), cube_case());
    ASSERT_EQ(result.status, 0) << result.error;
    const std::string note =
        std::string(tetrahedra == mixed ? "1" : "6") +
        " tetrahedra have their corners in the opposite order: they are reoriented";
    EXPECT_NE(result.out.find(note), std::string::npos) << result.out;
    EXPECT_EQ(text_of("history.csv"), expected);
  }
}

TEST_F(CommandElastic, LeavesLonelyVerticesOut) {
  ASSERT_EQ(solid(medit(cube, 6), cube_case()).status, 0);
  const std::string expected = text_of("out.vtu");
  const Result result = solid(medit(cube, 6, "", 0, "2 2 2 0\n3 3 3 0\n", 2), cube_case());
  EXPECT_EQ(result.status, 0) << result.error;
  EXPECT_NE(result.out.find("2 more vertices belong to no element: they are left out"),
            std::string::npos);
  EXPECT_EQ(text_of("out.vtu"), expected);
}

TEST_F(CommandElastic, TellsBoxAndGroups) {
  const Result result = beam(case_of("static"), {"--json"});
  ASSERT_EQ(result.status, 0) << result.error;
  const json report = result.json();
  EXPECT_EQ(report["left_out"], 0);
  EXPECT_EQ(report["box"]["least"], (std::vector<double>{0, 0, 0}));
  long long tetrahedra = 0;
  for (const json& group : report["groups"]) {
    if (group["of"] == "tetrahedra") tetrahedra += group["elements"].get<long long>();
  }
  EXPECT_EQ(tetrahedra, report["tetrahedra"]);
}

TEST_F(CommandElastic, RefusesMeshes) {
  expect_refusal(solid(medit(cube + "1 2 3 4 1\n", 7), cube_case()),
                 "tetrahedron 7 of the mesh is flat: its corners lie in one plane");
  // One tetrahedron was reversed, and lies inside the other.
  expect_refusal(solid(medit("1 2 4 8 1\n1 2 5 4 1\n", 2), cube_case()),
                 "tetrahedra 1 and 2 of the mesh overlap: they lie on the same side of the face "
                 "that they share, as if a vertex had moved through a tetrahedron");
  expect_refusal(solid(medit(cube + cube, 12), cube_case()),
                 "tetrahedra 1 and 7 of the mesh have the same corners");
  expect_refusal(solid(medit(cube, 6, "1 2 9 3\n", 1, "2 2 2 0\n", 1), cube_case()),
                 "vertex 9 of the mesh belongs to no tetrahedron");
  const std::string apart = "5 0 0 0\n6 0 0 0\n5 1 0 0\n5 0 1 0\n";
  json held = cube_case();
  expect_refusal(solid(medit(cube + "9 10 11 12 1\n", 7, "", 0, apart, 4), held),
                 "part 2 of the 2 of the mesh (with vertex 9) can move as a rigid body: its "
                 "supports leave 6 of 6 motions free");
  // A triangle across the cube.
  json pressed = cube_case();
  pressed["loads"][0] = {{"group", 3}, {"pressure", 1}};
  expect_refusal(solid(medit(cube, 6, "5 6 8 3\n1 4 8 3\n", 2), pressed),
                 "case.json: loads[0] selects triangle 2 of the mesh, which is not on the boundary "
                 "of the solid");
  json no_pressure = cube_case();
  no_pressure["loads"][0] = {{"group", 4}, {"pressure", 1}};
  expect_refusal(solid(medit(cube, 6, "5 6 8 3\n", 1), no_pressure),
                 "case.json: loads[0] names the group 4, which the mesh does not have; its groups "
                 "of triangles are: 3");
}

}  // namespace
