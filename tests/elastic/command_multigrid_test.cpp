// `heddle-elastic` with multigrid based on rigid-body motions, from a user's point of view.
#include "elastic/command_elastic.hpp"

namespace {

TEST_F(CommandElastic, TakesMultigrid) {
  for (const char* name : {"static", "dynamic", "corotational"}) {
    SCOPED_TRACE(name);
    json of = case_of(name);
    if (of["analysis"].contains("steps")) of["analysis"]["steps"] = 5;
    of["solver"]["preconditioner"] = "jacobi";
    const json plain = beam(of, {"--json"}).json();
    EXPECT_EQ(plain["preconditioner"], "jacobi");
    EXPECT_FALSE(plain.contains("multigrid"));
    of["solver"]["preconditioner"] = "multigrid";
    const Result result = beam(of, {"--json"});
    ASSERT_EQ(result.status, 0) << result.error;
    const json report = result.json();
    EXPECT_EQ(report["preconditioner"], "multigrid");
    EXPECT_GE(report["multigrid"]["levels"].size(), 2U);
    EXPECT_LT(report["iterations"], 0.2 * plain["iterations"].get<double>());
    const double expected = plain["largest_displacement"];
    EXPECT_NEAR(report["largest_displacement"], expected, 1e-6 * expected);
    EXPECT_NE(beam(of).out.find("levels     189, "), std::string::npos);
    const json floats = beam(of, {"--json", "--level-precision", "single"}).json();
    EXPECT_EQ(floats["multigrid"]["level_precision"], "single");
    EXPECT_LE(floats["iterations"], report["iterations"].get<int>() + 5);
    EXPECT_NEAR(floats["largest_displacement"], expected, 1e-6 * expected);
  }
}

TEST_F(CommandElastic, TakesThePreconditionerOfTheCommand) {
  const json of = case_of("static");
  const auto preconditioner = [&](const json& given, std::vector<std::string> options) {
    options.emplace_back("--json");
    const Result result = beam(given, options);
    EXPECT_EQ(result.status, 0) << result.error;
    return result.json()["preconditioner"].get<std::string>();
  };
  EXPECT_EQ(preconditioner(of, {}), "multigrid");  // the default on a CPU
  EXPECT_EQ(preconditioner(of, {"--preconditioner", "jacobi"}), "jacobi");
  const json multigrid = with(of, "/solver/preconditioner", "multigrid");
  EXPECT_EQ(preconditioner(multigrid, {"--preconditioner", "jacobi"}), "jacobi");
  const json jacobi = with(of, "/solver/preconditioner", "jacobi");
  EXPECT_EQ(preconditioner(jacobi, {}), "jacobi");
  EXPECT_EQ(preconditioner(jacobi, {"--preconditioner", "multigrid"}), "multigrid");
  expect_refusal(beam(case_of("modes"), {"--preconditioner", "jacobi"}),
                 "--preconditioner does not apply to modes; leave it out");
  const json deflated = with(case_of("dynamic"), "/solver/deflation", 4);
  expect_refusal(
      beam(deflated, {"--preconditioner", "multigrid"}),
      "--preconditioner multigrid cannot be combined with deflation; choose one of them");
  expect_refusal(beam(of, {"--preconditioner", "jacobi", "--level-precision", "full"}),
                 "--level-precision is for multigrid, and this uses jacobi");
  EXPECT_EQ(beam(of, {"--preconditioner", "ilu"}).status, 2);
}

TEST_F(CommandElastic, RefusesMultigridWhereNothingUsesIt) {
  json of = case_of("modes");
  for (const char* name : {"jacobi", "multigrid"}) {
    of["solver"]["preconditioner"] = name;
    expect_refusal(beam(of),
                   "case.json: solver.preconditioner does not apply to modes; leave it out");
  }
  of = case_of("dynamic");
  of["solver"]["deflation"] = 4;
  of["solver"]["preconditioner"] = "multigrid";
  expect_refusal(beam(of),
                 "case.json: solver.deflation goes with jacobi, not multigrid; choose one of them");
  EXPECT_EQ(beam(of, {"--preconditioner", "jacobi"}).status, 0);  // overrides the case
  of["solver"] = {{"preconditioner", "ilu"}};
  EXPECT_EQ(beam(of).status, 2);
}

}  // namespace
