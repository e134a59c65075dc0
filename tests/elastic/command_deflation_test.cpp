// `heddle-elastic` with deflation by approximate eigenvectors, from a user's point of view.
#include "elastic/command_elastic.hpp"

namespace {

TEST_F(CommandElastic, DeflatesASwing) {
  const json of = with(case_of("dynamic"), "/analysis/steps", 20);
  const json plain = beam(of, {"--json"}).json();
  EXPECT_EQ(plain["deflation"], (json{{"most", 0}, {"systems", 0}}));
  const json deflating = with(of, "/solver", {{"deflation", 8}});
  const Result result = beam(deflating, {"--json"});
  ASSERT_EQ(result.status, 0) << result.error;
  const json report = result.json(), deflation = report["deflation"];
  EXPECT_EQ(deflation["most"], 8);
  EXPECT_EQ(deflation["vectors"], 8);
  EXPECT_EQ(deflation["systems"], 19);  // not at the start or the first step
  EXPECT_EQ(deflation["first_iterations"], report["steps"][1]["iterations"]);
  EXPECT_LT(deflation["mean_iterations"], 0.7 * deflation["first_iterations"].get<double>());
  EXPECT_GT(deflation["eigen_iterations"], 0);
  EXPECT_GT(deflation["setup_seconds"], 0);
  EXPECT_GE(deflation["renewal_seconds"], 0);
  EXPECT_LT(report["iterations"], 0.8 * plain["iterations"].get<double>());
  const double expected = plain["largest_displacement"];
  EXPECT_NEAR(report["largest_displacement"], expected, 1e-6 * expected);
  const std::string out = beam(deflating).out;
  EXPECT_NE(out.find("deflation  19 systems with 8 vectors: "), std::string::npos) << out;
}

TEST_F(CommandElastic, RefusesMoreEigenvectorsThanUnknowns) {
  json of = with(case_of("dynamic"), "/supports",
                 {{{"box", {{"from", {-1, -1, -1}}, {"to", {0.99, 1, 1}}}}},
                  {{"box", {{"from", {0.99, -1, -1}}, {"to", {2, 1, 1}}}}, {"fixed", {"y", "z"}}}});
  of["analysis"]["steps"] = 2;
  of["solver"]["deflation"] = 9;
  EXPECT_EQ(beam(of, {"--quiet"}).status, 0);
  of["solver"]["deflation"] = 10;
  expect_refusal(beam(of), "solver.deflation is 10, but 9 unknowns do not have 10 eigenvectors");
}

}  // namespace
