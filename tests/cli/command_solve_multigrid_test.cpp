// Runs in the release.
// `heddle solve --preconditioner multigrid`: its levels in the report, its options and refusals.
#include <cmath>
#include <cstdio>

#include "cli/run.hpp"
#include "cli/small_systems.hpp"

namespace {

using nlohmann::json;

class SolveMultigrid : public CommandLine {
 protected:
  Result solve(std::vector<std::string> options) const {
    options.insert(options.begin(), "solve");
    return run(options);
  }
  void expect_refused(const std::vector<std::string>& options, const std::string& why) const {
    const Result result = solve(options);
    EXPECT_EQ(result.status, 2);
    EXPECT_EQ(result.error, "heddle: " + why + "\n");
    EXPECT_EQ(result.out, "");
  }
};

std::string diagonal(int rows) {
  const std::string n = std::to_string(rows);
  std::string text = "%%MatrixMarket matrix coordinate real general\n" + n + " " + n + " " + n;
  for (int row = 1; row <= rows; ++row) {
    text += "\n" + std::to_string(row) + " " + std::to_string(row) + " 2";
  }
  return text + "\n";
}

TEST_F(SolveMultigrid, TellsItsLevels) {
  ASSERT_EQ(run({"generate", "poisson", "--size", "8000", "-o", "p.npz", "-q"}).status, 0);
  const json jacobi = solve({"p.npz", "--json"}).json();
  EXPECT_FALSE(jacobi.contains("multigrid"));
  for (const std::string preconditioner : {"multigrid", "multigrid:2"}) {
    for (const std::string cycle : {"v", "w"}) {
      const Result result =
          solve({"p.npz", "--preconditioner", preconditioner, "--cycle", cycle, "--json"});
      ASSERT_EQ(result.status, 0) << result.error;
      const json report = result.json(), of = report["multigrid"];
      EXPECT_EQ(report["preconditioner"], preconditioner);
      EXPECT_LE(report["iterations"], 15);
      ASSERT_GE(of["levels"].size(), 2U);
      EXPECT_EQ(of["levels"][0]["rows"], report["rows"]);
      EXPECT_EQ(of["levels"][0]["entries"], report["entries"]);
      EXPECT_GT(of["levels"][0]["largest_eigenvalue"], 1.0);
      EXPECT_EQ(of["levels"][0]["strength"], 0.08);
      EXPECT_EQ(of["levels"].back()["largest_eigenvalue"], 0.0);
      EXPECT_EQ(of["levels"].back()["is_solved"], true);
      EXPECT_GT(of["host_memory"], report["memory"]);
      EXPECT_GT(of["device_memory"], 0);
      EXPECT_GT(of["operator_complexity"], 1.0);
      EXPECT_LT(of["operator_complexity"], 2.5);
      EXPECT_GT(of["setup"], 0.0);
      EXPECT_LT(of["factor"], 0.25);
    }
  }
  for (const std::string smoother : {"jacobi", "l1-jacobi", "gauss-seidel"}) {
    const json report =
        solve({"p.npz", "--preconditioner", "multigrid", "--smoother", smoother, "--json"}).json();
    EXPECT_LE(report["iterations"], 25) << smoother;
    EXPECT_EQ(report["multigrid"]["smoother"], smoother);
    EXPECT_EQ(report["multigrid"]["levels"][0]["colours"], smoother == "gauss-seidel" ? 2 : 0);
  }
  // Given by the name alone, as in C and Python, and by options in its place.
  for (const std::string cycle : {"k", "v"}) {
    const json report = solve({"p.npz", "--preconditioner", "multigrid:2:k:gauss-seidel", "--cycle",
                               cycle, "--json"})
                            .json();
    EXPECT_EQ(report["solver"], cycle == "k" ? "fgmres" : "cg");
    EXPECT_EQ(report["multigrid"]["cycle"], cycle);
    EXPECT_EQ(report["multigrid"]["smoother"], "gauss-seidel");
    EXPECT_LE(report["iterations"], 12);
  }
  const std::string text = solve({"p.npz", "--preconditioner", "multigrid"}).out;
  EXPECT_NE(text.find("levels     8 000, "), std::string::npos) << text;
  EXPECT_NE(text.find("factor     an iteration left 0."), std::string::npos) << text;
  EXPECT_EQ(text.find("slow for multigrid"), std::string::npos) << text;
  EXPECT_NE(text.find(" rows, the last solved exactly; operator complexity "), std::string::npos);
  const json doubles = solve({"p.npz", "--preconditioner", "multigrid", "--json"}).json();
  const json floats =
      solve({"p.npz", "--preconditioner", "multigrid", "--level-precision", "single", "--json"})
          .json();
  EXPECT_LE(floats["iterations"].get<int>(), doubles["iterations"].get<int>() + 1);
  EXPECT_EQ(doubles["multigrid"]["level_precision"], "full");
  EXPECT_EQ(floats["multigrid"]["level_precision"], "single");
  EXPECT_LT(floats["multigrid"]["device_memory"], doubles["multigrid"]["device_memory"]);
  EXPECT_NE(solve({"p.npz", "--preconditioner", "multigrid:single"}).out.find(", in floats\n"),
            std::string::npos);
  // Above this threshold no connection is strong, and weaker ones take their place.
  const json weak =
      solve({"p.npz", "--preconditioner", "multigrid", "--strength", "0.9", "--json"}).json();
  EXPECT_LT(weak["multigrid"]["levels"][0]["strength"], 0.3);
  EXPECT_LE(weak["iterations"], 15);
  folder.write("diagonal.mtx", diagonal(600));
  const Result alone = solve({"diagonal.mtx", "--preconditioner", "multigrid"});
  EXPECT_NE(
      alone.out.find("levels     600 rows, nothing was coarsened: each cycle is the smoother"),
      std::string::npos)
      << alone.out;
  EXPECT_EQ(run({"eigen", "p.npz", "--count", "2", "--preconditioner", "multigrid"}).status, 0);
  EXPECT_EQ(solve({"p.npz", "--solver", "block-cg", "--right-hand-sides", "2", "--preconditioner",
                   "multigrid"})
                .status,
            0);
}

TEST_F(SolveMultigrid, TakesEveryEntryWithAnAdjoint) {
  for (const SmallSystem& system : small_systems()) {
    if (system.solver != "cg") continue;
    SCOPED_TRACE(system.name);
    folder.write("a.mtx", system.text);
    const Result result =
        solve({"a.mtx", "--entry", system.entry, "--preconditioner", "multigrid"});
    EXPECT_EQ(result.status, 0) << result.error;
  }
}

/// -w g_i conj(g_j) on a cycle, with complex numbers g of modulus 1, slightly shifted.
TEST_F(SolveMultigrid, TakesCandidatesOfFilesAndFindsThem) {
  constexpr int rows = 2000;
  std::string text, field = "%%MatrixMarket matrix array complex general\n2000 1\n";
  const auto angle = [](int i) { return 2.4 * i * i; };
  const auto line = [&](int i, int j, double weight) {
    const double turn = angle(i) - angle(j);
    char numbers[128];
    std::snprintf(numbers, sizeof numbers, "%d %d %.17g %.17g\n", i + 1, j + 1,
                  weight * std::cos(turn), weight * std::sin(turn));
    text += numbers;
  };
  for (int i = 0; i < rows; ++i) {
    line(i, i, 2 + 1e-6);
    line(i, (i + 1) % rows, -1);
    line((i + 1) % rows, i, -1);
    char number[64];
    std::snprintf(number, sizeof number, "%.17g %.17g\n", std::cos(angle(i)), std::sin(angle(i)));
    field += number;
  }
  folder.write("g.mtx",
               "%%MatrixMarket matrix coordinate complex general\n2000 2000 6000\n" + text);
  folder.write("near-null.mtx", field);
  const auto iterations = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {"g.mtx", "--entry", "complex", "--preconditioner", "multigrid",
                                     "--json", "--max-iterations", "2000"});
    return solve(options).json()["iterations"].get<int>();
  };
  const int constants = iterations({}), given = iterations({"--candidates", "near-null.mtx"});
  EXPECT_LE(given, 20);
  EXPECT_GT(constants, 10 * given);
  EXPECT_LT(iterations({"--candidates", "adaptive"}), constants / 4);
  const Result poor = solve(
      {"g.mtx", "--entry", "complex", "--preconditioner", "multigrid", "--max-iterations", "2000"});
  EXPECT_NE(poor.out.find(": slow for multigrid; try --candidates adaptive, a --strength other "
                          "than 0.08, or --preconditioner jacobi\n"),
            std::string::npos)
      << poor.out;
}

