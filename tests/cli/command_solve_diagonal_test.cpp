// `heddle solve` of matrices whose diagonal has zeros or holes.
#include "cli/run.hpp"
#include "cli/small_systems.hpp"

namespace {

using nlohmann::json;

class SolveDiagonal : public CommandLine {
 protected:
  Result solve(std::vector<std::string> options = {}) const {
    options.insert(options.begin(), {"solve", "a.mtx"});
    return run(options);
  }
};

TEST_F(SolveDiagonal, MissingDiagonalsAreNoWorkForJacobi) {
  DenseMatrix hole = real_matrix(7);
  hole.at(4, 4) = 0;
  folder.write("a.mtx", matrix_market(hole));
  const std::string missing = "the diagonal entry of row 4 (counted from 0) is missing or singular";
  const Result refused = solve({"--preconditioner", "jacobi"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_EQ(refused.error, "heddle: Jacobi: " + missing + "; use --preconditioner none\n");
  for (const std::vector<std::string>& more : {std::vector<std::string>{},
                                               {"--preconditioner", "auto"},
                                               {"--ranks", "3"},
                                               {"--storage", "hisparse"},
                                               {"--precision", "single"},
                                               {"--right-hand-sides", "2"},
                                               {"--field-precision", "single"}}) {
    std::vector<std::string> options = more;
    options.push_back("--json");
    const Result result = solve(options);
    ASSERT_EQ(result.status, 0) << result.out << result.error;
    const json report = result.json();
    EXPECT_EQ(report["preconditioner"], "none");
    EXPECT_EQ(report["preconditioner_reason"], missing);
    EXPECT_EQ(report["solver"], "minres");
    EXPECT_EQ(report["solver_reason"],
              "the matrix is Hermitian and not positive definite: row 4 (counted from 0) has 0 on "
              "the diagonal");
    EXPECT_LE(report["residual"], more.size() > 1 && more[1] == "single" ? 1e-5 : 1e-10);
  }
  EXPECT_NE(solve().out.find("jacobi     not taken: " + missing + "\n"), std::string::npos);
  EXPECT_EQ(solve({"--json", "--preconditioner", "none"}).json()["solver"], "minres");
  EXPECT_EQ(solve({"--json", "--shift", "5"}).json()["solver"], "cg");
  EXPECT_EQ(solve({"--solver", "block-cg"}).status, 1);  // indefinite, but not refused
}

/// Explicit zeros, empty rows, an adjacency matrix, a saddle point, a skew matrix.
TEST_F(SolveDiagonal, TakesAnyDiagonal) {
  const auto expect = [&](const std::string& entries, const std::string& solver) {
    SCOPED_TRACE(entries);
    folder.write("a.mtx", "%%MatrixMarket matrix coordinate real general\n" + entries);
    const Result result = solve({"--json"});
    EXPECT_EQ(result.status, 0) << result.out << result.error;
    const json report = result.json();
    EXPECT_EQ(report["preconditioner"], "none");
    EXPECT_EQ(report["solver"], solver);
    EXPECT_LE(report["residual"], 1e-10);
  };
  expect("3 3 4\n1 2 1\n2 1 1\n2 3 1\n3 2 1\n", "minres");
  expect("3 3 5\n1 2 1\n2 1 1\n2 3 1\n3 2 1\n1 1 0\n", "minres");
  expect("3 3 2\n1 1 1\n3 3 2\n", "minres");
  expect("2 2 2\n1 2 1\n2 1 -1\n", "gmres");
  expect("3 3 5\n1 1 2\n2 2 1\n1 3 1\n3 1 1\n2 3 4\n", "bicgstab");
  expect("3 3 7\n1 1 2\n2 2 1\n1 3 1\n3 1 1\n2 3 4\n3 2 4\n3 3 0\n", "minres");
}

}  // namespace
