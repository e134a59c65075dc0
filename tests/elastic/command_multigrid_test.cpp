// `heddle-elastic` with multigrid of the motions of a rigid body, as its users meet it.
#include "elastic/command_elastic.hpp"

namespace {

TEST_F(CommandElastic, TakesMultigrid) {
  for (const char* name : {"static", "dynamic", "corotational"}) {
    SCOPED_TRACE(name);
    json of = case_of(name);
    if (of["analysis"].contains("steps")) of["analysis"]["steps"] = 5;
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
  }
}

TEST_F(CommandElastic, RefusesMultigridWhereNothingUsesIt) {
  json of = case_of("modes");
  of["solver"]["preconditioner"] = "multigrid";
  expect_refusal(beam(of), "case.json: solver.preconditioner is not of modes; leave it out");
  of = case_of("dynamic");
  of["solver"]["deflation"] = 4;
  of["solver"]["preconditioner"] = "multigrid";
  expect_refusal(beam(of), "case.json: solver.deflation is beside jacobi; take one of them");
  of["solver"] = {{"preconditioner", "ilu"}};
  EXPECT_EQ(beam(of).status, 2);
}

}  // namespace
