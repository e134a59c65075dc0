// Runs in the release.
// `heddle solve --solver chebyshev` and `richardson`: intervals and steps, stated and estimated.
#include <cmath>

#include "cli/run.hpp"
#include "cli/small_systems.hpp"

namespace {

using nlohmann::json;

class SolveSteps : public CommandLine {
 protected:
  void SetUp() override {
    DenseMatrix A(40, 40);
    for (int i = 0; i < 40; ++i) {
      A.at(i, i) = 2.5;
      if (i > 0) A.at(i, i - 1) = A.at(i - 1, i) = -1;
    }
    folder.write("a.mtx", matrix_market(A));
    A.at(3, 4) += 0.25;
    folder.write("skewed.mtx", matrix_market(A));
    A = DenseMatrix(3, 3);
    for (int i = 0; i < 3; ++i) A.at(i, i) = i == 1 ? -1 : 1;
    folder.write("indefinite.mtx", matrix_market(A));
  }
  Result solve(std::vector<std::string> options, const std::string& file = "a.mtx") const {
    options.insert(options.begin(), {"solve", file});
    return run(options);
  }
  void expect_refused(const std::vector<std::string>& options, const std::string& why) const {
    const Result result = solve(options);
    EXPECT_EQ(result.status, 2);
    EXPECT_EQ(result.error, "heddle: " + why + "\n");
  }
};

/// The interval for the line 2.5, -1, whose eigenvalues are 2.5 - 2 cos(pi k / 41).
constexpr double least = 0.5, most = 4.5;

TEST_F(SolveSteps, TellTheIntervalThatTheyEstimated) {
  for (const char* precision : {"double", "single"}) {
    for (const char* solver : {"chebyshev", "richardson"}) {
      SCOPED_TRACE(std::string(solver) + " " + precision);
      const Result result = solve(
          {"--solver", solver, "--preconditioner", "none", "--json", "--precision", precision});
      EXPECT_EQ(result.status, 0) << result.error;
      const json report = result.json();
      EXPECT_EQ(report["solver"], solver);
      const double lower = report["interval"][0], upper = report["interval"][1];
      EXPECT_LE(lower, least + 0.01);
      EXPECT_GE(lower, 0.9 * least);
      EXPECT_GE(upper, most - 0.01);
      EXPECT_LE(upper, 1.1 * most);
      if (report["solver"] == "richardson") {
        EXPECT_NEAR(report["omega"].get<double>(), 2 / (lower + upper), 1e-12);
      } else {
        EXPECT_TRUE(report["omega"].is_null());
      }
    }
  }
  const std::string out = solve({"--solver", "chebyshev", "--preconditioner", "none"}).out;
  EXPECT_NE(out.find("\nsteps      eigenvalues of M^-1 A from 0."), std::string::npos) << out;
  const json other = solve({"--json"}).json();
  EXPECT_TRUE(other["interval"].is_null());
  EXPECT_TRUE(other["omega"].is_null());
}

TEST_F(SolveSteps, TakeWhatIsStated) {
  const json stated = solve({"--solver", "chebyshev", "--interval", "0.2", "1.8", "--json"}).json();
  EXPECT_EQ(stated["status"], "converged");
  EXPECT_EQ(stated["interval"], json({0.2, 1.8}));
  const json halved =
      solve({"--solver", "richardson", "--interval", "0.5", "1.5", "--json"}).json();
  EXPECT_EQ(halved["omega"], 1);
  const json given = solve({"--solver", "richardson", "--omega", "0.9", "--json"}).json();
  EXPECT_EQ(given["status"], "converged");
  EXPECT_EQ(given["omega"], 0.9);
  EXPECT_TRUE(given["interval"].is_null());
  const std::string out = solve({"--solver", "richardson", "--omega", "0.9"}).out;
  EXPECT_NE(out.find("\nsteps      omega = 0.9\n"), std::string::npos) << out;
  // Exactly the requested number of steps.
  const Result few =
      solve({"--solver", "chebyshev", "--max-iterations", "7", "--history", "h.csv", "--json"});
  EXPECT_EQ(few.status, 1);
  EXPECT_EQ(few.json()["iterations"], 7);
  EXPECT_EQ(few.json()["status"], "iteration limit");
  EXPECT_TRUE(few.json()["detail"].is_null());
  const json several = solve({"--solver", "chebyshev", "--right-hand-sides", "3", "--json"}).json();
  for (const json& system : several["systems"]) EXPECT_EQ(system["status"], "converged");
  EXPECT_EQ(solve({"--solver", "chebyshev", "--shift", "0.5", "--json"}).json()["status"],
            "converged");
}

TEST_F(SolveSteps, SayWhereTheResidualGrows) {
  const json missed = solve({"--solver", "chebyshev", "--interval", "0.1", "0.9", "--json"}).json();
  EXPECT_EQ(missed["status"], "stagnated");
  EXPECT_EQ(missed["detail"],
            "the residual grew: eigenvalues of M^-1 A may lie outside the interval");
  EXPECT_LE(missed["residual"], 1);
  const json large = solve({"--solver", "richardson", "--omega", "2", "--json"}).json();
  EXPECT_EQ(large["status"], "stagnated");
  EXPECT_EQ(large["detail"], "the residual grew: omega does not suit the eigenvalues of M^-1 A");
  const json cut =
      solve({"--solver", "richardson", "--omega", "2", "--max-iterations", "9", "--json"}).json();
  EXPECT_EQ(cut["status"], "iteration limit");
  EXPECT_EQ(cut["detail"], large["detail"]);
}

TEST_F(SolveSteps, SayWhichMatricesTheyAreNotFor) {
  for (const char* solver : {"chebyshev", "richardson"}) {
    const Result skewed = solve({"--solver", solver, "--json"}, "skewed.mtx");
    EXPECT_EQ(skewed.status, 1);
    EXPECT_EQ(skewed.json()["status"], "not Hermitian");
    EXPECT_TRUE(skewed.json()["interval"].is_null());
    const Result indefinite = solve({"--solver", solver, "--json"}, "indefinite.mtx");
    EXPECT_EQ(indefinite.status, 1);
    EXPECT_EQ(indefinite.json()["status"], "indefinite");
    EXPECT_EQ(indefinite.json()["iterations"], 0);
  }
  EXPECT_EQ(solve({"--solver", "richardson", "--omega", "0.9"}, "skewed.mtx").status, 0);
}

TEST_F(SolveSteps, RefuseWhatIsNotForThem) {
  for (const std::string solver : {"cg", "auto", "lsmr"}) {
    const std::string instead =
        solver == "auto" ? ": name the method; auto may choose another" : ", not for " + solver;
    expect_refused({"--solver", solver, "--interval", "1", "2"},
                   "--interval is for chebyshev and richardson" + instead);
    expect_refused({"--solver", solver, "--omega", "1"}, "--omega is for richardson" + instead);
  }
  expect_refused({"--solver", "chebyshev", "--omega", "1"},
                 "--omega is for richardson, not for chebyshev");
  expect_refused({"--solver", "richardson", "--omega", "1", "--interval", "1", "2"},
                 "--omega and --interval: give one of them");
  for (const auto& [lower, upper] : std::vector<std::pair<std::string, std::string>>{
           {"0", "1"}, {"2", "1"}, {"1", "1"}, {"-1", "1"}, {"1", "inf"}, {"nan", "1"}}) {
    expect_refused({"--solver", "chebyshev", "--interval", lower, upper},
                   "--interval must be two finite numbers, 0 < LOWER < UPPER, not '" + lower + " " +
                       upper + "'");
  }
  for (const char* omega : {"0", "inf", "nan"}) {
    expect_refused(
        {"--solver", "richardson", "--omega", omega},
        std::string("--omega must be a finite number other than 0, not '") + omega + "'");
  }
  for (const std::vector<std::string>& numbers : {std::vector<std::string>{"1"}, {"1", "two"}}) {
    std::vector<std::string> options = {"--solver", "chebyshev", "--interval"};
    options.insert(options.end(), numbers.begin(), numbers.end());
    EXPECT_EQ(solve(options).status, 2);
  }
  const Result varies = solve({"--solver", "chebyshev", "--preconditioner", "gmres"});
  EXPECT_EQ(varies.status, 2);
  EXPECT_EQ(varies.error,
            "heddle: Chebyshev iteration needs a constant preconditioner, and this one says that "
            "it varies; use FGMRES\n");
}

}  // namespace
