// Runs in the release.
// Effects of the options of `heddle solve`: output, guess, history, limits, threads, plans, texts.
#include <map>
#include <sstream>

#include "cli/run.hpp"
#include "cli/small_systems.hpp"
#include "heddle/plan.hpp"

namespace {

class SolveOptions : public CommandLine {
 protected:
  void SetUp() override {
    const Result made = run({"generate", "dirac", "--size", "300", "-o", "a.mtx", "--quiet"});
    ASSERT_EQ(made.status, 0) << made.error;
    EXPECT_EQ(made.out + made.error, "");
  }
  Result solve(std::vector<std::string> options) const {
    options.insert(options.begin(), {"solve", "a.mtx", "--entry", "quaternion"});
    return run(options);
  }
};

TEST_F(SolveOptions, OutputServesAsGuess) {
  ASSERT_EQ(solve({"--rhs", "ones", "--output", "x.mtx", "--quiet"}).status, 0);
  const Result again = solve({"--rhs", "ones", "--guess", "x.mtx", "-o", "y.mtx", "--json"});
  ASSERT_EQ(again.status, 0) << again.error;
  EXPECT_EQ(again.json()["iterations"], 0);
  EXPECT_LE(again.json()["residual"].get<double>(), 1e-10);
  EXPECT_EQ(text_of("x.mtx"), text_of("y.mtx"));
  EXPECT_EQ(files(), (Names{"a.mtx", "x.mtx", "y.mtx"}));
}

TEST_F(SolveOptions, FieldsMayBeInSingle) {
  const Result full = solve({"--rhs", "ones", "--json"});
  for (const std::string kept : {"full", "single", "scaled"}) {
    SCOPED_TRACE(kept);
    const Result made = solve({"--rhs", "ones", "--json", "--field-precision", "single", "--plan",
                               "chosen,iteration-precision=" + kept, "--right-hand-sides", "2",
                               "--history", "h.csv"});
    ASSERT_EQ(made.status, 0) << made.error;
    const auto json = made.json();
    EXPECT_EQ(json["fields"], "float");
    EXPECT_EQ(json["stored"], kept == "scaled" ? "scaled" : "float");
    EXPECT_LE(json["residual"].get<double>(), 1e-10);
    EXPECT_GT(json["memory"], full.json()["memory"]);
    EXPECT_LT(json["bytes_per_iteration"], full.json()["bytes_per_iteration"]);
    EXPECT_EQ(json["systems"].size(), 2U);
  }
  EXPECT_NE(solve({"--field-precision", "single"}).out.find("fields float"), std::string::npos);
  // A chain of springs, held by a stiffness smaller than floats resolve.
  std::ostringstream chain;
  chain.precision(17);
  chain << "%%MatrixMarket matrix coordinate real symmetric\n99 99 197\n";
  for (int i = 1; i <= 99; ++i) {
    chain << i << " " << i << " " << (i == 1 || i == 99 ? 1 : 2) + 1e-8 << "\n";
    if (i < 99) chain << i + 1 << " " << i << " -1\n";
  }
  folder.write("h.mtx", chain.str());
  const Result hard = run({"solve", "h.mtx", "--rhs", "ones", "--solver", "cg", "--json",
                           "--field-precision", "single", "--tolerance", "1e-6"});
  EXPECT_EQ(hard.status, 0) << hard.out;
  EXPECT_EQ(hard.json()["stored"], "own");
  EXPECT_EQ(hard.json()["fields"], "double");
  EXPECT_EQ(hard.json()["detail"], "floats got no further, the last iterations ran in double");
  for (const auto& [option, value] : std::map<std::string, std::string>{{"--precision", "single"},
                                                                        {"--shift", "1"},
                                                                        {"--storage", "hisparse"},
                                                                        {"--ranks", "2"},
                                                                        {"--solver", "block-cg"}}) {
    const Result refused = solve({"--field-precision", "single", option, value});
    EXPECT_EQ(refused.status, 2);
    EXPECT_NE(refused.error.find("--field-precision single is not for " + option),
              std::string::npos)
        << refused.error;
  }
}

TEST_F(SolveOptions, SolutionsLieSideBySide) {
  const Result alone = solve({"--rhs", "ones", "-o", "x.mtx", "--json"});
  ASSERT_EQ(alone.status, 0) << alone.error;
  const std::vector<std::string> two = {"--right-hand-sides", "2", "--json"};
  const auto solve_two = [&](std::vector<std::string> options) {
    options.insert(options.end(), two.begin(), two.end());
    return solve(std::move(options));
  };
  const Result both = solve_two({"--rhs", "ones", "-o", "both.mtx"});
  ASSERT_EQ(both.status, 0) << both.error;
  const auto systems = both.json()["systems"];
  ASSERT_EQ(systems.size(), 2U);
  EXPECT_EQ(alone.json()["systems"].size(), 1U);
  for (const auto& system : systems) {
    EXPECT_EQ(system["status"], "converged");
    EXPECT_EQ(system["iterations"], alone.json()["iterations"]);
  }
  const std::vector<double> once = components_of(text_of("x.mtx"));
  std::vector<double> twice;
  for (auto row = once.begin(); row != once.end(); row += 4) {
    for (int k = 0; k < 2; ++k) twice.insert(twice.end(), row, row + 4);
  }
  EXPECT_EQ(components_of(text_of("both.mtx")), twice);
  const Result again = solve_two({"--rhs", "ones", "--guess", "both.mtx"});
  EXPECT_EQ(again.json()["iterations"], 0);
  // Used as a right-hand side, x counts as one field, not two.
  const Result refused = solve_two({"--rhs", "x.mtx"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_NE(refused.error.find("the number of fields is 2"), std::string::npos) << refused.error;
  const Result random = solve_two({});
  ASSERT_EQ(random.status, 0) << random.error;
  EXPECT_LE(random.json()["systems"][1]["error"].get<double>(), 1e-6);
  EXPECT_NE(solve({"--right-hand-sides", "3"}).out.find("3 right-hand sides, 3 converged"),
            std::string::npos);
}

TEST_F(SolveOptions, ARefusedRightHandSideTakesNoOtherSolutionAlong) {
  folder.write("d.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 4\n2 2 -1\n");
  const auto solve_both = [&](const std::string& right, const std::string& to) {
    folder.write("b.mtx", "%%MatrixMarket matrix array real general\n4 1\n" + right);
    return run({"solve", "d.mtx", "--solver", "cg", "--preconditioner", "none", "--rhs", "b.mtx",
                "--right-hand-sides", "2", "-o", to});
  };
  const Result one = solve_both("2\n0\n0\n3\n", "x.mtx");
  EXPECT_EQ(one.status, 1);
  EXPECT_NE(one.out.find("2 right-hand sides, 1 converged"), std::string::npos) << one.out;
  EXPECT_NE(one.out.find("indefinite after 0 iterations"), std::string::npos) << one.out;
  EXPECT_NE(one.out.find("written    x.mtx"), std::string::npos) << one.out;
  EXPECT_EQ(components_of(text_of("x.mtx")), (std::vector<double>{0.5, 0, 0, 0}));
  const Result none = solve_both("0\n1\n0\n3\n", "y.mtx");
  EXPECT_NE(none.out.find("nothing: the system was refused"), std::string::npos) << none.out;
  EXPECT_EQ(files(), (Names{"a.mtx", "b.mtx", "d.mtx", "x.mtx"}));
}

TEST_F(SolveOptions, HistoryHasALineAnIteration) {
  const Result result = solve({"--history", "h.csv", "--json"});
  ASSERT_EQ(result.status, 0) << result.error;
  std::istringstream lines(text_of("h.csv"));
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(line, "iteration,relative_residual");
  long long iteration = -1;
  double residual = std::nan("");
  while (std::getline(lines, line)) {
    const std::size_t comma = line.find(',');
    ASSERT_NE(comma, std::string::npos) << line;
    EXPECT_EQ(std::stoll(line.substr(0, comma)), ++iteration);
    residual = std::stod(line.substr(comma + 1));
    if (iteration == 0) {
      EXPECT_NEAR(residual, 1, 1e-12);
    }
  }
  EXPECT_EQ(iteration, result.json()["iterations"].get<long long>());
  EXPECT_LE(residual, 1e-10);
  EXPECT_EQ(files(), (Names{"a.mtx", "h.csv"}));
}

TEST_F(SolveOptions, IterationLimitStillWrites) {
  const Result result = solve({"--max-iterations", "1", "--output", "x.mtx", "--json"});
  EXPECT_EQ(result.status, 1);
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(result.json()["status"], "iteration limit");
  EXPECT_EQ(result.json()["iterations"], 1);
  EXPECT_GT(result.json()["residual"].get<double>(), 1e-10);
  const std::vector<double> x = components_of(text_of("x.mtx"));
  EXPECT_EQ(x.size(), 4 * result.json()["rows"].get<std::size_t>());
  for (const double component : x) EXPECT_TRUE(std::isfinite(component));
}

TEST_F(SolveOptions, ALimitLeavesTheLastIterateOrTheBest) {
  folder.write("rough.mtx",
               "%%MatrixMarket matrix coordinate real symmetric\n3 3 5\n1 1 1\n2 1 -1\n"
               "2 2 2\n3 2 -1\n3 3 2\n");
  folder.write("b.mtx", "%%MatrixMarket matrix array real general\n3 1\n1\n1\n0\n");
  const auto limited = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {
        "solve", "rough.mtx",        "--rhs", "b.mtx", "--solver", "cg", "--preconditioner",
        "none",  "--max-iterations", "1"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments);
  };
  // b* b / b* A b = 2: the residual of 2 b is larger than that of zero.
  const auto last = limited({"--output", "x.mtx", "--json"}).json();
  EXPECT_EQ(last["returned"], "last");
  EXPECT_GT(last["residual"].get<double>(), 1);
  EXPECT_EQ(components_of(text_of("x.mtx")), (std::vector<double>{2, 2, 0}));
  const auto best = limited({"--keep", "best", "--output", "x.mtx", "--json"}).json();
  EXPECT_EQ(best["returned"], "guess");
  EXPECT_EQ(best["systems"][0]["returned"], "guess");
  EXPECT_EQ(best["residual"], 1);
  EXPECT_NE(limited({}).out.find("returned   last"), std::string::npos);
  EXPECT_EQ(limited({"--keep", "first"}).status, 2);
}

TEST_F(SolveOptions, TimeLimit) {
  const Result result = solve({"--time-limit", "0", "--json"});
  EXPECT_EQ(result.status, 1);
  EXPECT_EQ(result.json()["status"], "time limit");
}

TEST_F(SolveOptions, ToleranceIsMetAndNotMore) {
  const auto loose = solve({"--tolerance", "1e-2", "--json"}).json();
  const auto tight = solve({"--tolerance", "1e-12", "--json"}).json();
  EXPECT_LE(loose["residual"].get<double>(), 1e-2);
  EXPECT_LE(tight["residual"].get<double>(), 1e-12);
  EXPECT_LT(loose["iterations"].get<int>(), tight["iterations"].get<int>());
}

TEST_F(SolveOptions, ThreadsAndSchedulesChangeNoBit) {
  std::set<std::string> solutions;
  for (const char* threads : {"1", "2", "3"}) {
    for (const char* plan : {"Sl-32", "Sl-32,schedule=dynamic,chunk=1"}) {
      const Result result =
          solve({"--threads", threads, "--plan", plan, "--output", "x.mtx", "--quiet"});
      ASSERT_EQ(result.status, 0) << result.error;
      solutions.insert(text_of("x.mtx"));
    }
  }
  EXPECT_EQ(solutions.size(), 1u);
}

TEST_F(SolveOptions, SeedsMakeTheirOwnSystem) {
  std::map<std::string, std::string> solutions;
  for (const char* seed : {"1", "2"}) {
    ASSERT_EQ(solve({"--seed", seed, "--output", "x.mtx", "--quiet"}).status, 0);
    solutions[seed] = text_of("x.mtx");
  }
  EXPECT_NE(solutions["1"], solutions["2"]);
  ASSERT_EQ(solve({"--output", "x.mtx", "--quiet"}).status, 0);
  EXPECT_EQ(solutions["1"], text_of("x.mtx"));
}

TEST_F(SolveOptions, EveryPlanSolves) {
  for (const char* plan : {"CSR", "ELL", "Sl-16", "Sl-32", "pJDS", "K1", "K1r", "K1rs", "K2", "K2r",
                           "K2rs", "C=8,sigma=64,inner=soa,vector=soa", "K1rs,order=rcm"}) {
    SCOPED_TRACE(plan);
    const Result named = solve({"--plan", plan, "--json", "--output", "x.mtx"});
    ASSERT_EQ(named.status, 0) << named.error;
    EXPECT_LE(named.json()["residual"].get<double>(), 1e-10);
    EXPECT_LE(named.json()["error"].get<double>(), 1e-8);
    // The plan in the report can be given as an option, and is the same plan.
    const std::string canonical = named.json()["plan"];
    const Result again = solve({"--plan", canonical, "--json", "--output", "y.mtx"});
    ASSERT_EQ(again.status, 0) << again.error;
    EXPECT_EQ(again.json()["plan"], canonical);
    EXPECT_EQ(text_of("x.mtx"), text_of("y.mtx"));
  }
}

TEST_F(SolveOptions, EverySolverAndPreconditioner) {
  for (const char* solver : {"cg", "bicgstab"}) {
    for (const char* preconditioner :
         {"none", "jacobi", "chebyshev", "chebyshev:2", "neumann", "neumann:3"}) {
      for (const char* recurrence : {"recurrence=ring", "recurrence=real"}) {
        SCOPED_TRACE(std::string(solver) + " " + preconditioner + " " + recurrence);
        const Result result = solve({"--solver", solver, "--preconditioner", preconditioner,
                                     "--plan", recurrence, "--json"});
        ASSERT_EQ(result.status, 0) << result.out << result.error;
        EXPECT_LE(result.json()["residual"].get<double>(), 1e-10);
      }
    }
  }
}

TEST_F(SolveOptions, IterationsInFloatsReachTheResidualOfDouble) {
  for (const char* solver : {"cg", "bicgstab"}) {
    SCOPED_TRACE(solver);
    const auto report = [&](const char* plan) {
      const Result result =
          solve({"--solver", solver, "--tolerance", "1e-12", "--plan", plan, "--json"});
      EXPECT_EQ(result.status, 0) << result.out << result.error;
      return result.json();
    };
    const auto own = report("iteration-precision=full"),
               narrow = report("iteration-precision=single");
    EXPECT_EQ(own["stored"], "own");
    EXPECT_EQ(narrow["stored"], "float");
    EXPECT_EQ(narrow["precision"], "double");
    EXPECT_LE(narrow["residual"].get<double>(), 1e-12);
    EXPECT_GE(narrow["restarts"], 1);
    EXPECT_LT(narrow["bytes_per_iteration"], own["bytes_per_iteration"]);
    EXPECT_GT(narrow["memory"], own["memory"]);
    const auto words = report("iteration-precision=scaled");
    EXPECT_EQ(words["stored"], "scaled");
    EXPECT_LE(words["residual"].get<double>(), 1e-12);
    EXPECT_LT(words["memory"], narrow["memory"]);
  }
  const std::string out =
      solve({"--plan", "iteration-precision=single", "--tolerance", "1e-12"}).out;
  for (const char* part :
       {"iteration-precision=single", ", stored float\n", "copy of values", " restarts"}) {
    EXPECT_NE(out.find(part), std::string::npos) << part << " in\n" << out;
  }
}

TEST_F(SolveOptions, ChosenPlansCanBeChanged) {
  std::string changed = solve({"--plan", "full", "--json"}).json()["plan"];
  const std::string own = "iteration-precision=full", narrow = "iteration-precision=single";
  changed.replace(changed.find(own), own.size(), narrow);
  EXPECT_EQ(solve({"--plan", "full,chosen," + narrow, "--json"}).json()["plan"], changed);
  EXPECT_EQ(solve({"--plan", "chosen", "--json"}).json()["plan"], solve({"--json"}).json()["plan"]);
  const std::map<std::string, std::string> refused = {
      {"choose", "plan: 'choose' is neither key=value nor one of"},
      {"full,", "plan: '' is neither key=value nor one of"},
      {"full,full", "plan: 'full' is neither key=value nor one of"},
      {"chosen,", "plan: '' is not key=value"},
      {"chosen,CSR", "plan: 'CSR' is not key=value; only the first part may be a name"},
      {"chosen,threads-per-row=4", "plan: threads-per-row=4 does not divide C=1"},
      {"chosen,colour=red", "plan: there is no key 'colour'"},
      {"chosen,iteration-precision=quarter",
       "plan: iteration-precision=quarter is none of full single half bfloat scaled dictionary "
       "unit"}};
  for (const auto& [plan, complaint] : refused) {
    SCOPED_TRACE(plan);
    const Result result = solve({"--plan", plan});
    EXPECT_EQ(result.status, 2);
    EXPECT_NE(result.error.find(complaint), std::string::npos) << result.error;
  }
}

TEST_F(SolveOptions, PlansAreReportedInFull) {
  for (const std::string plan : {"chosen", "CSR", "chosen,schedule=dynamic", "C=4,sigma=n"}) {
    SCOPED_TRACE(plan);
    const auto report = solve({"--plan", plan, "--json"}).json();
    const auto full = solve({"--plan", "full," + plan, "--json"}).json();
    const heddle::Plan is = heddle::parse_plan(report["plan"].get<std::string>());
    EXPECT_EQ(report["plan"], to_string(is));
    EXPECT_EQ(full["plan"], to_full_string(is));
    EXPECT_EQ(full["plan_reason"], report["plan_reason"]);
    EXPECT_NE(solve({"--plan", "full," + plan}).out.find("\nplan       " + to_full_string(is)),
              std::string::npos);
  }
}

TEST_F(SolveOptions, ComeFromAFileToo) {
  folder.write("s.json", R"({"maxiter": 3, "tolerance": 1e-3, "solver": "gmres", "restart": 2,
                             "json": true, "monitor": false, "search": "full"})");
  const Result limited = solve({"--settings", "s.json"});
  ASSERT_EQ(limited.status, 1) << limited.error;
  EXPECT_EQ(limited.json()["iterations"], 3);
  EXPECT_EQ(limited.json()["settings"],
            (nlohmann::json{{"max_iterations", 3}, {"restart", 2}, {"tolerance", 1e-3}}));
  const Result more = solve({"--settings=s.json", "--max-iterations", "5"});
  EXPECT_EQ(more.json()["iterations"], 5);
  folder.write("steps.json", R"({"interval": [0.1, 30], "solver": "chebyshev", "json": true})");
  EXPECT_EQ(solve({"--settings", "steps.json"}).json()["interval"], (nlohmann::json{0.1, 30.0}));
  const std::map<std::string, std::string> refused = {
      {"{\"tolerances\": 1}", "--settings bad.json: there is no option --tolerances of solve"},
      {"[1]", "--settings bad.json: settings must be one JSON object"},
      {"{\"json\": 3}", "--settings bad.json: json must be true or false"},
      {"{\"tolerance\": null}", "--settings bad.json: tolerance must be a number, a text"},
      {"{\"tolerance\": 2}", "--tolerance must be a number of at least 0 and below 1, not '2'"},
      {"{\"keep\": ", "--settings bad.json: settings must be a JSON object, and this is not JSON"},
      {"{\"search\": \"hard\"}", "--settings bad.json: search must be pruned, full or predict"}};
  for (const auto& [text, complaint] : refused) {
    folder.write("bad.json", text);
    const Result result = solve({"--settings", "bad.json"});
    EXPECT_EQ(result.status, 2) << text;
    EXPECT_EQ(result.error.find("heddle: " + complaint), 0u) << result.error;
  }
  EXPECT_EQ(solve({"--settings", "none.json"}).status, 2);
  folder.write("o.json", R"({"output": "y.mtx", "tolerance": "1e-3", "max_iterations": 5e2})");
  EXPECT_EQ(solve({"-o", "x.mtx", "--settings", "o.json", "-q"}).status, 0);
  EXPECT_EQ(files().count("y.mtx"), 0u);
  EXPECT_EQ(
      run({"solve", "-q", "--entry", "quaternion", "--settings", "o.json", "--", "a.mtx"}).status,
      0);
  EXPECT_EQ(solve({"--settings", "none.json", "--help"}).status, 0);
}

TEST_F(SolveOptions, StandBeforeTheMatrixToo) {
  for (const std::vector<std::string>& option : std::vector<std::vector<std::string>>{
           {"--tolerance", "1e-3"},
           {"--keep", "best"},
           {"--restart", "5", "--solver", "gmres"},
           {"--solver", "chebyshev", "--tolerance", "0.5", "--interval", "0.1", "30"},
           {"--ranks", "2", "--partition", "ROWS"}}) {
    std::vector<std::string> arguments = {"solve", "--entry", "quaternion"};
    arguments.insert(arguments.end(), option.begin(), option.end());
    arguments.insert(arguments.end(), {"a.mtx", "-q"});
    const Result result = run(arguments);
    EXPECT_EQ(result.status, 0) << option.front() << result.error;
  }
  for (const char* const value : {"[best]", "[1e-8]"}) {
    EXPECT_EQ(solve({"--keep", value}).status, 2) << value;
  }
}

TEST_F(SolveOptions, TextForPeople) {
  const Result result = solve({"--output", "x.mtx"});
  ASSERT_EQ(result.status, 0) << result.error;
  EXPECT_EQ(result.error, "");
  for (const char* part : {"matrix     a.mtx", "quaternion entries (double)", "\nplan       CSR\n",
                           "memory ", "status     converged after", "residual ", "error ", "read ",
                           "build ", "permute ", "iterate ", "GB/s", "written    x.mtx"}) {
    EXPECT_NE(result.out.find(part), std::string::npos) << part << " in\n" << result.out;
  }
}

TEST_F(SolveOptions, QuietPrintsNothingButJson) {
  for (const char* quiet : {"--quiet", "-q"}) {
    const Result result = solve({quiet});
    EXPECT_EQ(result.status, 0);
    EXPECT_EQ(result.out + result.error, "");
  }
  EXPECT_EQ(solve({"--quiet", "--json"}).json()["status"], "converged");
}

TEST_F(SolveOptions, ZeroRightHandSide) {
  std::string zeros = "%%MatrixMarket matrix coordinate real general\n";
  const int rows = solve({"--json"}).json()["rows"];
  folder.write("b.mtx", zeros + std::to_string(rows) + " 4 0\n");
  const Result result = solve({"--rhs", "b.mtx", "--output", "x.mtx", "--json"});
  ASSERT_EQ(result.status, 0) << result.error;
  EXPECT_EQ(result.json()["iterations"], 0);
  for (const double component : components_of(text_of("x.mtx"))) EXPECT_EQ(component, 0);
}

}  // namespace