/// Elasticity stored as numbers takes many times the iterations of blocks with the motions of a
/// body.
TEST_F(SolveMultigrid, NumbersThatAreBlocksGetAdvice) {
  ASSERT_EQ(run({"generate", "elasticity", "--size", "1000", "--poisson-ratio", "0.48", "-o",
                 "e.mtx", "--points", "p.mtx", "-q"})
                .status,
            0);
  const std::vector<std::string> multigrid = {"e.mtx", "--preconditioner", "multigrid"};
  const Result numbers = solve(multigrid);
  const std::string advice = "rows come in threes: 3 x 3 tiles are 100% full; as block3 entries ";
  EXPECT_NE(numbers.out.find("\nadvice     " + advice), std::string::npos) << numbers.out;
  EXPECT_NE(numbers.out.find(": slow for multigrid; try --entry block3 with --coordinates or "
                             "--candidates, --candidates adaptive, a --strength other than 0.08"),
            std::string::npos)
      << numbers.out;
  const auto json = solve({"e.mtx", "--json"}).json();
  EXPECT_EQ(json["advice"].get<std::string>().find(advice), 0U) << json;
  std::vector<std::string> blocks = multigrid;
  blocks.insert(blocks.end(), {"--entry", "block3", "--coordinates", "p.mtx"});
  const Result taken = solve(blocks);
  EXPECT_EQ(taken.status, 0);
  EXPECT_EQ(taken.out.find("advice"), std::string::npos) << taken.out;
  EXPECT_EQ(taken.out.find("slow for multigrid"), std::string::npos) << taken.out;
}

