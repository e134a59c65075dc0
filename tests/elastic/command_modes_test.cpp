// Modes and pictures of `heddle-elastic` from a user's point of view.
#include "elastic/command_elastic.hpp"

namespace {

TEST_F(CommandElastic, FindsModes) {
  const Result result =
      beam(case_of("modes"), {"--output", "modes.vtu", "--picture", "modes.png", "--json"});
  ASSERT_EQ(result.status, 0) << result.error;
  EXPECT_EQ(files(), (Names{"case.json", "modes.png", "modes.vtu"}));
  const json report = result.json();
  EXPECT_EQ(report["status"], "converged");
  EXPECT_EQ(report["analysis"], "modes");
  EXPECT_EQ(report["rigid_motions"], 0);
  ASSERT_EQ(report["modes"].size(), 6U);
  double before = 0;
  for (const json& mode : report["modes"]) {
    EXPECT_GT(mode["frequency"], before);
    before = mode["frequency"];
    EXPECT_LE(mode["backward_error"], 1e-10);
    EXPECT_LT(mode["frequency_error"], 1e-6 * before);
  }
  // The first mode bends: Euler and Bernoulli's beam has 81.5; so few tetrahedra are stiffer.
  EXPECT_GT(report["modes"][0]["frequency"], 81.5);
  EXPECT_LT(report["modes"][0]["frequency"], 1.4 * 81.5);
  const std::string vtu = text_of("modes.vtu");
  EXPECT_NE(vtu.find("\"mode_1\""), std::string::npos);
  EXPECT_NE(vtu.find("\"mode_6\""), std::string::npos);
  EXPECT_EQ(text_of("modes.png").substr(1, 3), "PNG");

  json free = case_of("modes");
  free.erase("supports");
  free["analysis"]["count"] = 2;
  const std::string out = beam(free).out;
  for (const char* line : {"analysis   modes\n", "rigid      6 motions of frequency 0",
                           "status     converged after ", "\n   2  "}) {
    EXPECT_NE(out.find(line), std::string::npos) << line << "\n" << out;
  }
}

TEST_F(CommandElastic, DrawsTheBentCantilever) {
  ASSERT_EQ(beam(case_of("static"), {"--picture", "beam.png", "-q"}).status, 0);
  EXPECT_EQ(files(), (Names{"beam.png", "case.json"}));
}

TEST_F(CommandElastic, RefusesOptionsOfModes) {
  expect_refusal(beam(case_of("modes"), {"--output", "beam.pvd"}),
                 "--output beam.pvd: modes are written together, as .vtu");
  expect_refusal(beam(case_of("modes"), {"--history", "h.csv"}),
                 "--history is for steps, and modes have none");
  expect_refusal(beam(case_of("modes"), {"--dump", "system"}),
                 "--dump is for linear systems, and modes have none");
  expect_refusal(beam(case_of("dynamic"), {"--picture", "beam.png"}),
                 "--picture is for static analyses and modes, not for a series");
  expect_refusal(beam(case_of("static"), {"--picture", "beam.jpg"}),
                 "--picture beam.jpg: pictures are written as .png");
  expect_refusal(beam(with(case_of("modes"), "/analysis/count", 17)),
                 "case.json: analysis.count must be from 1 to 16, not 17");
  json free = with(case_of("modes"), "/analysis/count", 11);
  free.erase("supports");
  expect_refusal(beam(free),
                 "analysis.count is 11; at most 10 modes can be found besides the 6 rigid motions "
                 "that nothing prevents");
}

}  // namespace
