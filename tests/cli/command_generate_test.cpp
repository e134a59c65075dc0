// Runs in the release.
// `heddle generate`: equal arguments give equal files; also its messages.
#include "cli/run.hpp"
#include "support/scoped_environment.hpp"

namespace {

class Generate : public CommandLine, public testing::WithParamInterface<const char*> {};

TEST_P(Generate, SameSeedSameFile) {
  for (const std::string end : {".mtx", ".mtx.gz", ".npz"}) {
    SCOPED_TRACE(end);
    for (const auto& [name, seed, threads] :
         {std::tuple{"a", "7", "1"}, {"b", "7", "2"}, {"c", "8", "2"}}) {
      const heddle::test::ScopedEnvironment set("OMP_NUM_THREADS", threads);
      const Result result =
          run({"generate", GetParam(), "--size", "500", "--seed", seed, "-o", name + end, "-q"});
      ASSERT_EQ(result.status, 0) << result.error;
      EXPECT_EQ(result.out + result.error, "");
    }
    EXPECT_FALSE(text_of("a" + end).empty());
    EXPECT_EQ(text_of("a" + end), text_of("b" + end));
    EXPECT_NE(text_of("a" + end), text_of("c" + end));
  }
  EXPECT_EQ(files().size(), 9u);
}

TEST_P(Generate, MakesAboutTheSizeAskedFor) {
  for (const int size : {1, 100, 3000}) {
    SCOPED_TRACE(size);
    const Result made =
        run({"generate", GetParam(), "--size", std::to_string(size), "-o", "a.npz"});
    ASSERT_EQ(made.status, 0) << made.error;
    EXPECT_EQ(made.error, "");
    const std::string entry = made.out.substr(made.out.find("--entry ") + 8);
    const Result info =
        run({"info", "a.npz", "--json", "--entry", entry.substr(0, entry.find(' '))});
    ASSERT_EQ(info.status, 0) << info.error;
    const auto json = info.json();
    const int rows = json["rows"];
    EXPECT_EQ(json["columns"], rows);
    if (size >= 100) {
      EXPECT_GE(rows, size / 2);
      EXPECT_LE(rows, size * 2);
    }
    EXPECT_EQ(json["symmetric_pattern"], true);
    EXPECT_EQ(json["missing_diagonal"], 0);
    EXPECT_EQ(json["singular_diagonal"], 0);
    if (std::string(GetParam()) != "helmholtz") {
      EXPECT_LE(json["hermitian_defect"].get<double>(), 1e-14);
    }
  }
}

TEST_P(Generate, QuotesNamesForTheShell) {
  const Result made = run({"generate", GetParam(), "--size", "100", "-o", "it's a name.mtx"});
  ASSERT_EQ(made.status, 0) << made.error;
  std::string line = made.out.substr(made.out.find("next: heddle ") + 13);
  line.erase(line.find('\n'));
  EXPECT_EQ(shell("$heddle " + line + " --quiet").status, 0) << line;
}

TEST_F(CommandLine, PointsOfElasticityAreItsCoordinates) {
  const Result made = run(
      {"generate", "elasticity", "--size", "2000", "-q", "-o", "e.npz", "--points", "points.mtx"});
  ASSERT_EQ(made.status, 0) << made.error;
  const auto iterations = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {"solve", "e.npz", "--entry", "block3", "--json",
                                     "--preconditioner", "multigrid"});
    const Result solved = run(options);
    EXPECT_EQ(solved.status, 0) << solved.error;
    return solved.json()["iterations"].get<int>();
  };
  EXPECT_LT(iterations({"--coordinates", "points.mtx"}), iterations({}));
  const Result none = run({"generate", "dirac", "-o", "d.npz", "--points", "points.mtx"});
  EXPECT_EQ(none.status, 2);
  EXPECT_EQ(none.error, "heddle: --points has no meaning for dirac; leave it out\n");
  EXPECT_EQ(run({"generate", "elasticity", "-o", "a.mtx", "--points", "a.mtx"}).status, 2);
  EXPECT_EQ(run({"generate", "elasticity", "-o", "a.mtx", "--points", "p.npz"}).status, 2);
}

INSTANTIATE_TEST_SUITE_P(Problems, Generate,
                         testing::Values("poisson", "elasticity", "helmholtz", "dirac"),
                         [](const auto& problem) { return std::string(problem.param); });

}  // namespace