TEST_F(SolveMultigrid, RefusesWhatDoesNotSuit) {
  ASSERT_EQ(run({"generate", "poisson", "--size", "1000", "-o", "p.npz", "-q"}).status, 0);
  ASSERT_EQ(run({"generate", "elasticity", "--size", "200", "-o", "e.npz", "-q"}).status, 0);
  folder.write("points.mtx", "%%MatrixMarket matrix array real general\n2 3\n0\n1\n0\n0\n0\n0\n");
  expect_refused({"p.npz", "--cycle", "w"}, "--cycle is for --preconditioner multigrid");
  expect_refused({"p.npz", "--smoother", "jacobi"}, "--smoother is for --preconditioner multigrid");
  expect_refused({"p.npz", "--interpolation", "plain"},
                 "--interpolation is for --preconditioner multigrid");
  expect_refused({"p.npz", "--level-precision", "single"},
                 "--level-precision is for --preconditioner multigrid");
  ASSERT_EQ(run({"generate", "poisson", "--size", "8000", "-o", "q.npz", "-q"}).status, 0);
  expect_refused({"q.npz", "--preconditioner", "multigrid", "--cycle", "k", "--solver", "cg"},
                 "conjugate gradient needs a constant preconditioner, and this one says that it "
                 "varies; use FGMRES");
  expect_refused({"p.npz", "--preconditioner", "multigrid:k:2"},
                 "the preconditioner multigrid takes the degree first, then a cycle (v, w, k), a "
                 "smoother (chebyshev, jacobi, l1-jacobi, gauss-seidel), an interpolation "
                 "(smoothed, plain) and a precision of its levels (full, single), not '2'");
  expect_refused({"p.npz", "--strength", "0"}, "--strength is for --preconditioner multigrid");
  expect_refused({"p.npz", "--preconditioner", "multigrid", "--strength", "1"},
                 "--strength must be a number of at least 0 and below 1, not '1'");
  expect_refused({"p.npz", "--candidates", "adaptive"},
                 "--candidates is for --preconditioner multigrid");
  expect_refused({"p.npz", "--preconditioner", "multigrid", "--coordinates", "points.mtx",
                  "--candidates", "adaptive"},
                 "--coordinates and --candidates both define the candidates: give one of them");
  folder.write("short.mtx", "%%MatrixMarket matrix array real general\n3 1\n1\n1\n1\n");
  expect_refused({"p.npz", "--preconditioner", "multigrid", "--candidates", "short.mtx"},
                 "--candidates short.mtx has 3 rows, the matrix has 1000");
  expect_refused({"p.npz", "--coordinates", "points.mtx"},
                 "--coordinates is for --preconditioner multigrid");
  expect_refused({"p.npz", "--preconditioner", "multigrid", "--coordinates", "points.mtx"},
                 "--coordinates are for rows of block2 or block3 entries, not of real");
  const Result result = solve({"e.npz", "--entry", "block3", "--preconditioner", "multigrid",
                               "--coordinates", "points.mtx"});
  EXPECT_EQ(result.status, 2);
  EXPECT_TRUE(
      result.error.starts_with("heddle: --coordinates points.mtx has 2 points, the matrix has "))
      << result.error;
  folder.write("skewed.mtx",
               "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 2\n1 2 1\n2 2 2\n");
  expect_refused({"skewed.mtx", "--preconditioner", "multigrid"},
                 "multigrid: the matrix is not Hermitian; use jacobi, or none");
}

