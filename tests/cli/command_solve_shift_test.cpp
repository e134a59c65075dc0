// Runs in the release.
// `heddle solve --shift`, compared with the dense matrix A + sigma I, and the preconditioners that
// it supports.
#include "cli/run.hpp"
#include "cli/small_systems.hpp"

namespace {

class SolveShift : public CommandLine {
 protected:
  Result solve(std::vector<std::string> options) const {
    options.insert(options.begin(), {"solve", "a.mtx"});
    return run(options);
  }
};

TEST_F(SolveShift, SolvesTheShiftedSystemOfEveryEntry) {
  for (const SmallSystem& system : small_systems()) {
    SCOPED_TRACE(system.name);
    folder.write("a.mtx", system.text);
    for (const char* shift : {"0.5", "-3.75"}) {
      SCOPED_TRACE(shift);
      const Result result = solve({"--entry", system.entry, "--shift", shift, "--rhs", "ones",
                                   "--output", "x.mtx", "--json"});
      ASSERT_EQ(result.status, 0) << result.out << result.error;
      EXPECT_EQ(result.json()["shift"], std::stod(shift));
      DenseMatrix shifted = system.representation;
      for (int i = 0; i < shifted.rows; ++i) shifted.at(i, i) += std::stod(shift);
      // The number 1 in every row; for blocks, in every component.
      std::vector<double> ones(static_cast<std::size_t>(shifted.rows));
      const auto parts = static_cast<std::size_t>(parts_of_number(system.entry));
      for (std::size_t i = 0; i < ones.size(); i += parts) ones[i] = 1;
      EXPECT_LE(relative_residual(shifted, components_of(text_of("x.mtx")), ones), 1.001e-10);
    }
    // The right-hand side of a random solution also uses the shifted matrix.
    const auto report = solve({"--entry", system.entry, "--shift", "0.5", "--json"}).json();
    EXPECT_LE(report["error"].get<double>(), 1e-8);
  }
}

TEST_F(SolveShift, EveryMethodTakesIt) {
  folder.write("a.mtx", matrix_market(real_matrix(37)));
  for (const char* solver : {"cg", "bicgstab", "minres", "gmres", "cr"}) {
    for (const char* preconditioner : {"none", "chebyshev", "chebyshev:2", "neumann:2"}) {
      SCOPED_TRACE(std::string(solver) + " " + preconditioner);
      const auto result = solve(
          {"--solver", solver, "--preconditioner", preconditioner, "--shift", "-1", "--json"});
      // Neumann's series of an unscaled matrix does not converge.
      if (preconditioner == std::string("neumann:2") && result.status == 1) continue;
      ASSERT_EQ(result.status, 0) << result.out << result.error;
      EXPECT_LE(result.json()["error"].get<double>(), 1e-8);
    }
  }
  const auto single = solve({"--precision", "single", "--shift", "2", "--json"});
  EXPECT_EQ(single.status, 0) << single.out << single.error;
  const auto repeated = solve({"--shift", "2", "--repetitions", "3", "--json"});
  EXPECT_EQ(repeated.status, 0) << repeated.out << repeated.error;
}

TEST_F(SolveShift, TurnsToMinresWhereItMakesTheMatrixIndefinite) {
  folder.write("a.mtx", matrix_market(real_matrix(37)));
  const auto report = solve({"--shift", "-6", "--json"}).json();
  EXPECT_EQ(report["status"], "converged");
  EXPECT_EQ(report["solver"], "minres");
}

TEST_F(SolveShift, IsReportedInWords) {
  folder.write("a.mtx", matrix_market(real_matrix(12)));
  const std::string out = solve({"--shift", "0.3"}).out;
  for (const char* part : {"\nshift      A + sigma I is not stored, sigma = 0.3\n",
                           "b = (A + sigma I) x* with", ", preconditioner none, "}) {
    EXPECT_NE(out.find(part), std::string::npos) << part << " in\n" << out;
  }
  EXPECT_EQ(solve({}).out.find("shift"), std::string::npos);
  // 0 means no shift.
  EXPECT_NE(solve({"--shift", "0"}).out.find(", preconditioner jacobi, "), std::string::npos);
}

/// The copy would have no reader.
TEST_F(SolveShift, MakesNoCopyInFloats) {
  folder.write("a.mtx", matrix_market(real_matrix(12)));
  const std::vector<std::string> plan = {"--plan", "C=4,iteration-precision=single", "--json"};
  const auto report_of = [&](std::vector<std::string> options) {
    options.insert(options.end(), plan.begin(), plan.end());
    return solve(options).json();
  };
  const auto copied = report_of({});
  EXPECT_EQ(copied["stored"], "float");
  for (const std::vector<std::string>& options : std::vector<std::vector<std::string>>{
           {"--shift", "1"}, {"--solver", "block-cg", "--right-hand-sides", "2"}}) {
    const auto report = report_of(options);
    EXPECT_EQ(report["status"], "converged");
    EXPECT_EQ(report["stored"], "own");
    EXPECT_EQ(report["plan"].get<std::string>().find("iteration-precision"), std::string::npos);
    EXPECT_LT(report["memory"], copied["memory"]);
  }
}

TEST_F(SolveShift, RefusesInOneLine) {
  folder.write("a.mtx", matrix_market(real_matrix(12)));
  const auto expect_refused = [&](const std::vector<std::string>& options, const std::string& why) {
    const Result result = solve(options);
    EXPECT_EQ(result.status, 2);
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(result.error, "heddle: " + why + "\n");
  };
  expect_refused({"--shift", "1", "--preconditioner", "jacobi"},
                 "the preconditioner jacobi is made from stored entries, which this operator "
                 "lacks, as A + sigma I does; choose one of none, chebyshev, neumann");
  expect_refused({"--shift", "inf"}, "--shift must be a finite number");
  expect_refused({"--shift", "nan"}, "--shift must be a finite number");
  expect_refused({"--shift", "1e300", "--precision", "single"},
                 "the shift is not finite in the operator's precision");
  expect_refused({"--shift", "-6", "--preconditioner", "chebyshev"},
                 "Chebyshev: the matrix is not positive definite, as it has an eigenvalue of at "
                 "most -3.58; use Neumann or none");
  EXPECT_EQ(solve({"--shift", "much"}).status, 2);
}

TEST_F(SolveShift, PolynomialsSayWhatTheyAreNotFor) {
  DenseMatrix skewed = real_matrix(12);
  skewed.at(3, 4) += 0.25;
  folder.write("a.mtx", matrix_market(skewed));
  const Result result = solve({"--preconditioner", "chebyshev"});
  EXPECT_EQ(result.status, 2);
  EXPECT_EQ(result.error,
            "heddle: Chebyshev: the matrix is not Hermitian; use Neumann or Jacobi\n");
  EXPECT_EQ(solve({"--preconditioner", "neumann:3"}).status, 0);
  for (const char* wrong : {"chebyshev:0", "chebyshev:65", "neumann:17", "neumann:x"}) {
    EXPECT_EQ(solve({"--preconditioner", wrong}).status, 2) << wrong;
  }
}

}  // namespace
