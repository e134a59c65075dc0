// Runs in the release.
// The method that solves a system, and messages about systems that cannot be solved as requested.
#include <cmath>
#include <random>

#include "cli/run.hpp"
#include "cli/small_systems.hpp"

namespace {

using nlohmann::json;

class SolveMethod : public CommandLine {
 protected:
  Result solve(std::vector<std::string> options = {}) const {
    options.insert(options.begin(), {"solve", "a.mtx"});
    return run(options);
  }
  void write(const DenseMatrix& matrix) const { folder.write("a.mtx", matrix_market(matrix)); }
  /// Writes one number per line.
  void write_array(const std::string& name, const std::vector<std::string>& numbers) const {
    std::string text =
        "%%MatrixMarket matrix array real general\n" + std::to_string(numbers.size()) + " 1\n";
    for (const std::string& number : numbers) text += number + "\n";
    folder.write(name, text);
  }
};

DenseMatrix diagonal(const std::vector<double>& values) {
  const int size = static_cast<int>(values.size());
  DenseMatrix A(size, size);
  for (int i = 0; i < size; ++i) A.at(i, i) = values[static_cast<std::size_t>(i)];
  return A;
}

TEST_F(SolveMethod, IsChosenForWhatTheMatrixIs) {
  for (const SmallSystem& system : small_systems()) {
    SCOPED_TRACE(system.name);
    folder.write("a.mtx", system.text);
    const Result result = solve({"--entry", system.entry, "--json"});
    EXPECT_EQ(result.status, 0) << result.error;
    const json report = result.json();
    EXPECT_EQ(report["solver"], system.solver);
    EXPECT_NE(report["solver_reason"], "by --solver");
    EXPECT_LE(report["residual"], 1e-10);
  }
  DenseMatrix skewed = real_matrix(11);
  skewed.at(3, 4) += 0.25;
  write(skewed);
  EXPECT_EQ(solve({"--json"}).json()["solver"], "bicgstab");
  EXPECT_EQ(solve({"--json", "--precision", "single"}).json()["solver"], "bicgstab");
  const std::string out = solve().out;
  EXPECT_NE(out.find("solver     bicgstab: the matrix is not Hermitian\n"), std::string::npos)
      << out;
  EXPECT_EQ(solve({"--json", "--solver", "bicgstab"}).json()["solver_reason"], "by --solver");
}

TEST_F(SolveMethod, ConjugateGradientRefusesWhatIsNotHermitian) {
  DenseMatrix skewed = real_matrix(11);
  skewed.at(3, 4) += 0.25;
  write(skewed);
  const Result result = solve({"--solver", "cg", "--json"});
  EXPECT_EQ(result.status, 1) << result.error;
  const json report = result.json();
  EXPECT_EQ(report["status"], "not Hermitian");
  EXPECT_EQ(report["iterations"], 0);
  EXPECT_NE(report["detail"].get<std::string>().find("BiCGStab"), std::string::npos);
}

TEST_F(SolveMethod, IsMinresForIndefiniteMatrices) {
  write(diagonal({1, -2, 3, 4, -5}));
  const std::vector<std::string> options = {"--preconditioner", "none",  "--repetitions", "3",
                                            "--history",        "h.csv", "--json"};
  const Result result = solve(options);
  EXPECT_EQ(result.status, 0) << result.out << result.error;
  const json report = result.json();
  EXPECT_EQ(report["solver"], "minres");
  EXPECT_EQ(report["solver_reason"], "the diagonal has both signs");
  EXPECT_LE(report["residual"], 1e-10);
  EXPECT_EQ(solve({"--shift", "6", "--json"}).json()["solver"], "cg");
  // Jacobi's preconditioner is as indefinite as this matrix.
  write(diagonal({-1, -2, -3, -4, 1}));
  const json with_jacobi = solve({"--json"}).json();
  EXPECT_EQ(with_jacobi["solver"], "bicgstab");
  EXPECT_EQ(with_jacobi["solver_reason"],
            "the diagonal has both signs, so the preconditioner is indefinite");
  // The diagonal does not show that this matrix is indefinite.
  DenseMatrix hidden = diagonal({1, 1, 1, 1, 1});
  hidden.at(0, 1) = hidden.at(1, 0) = 1.25;
  write(hidden);
  const json seen = solve({"--json"}).json();
  EXPECT_EQ(seen["solver"], "minres");
  const auto reason = seen["solver_reason"].get<std::string>();
  EXPECT_TRUE(reason.starts_with("the matrix is indefinite: ")) << reason;
  EXPECT_TRUE(reason.ends_with(" steps of Lanczos' method found an eigenvalue of -0.25")) << reason;
  // A method that is named is kept.
  write(diagonal({1, -2, 3, 4, -5}));
  const Result named = solve({"--solver", "cg", "--preconditioner", "none", "--json"});
  EXPECT_EQ(named.status, 1);
  EXPECT_EQ(named.json()["status"], "indefinite");
}

/// A saddle point whose right-hand side lies in the constraints: r* A r is 0 at once.
TEST_F(SolveMethod, IsMinresForSaddlePoints) {
  DenseMatrix saddle(5, 5);
  for (int i = 0; i < 3; ++i) saddle.at(i, i) = 2 + i;
  saddle.at(0, 3) = saddle.at(3, 0) = 1;
  saddle.at(1, 4) = saddle.at(4, 1) = 2;
  write(saddle);
  write_array("b.mtx", {"0", "0", "0", "1", "1"});
  const Result result = solve({"--rhs", "b.mtx", "--preconditioner", "none", "--json"});
  EXPECT_EQ(result.status, 0) << result.out;
  EXPECT_EQ(result.json()["solver"], "minres");
  EXPECT_EQ(
      result.json()["solver_reason"],
      "the matrix is Hermitian and not positive definite: row 3 (counted from 0) has 0 on the "
      "diagonal");
  EXPECT_LE(result.json()["residual"], 1e-10);
}

TEST_F(SolveMethod, IsCocrForComplexSymmetricMatrices) {
  folder.write("a.mtx",
               "%%MatrixMarket matrix coordinate complex symmetric\n3 3 5\n1 1 4 1\n2 1 -1 0.5\n"
               "2 2 4 1\n3 2 -1 0.25\n3 3 4 2\n");
  const std::vector<std::string> complex = {"--entry", "complex", "--json"};
  const json report = solve(complex).json();
  EXPECT_EQ(report["solver"], "cocr");
  EXPECT_EQ(report["solver_reason"], "the matrix is complex symmetric");
  EXPECT_LE(report["residual"], 1e-10);
  EXPECT_EQ(solve({"--entry", "complex", "--solver", "cocg", "--json"}).json()["status"],
            "converged");
  // r^T r = 0 for b = (1, i, 0) and the identity: a breakdown, after which another method solves.
  folder.write("a.mtx",
               "%%MatrixMarket matrix coordinate complex general\n2 2 2\n1 1 0 1\n2 2 0 1\n");
  folder.write("b.mtx", "%%MatrixMarket matrix array complex general\n2 1\n1 0\n0 1\n");
  const json broken = solve({"--entry", "complex", "--rhs", "b.mtx", "--json"}).json();
  EXPECT_EQ(broken["solver"], "bicgstab");
  EXPECT_EQ(broken["solver_reason"], "COCR broke down after 0 iterations");
  EXPECT_EQ(broken["status"], "converged");
}

TEST_F(SolveMethod, IsGmresWhereBiCGStabBreaksDown) {
  DenseMatrix skew = diagonal({0, 0});
  skew.at(0, 1) = 2;
  skew.at(1, 0) = -2;
  write(skew);
  const json report = solve({"--preconditioner", "none", "--json"}).json();
  EXPECT_EQ(report["solver"], "gmres");
  EXPECT_EQ(report["solver_reason"], "BiCGStab broke down after 0 iterations");
  EXPECT_EQ(report["status"], "converged");
}

TEST_F(SolveMethod, IsGmresWhereTheResidualOfBiCGStabOnlyGrows) {
  constexpr int n = 20;
  DenseMatrix skew = diagonal(std::vector<double>(n));
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < i; ++k) {
      skew.at(i, k) = normal(random);
      skew.at(k, i) = -skew.at(i, k);
    }
  }
  write(skew);
  const json report = solve({"--json"}).json();
  EXPECT_EQ(report["solver"], "gmres");
  EXPECT_EQ(report["status"], "converged");
}