TEST_F(SolveMultigrid, TakesTheSettingsOfAProfile) {
  ASSERT_EQ(run({"generate", "elasticity", "--size", "300", "-o", "e.npz", "--points", "points.mtx",
                 "-q"})
                .status,
            0);
  const Result tuned =
      run({"tune", "e.npz", "--entry", "block3", "--objective", "multigrid", "--coordinates",
           "points.mtx", "--max-runs", "1", "-o", "p.json", "--json"});
  ASSERT_EQ(tuned.status, 0) << tuned.error;
  const auto found = tuned.json()["matrices"][0];
  EXPECT_EQ(found["candidates"], "rigid-body");
  EXPECT_EQ(tuned.json()["profile"], "p.json");
  const auto solved = [&](std::vector<std::string> options) {
    options.insert(options.begin(),
                   {"e.npz", "--entry", "block3", "--profile", "p.json", "--json"});
    return solve(options).json();
  };
  const auto with = solved({"--preconditioner", "multigrid", "--coordinates", "points.mtx"});
  EXPECT_EQ(with["preconditioner"], found["preconditioner"]);
  EXPECT_EQ(with["multigrid"]["reason"], "tuned for this pattern (profile p.json)");
  EXPECT_EQ(with["iterations"], found["iterations"]);
  // The profile affects neither named settings nor other candidates.
  for (const std::vector<std::string>& options :
       {std::vector<std::string>{"--preconditioner", "multigrid"},
        {"--preconditioner", "multigrid:1:v", "--coordinates", "points.mtx"},
        {"--preconditioner", "multigrid", "--coordinates", "points.mtx", "--strength", "0.1"}}) {
    EXPECT_EQ(solved(options)["multigrid"]["reason"], options.size() == 2 ? "default" : "as named");
  }
  const auto expect_no_tuning = [this](std::vector<std::string> options, const std::string& why) {
    options.insert(options.begin(), {"tune", "e.npz", "--entry", "block3"});
    const Result refused = run(options);
    EXPECT_EQ(refused.status, 2);
    EXPECT_NE(refused.error.find(why), std::string::npos) << refused.error;
  };
  expect_no_tuning({"--coordinates", "points.mtx"},
                   "--coordinates and --candidates are for --objective multigrid");
  expect_no_tuning({"--objective", "multigrid", "--domain", "solids"},
                   "--domain is for plans, not for --objective multigrid");
  expect_no_tuning({"--objective", "multigrid", "--tightness", "0.1"},
                   "--tightness is for medians of plans, not for --objective multigrid");
}

}  // namespace