TEST_F(SolveMethod, SaysWhereTheMatrixMayBeSingular) {
  constexpr int n = 10;
  DenseMatrix neumann = diagonal(std::vector<double>(n, 2));
  neumann.at(0, 0) = neumann.at(n - 1, n - 1) = 1;
  for (int i = 1; i < n; ++i) neumann.at(i, i - 1) = neumann.at(i - 1, i) = -1;
  write(neumann);
  for (const char* method : {"cg", "minres"}) {
    const Result result = solve({"--rhs", "ones", "--solver", method, "--json"});
    EXPECT_EQ(result.status, 1) << method;
    const std::string detail = result.json()["detail"];
    EXPECT_NE(detail.find("singular"), std::string::npos) << method << ": " << detail;
  }
}

TEST_F(SolveMethod, IsFgmresForPreconditionersThatVary) {
  write(real_matrix(31));
  for (const char* preconditioner : {"gmres", "gmres:3", "cr:3"}) {
    const json report = solve({"--preconditioner", preconditioner, "--json"}).json();
    EXPECT_EQ(report["solver"], "fgmres");
    EXPECT_EQ(report["status"], "converged");
    EXPECT_EQ(report["preconditioner"], preconditioner);
  }
  const Result refused = solve({"--solver", "cg", "--preconditioner", "gmres"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_EQ(refused.error,
            "heddle: conjugate gradient needs a constant preconditioner, and this one says that it "
            "varies; use FGMRES\n");
  DenseMatrix general = real_matrix(31);
  general.at(0, 30) += 1;
  write(general);
  const Result inner = solve({"--preconditioner", "cr"});
  EXPECT_EQ(inner.status, 2);
  EXPECT_EQ(inner.error,
            "heddle: the inner solver: conjugate residual needs a Hermitian matrix: use "
            "BiCGStab\n");
  EXPECT_EQ(solve({"--preconditioner", "gmres"}).status, 0);
}

TEST_F(SolveMethod, ApproximateInversesSolveWhatTheyAreFor) {
  for (const SmallSystem& system : small_systems()) {
    for (const char* preconditioner : {"fsai", "fsai:3", "isai", "isai:2"}) {
      SCOPED_TRACE(system.name + " " + preconditioner);
      folder.write("a.mtx", system.text);
      const Result result =
          solve({"--entry", system.entry, "--preconditioner", preconditioner, "--json"});
      const bool is_factorized = preconditioner[0] == 'f';
      if (is_factorized && system.solver != "cg") {
        EXPECT_EQ(result.status, 2);
        EXPECT_EQ(result.error,
                  "heddle: FSAI: the entry has no adjoint; use the preconditioner isai\n");
        continue;
      }
      EXPECT_EQ(result.status, 0) << result.error;
      const json report = result.json();
      EXPECT_EQ(report["solver"], is_factorized ? "cg" : "bicgstab");
      EXPECT_LE(report["residual"], 1e-10);
      if (is_factorized || system.solver != "cg") continue;
      EXPECT_EQ(report["solver_reason"],
                std::string("the preconditioner ") + preconditioner + " is not Hermitian");
    }
  }
  folder.write("a.mtx",
               "%%MatrixMarket matrix coordinate complex symmetric\n3 3 5\n1 1 4 1\n2 1 -1 0.5\n"
               "2 2 4 1\n3 2 -1 0.25\n3 3 4 2\n");
  for (const char* preconditioner : {"fsai", "isai"}) {
    const json report =
        solve({"--entry", "complex", "--preconditioner", preconditioner, "--json"}).json();
    EXPECT_EQ(report["solver"], "bicgstab");
    EXPECT_EQ(report["solver_reason"],
              std::string("the preconditioner ") + preconditioner + " is not complex symmetric");
    EXPECT_EQ(report["status"], "converged");
  }
}

TEST_F(SolveMethod, BlockJacobiSolvesAndSaysWhatItRefuses) {
  for (const SmallSystem& system : small_systems()) {
    for (const char* preconditioner : {"block-jacobi", "block-jacobi:2"}) {
      SCOPED_TRACE(system.name + " " + preconditioner);
      folder.write("a.mtx", system.text);
      const Result result =
          solve({"--entry", system.entry, "--preconditioner", preconditioner, "--json"});
      EXPECT_EQ(result.status, 0) << result.error;
      const json report = result.json();
      EXPECT_EQ(report["solver"], system.solver);
      EXPECT_LE(report["residual"], 1e-10);
    }
  }
  write(diagonal({1, 2, 0, 4, 5}));
  EXPECT_EQ(solve({"--preconditioner", "block-jacobi:2"}).status, 0);
  EXPECT_EQ(solve({"--preconditioner", "block-jacobi:33"}).error,
            "heddle: the preconditioner block-jacobi takes the entries, 1 to 32, not '33'\n");
}

TEST_F(SolveMethod, DirectIsRefinedAndSaysWhatItRefuses) {
  for (const SmallSystem& system : small_systems()) {
    SCOPED_TRACE(system.name);
    folder.write("a.mtx", system.text);
    const Result result = solve({"--entry", system.entry, "--preconditioner", "direct", "--json"});
    EXPECT_EQ(result.status, 0) << result.error;
    const json report = result.json();
    EXPECT_EQ(report["solver"], system.solver);
    EXPECT_LE(report["iterations"], 2);
    EXPECT_LE(report["residual"], 1e-10);
    EXPECT_LE(report["error"], 1e-10);
  }
  DenseMatrix saddle(5, 5);
  for (int i = 0; i < 3; ++i) saddle.at(i, i) = 2 + i;
  saddle.at(0, 3) = saddle.at(3, 0) = 1;
  saddle.at(1, 4) = saddle.at(4, 1) = 2;
  write(saddle);
  const Result of_saddle = solve({"--preconditioner", "direct", "--json"});
  EXPECT_EQ(of_saddle.status, 0) << of_saddle.error;
  EXPECT_LE(of_saddle.json()["residual"], 1e-10);
  EXPECT_LE(of_saddle.json()["iterations"], 2);
  EXPECT_EQ(solve({"--preconditioner", "direct", "--ranks", "2"}).error,
            "heddle: the inverse on ranks must be block-jacobi, fsai or isai, not direct\n");
  EXPECT_EQ(solve({"--preconditioner", "direct:2"}).error,
            "heddle: the preconditioner direct takes no number, but was given '2'\n");
  write(diagonal({1, 2, 0, 4, 5}));
  EXPECT_EQ(solve({"--preconditioner", "direct"}).error,
            "heddle: direct: the matrix is singular, exactly or to rounding; use "
            "--preconditioner none\n");
}

TEST_F(SolveMethod, ComposedPreconditionersSolve) {
  for (const SmallSystem& system : small_systems()) {
    for (const std::string preconditioner :
         {"jacobi*isai", "block-jacobi:2,isai:2", "jacobi*neumann*jacobi",
          "neumann,block-jacobi:2,neumann", "jacobi,gmres:3"}) {
      SCOPED_TRACE(system.name + " " + preconditioner);
      folder.write("a.mtx", system.text);
      const Result result =
          solve({"--entry", system.entry, "--preconditioner", preconditioner, "--json"});
      EXPECT_EQ(result.status, 0) << result.error;
      const json report = result.json();
      const bool varies = preconditioner.back() == '3',
                 is_general = preconditioner.find("isai") != preconditioner.npos;
      EXPECT_EQ(report["solver"], varies ? "fgmres" : is_general ? "bicgstab" : system.solver);
      EXPECT_EQ(report["preconditioner"], preconditioner);
      EXPECT_LE(report["residual"], 1e-10);
      EXPECT_LE(report["error"], 1e-8);
    }
  }
  write(real_matrix(31));
  const json product = solve({"--preconditioner", "jacobi*fsai", "--json"}).json();
  EXPECT_EQ(product["solver"], "bicgstab");
  EXPECT_EQ(product["solver_reason"], "the preconditioner jacobi*fsai is not Hermitian");
  const json shifted =
      solve({"--shift", "0.5", "--preconditioner", "chebyshev:2,neumann,chebyshev:2", "--json"})
          .json();
  EXPECT_EQ(shifted["solver"], "cg");
  EXPECT_EQ(shifted["status"], "converged");
  EXPECT_LE(shifted["error"], 1e-8);
}

TEST_F(SolveMethod, ComposedPreconditionersSayWhatIsWrong) {
  write(real_matrix(31));
  const auto expect_refused = [&](const std::vector<std::string>& options, const std::string& why) {
    const Result result = solve(options);
    EXPECT_EQ(result.status, 2);
    EXPECT_EQ(result.error, "heddle: " + why + "\n");
  };
  expect_refused({"--solver", "cg", "--preconditioner", "jacobi,fsai"},
                 "conjugate gradient needs a Hermitian preconditioner, and this one says that it "
                 "is not; use BiCGStab");
  expect_refused({"--preconditioner", "jacobi*fsai:5"},
                 "part 2 of the preconditioner 'jacobi*fsai:5': the preconditioner fsai takes the "
                 "power, 1 to 4, not '5'");
  expect_refused({"--preconditioner", "jacobi,,fsai"},
                 "part 2 of the preconditioner 'jacobi,,fsai': it is empty");
  expect_refused({"--shift", "1", "--preconditioner", "neumann*jacobi*neumann"},
                 "the preconditioner jacobi is made from stored entries, which this operator "
                 "lacks, as A + sigma I does; choose one of none, chebyshev, neumann");
}

TEST_F(SolveMethod, ApproximateInversesSayWhatTheyRefuse) {
  write(diagonal({1, 2, -3, 4, -5}));
  const Result indefinite = solve({"--preconditioner", "fsai"});
  EXPECT_EQ(indefinite.status, 2);
  EXPECT_EQ(indefinite.error,
            "heddle: FSAI: the matrix is not positive definite; a pivot of row 2 (counted from 0) "
            "is not positive; use --preconditioner none\n");
  const Result power = solve({"--preconditioner", "isai:5"});
  EXPECT_EQ(power.status, 2);
  EXPECT_EQ(power.error, "heddle: the preconditioner isai takes the power, 1 to 4, not '5'\n");
  const Result method = solve({"--preconditioner", "isai", "--solver", "minres"});
  EXPECT_NE(method.status, 0);
  EXPECT_NE(method.error.find("Hermitian preconditioner"), std::string::npos) << method.error;
}

TEST_F(SolveMethod, AllDigitsEndAtTheAccuracyLimit) {
  write(real_matrix(37));
  for (const char* precision : {"double", "single"}) {
    for (const char* solver : {"cg", "bicgstab"}) {
      const Result result = solve({"--tolerance", "0", "--precision", precision, "--solver", solver,
                                   "--rhs", "ones", "--output", "x.mtx", "--json"});
      EXPECT_EQ(result.status, 1) << result.error;
      const json report = result.json();
      EXPECT_EQ(report["status"], "accuracy limit");
      const double epsilon = std::string(precision) == "double" ? 2.3e-16 : 1.2e-7;
      EXPECT_LE(report["backward_error"], 64 * epsilon);
      EXPECT_LE(report["residual"], 64 * epsilon);
      EXPECT_TRUE(std::filesystem::exists(folder / "x.mtx"));
    }
  }
  EXPECT_TRUE(solve({"--json"}).json()["backward_error"].is_null());
  const std::string out = solve({"--tolerance", "0"}).out;
  EXPECT_NE(out.find("status     accuracy limit"), std::string::npos) << out;
  EXPECT_NE(out.find("rounding   "), std::string::npos) << out;
}

TEST_F(SolveMethod, SolutionsThatNoNumberHoldsAreNotWritten) {
  struct Case {
    double matrix;
    const char* b;
  };
  for (const Case& of : {Case{1e-200, "1e200"}, Case{1e200, "1e-200"}, Case{1, "5e-324"}}) {
    for (const int size : {1, 40}) {
      for (const char* solver : {"cg", "bicgstab"}) {
        SCOPED_TRACE(std::string(of.b) + " " + solver + " " + std::to_string(size));
        DenseMatrix A = real_matrix(size);
        for (double& value : A.values) value *= of.matrix;
        write(A);
        const std::size_t rows = static_cast<std::size_t>(size);
        write_array("b.mtx", std::vector<std::string>(rows, of.b));
        const Result result =
            solve({"--rhs", "b.mtx", "--solver", solver, "--output", "x.mtx", "--json"});
        const json report = result.json();
        const std::vector<double> x = components_of(text_of("x.mtx"));
        const std::vector<double> b(rows, std::strtod(of.b, nullptr));
        for (const double value : x) EXPECT_TRUE(std::isfinite(value)) << value;
        // Computed in units of b, in which no sum overflows or underflows.
        long double squared = 0;
        for (int i = 0; i < size; ++i) {
          long double r = b[static_cast<std::size_t>(i)];
          for (int j = 0; j < size; ++j) {
            r -= static_cast<long double>(A.at(i, j)) * x[static_cast<std::size_t>(j)];
          }
          r /= b[0];
          squared += r * r;
        }
        const auto residual = static_cast<double>(std::sqrt(squared / size));
        ASSERT_TRUE(report["residual"].is_number()) << report;
        EXPECT_NEAR(report["residual"], residual, 1e-3 * residual + 1e-12);
        EXPECT_EQ(result.status, residual <= 1e-10 ? 0 : 1) << report;
        EXPECT_EQ(report["status"] == "converged", residual <= 1e-10) << report;
      }
    }
  }
}

}  // namespace
