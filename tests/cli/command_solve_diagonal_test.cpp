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

TEST_F(SolveDiagonal, MissingEntriesCountAsOne) {
  DenseMatrix hole = real_matrix(7);
  hole.at(4, 4) = 0;
  folder.write("a.mtx", matrix_market(hole));
  for (const std::vector<std::string>& more : {std::vector<std::string>{},
                                               {"--preconditioner", "auto"},
                                               {"--preconditioner", "jacobi"},
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
    EXPECT_EQ(report["preconditioner"], "jacobi");
    EXPECT_EQ(report.value("unit_rows", 0), more.size() > 1 && more[0] == "--ranks" ? 0 : 1);
    EXPECT_EQ(report["solver"], "minres");
    EXPECT_EQ(report["solver_reason"],
              "the matrix is Hermitian and not positive definite: row 4 (counted from 0) has 0 on "
              "the diagonal");
    EXPECT_LE(report["residual"], more.size() > 1 && more[1] == "single" ? 1e-5 : 1e-10);
  }
  EXPECT_NE(
      solve().out.find("diagonal   1 entry has no inverse and counts as 1, the first in row 4 "
                       "(counted from 0)\n"),
      std::string::npos);
  EXPECT_EQ(solve({"--json", "--preconditioner", "none"}).json()["solver"], "minres");
  EXPECT_EQ(solve({"--json", "--shift", "5"}).json()["solver"], "cg");
  EXPECT_EQ(solve({"--solver", "block-cg"}).status, 1);  // indefinite, but not refused
}

/// Explicit zeros, empty rows, an adjacency matrix, a saddle point, a skew matrix.
TEST_F(SolveDiagonal, TakesAnyDiagonal) {
  const auto expect = [&](const std::string& entries, const std::string& solver,
                          const std::string& preconditioner = "jacobi") {
    SCOPED_TRACE(entries);
    folder.write("a.mtx", "%%MatrixMarket matrix coordinate real general\n" + entries);
    const Result result = solve({"--json"});
    EXPECT_EQ(result.status, 0) << result.out << result.error;
    const json report = result.json();
    EXPECT_EQ(report["preconditioner"], preconditioner);
    EXPECT_EQ(report["solver"], solver);
    EXPECT_LE(report["residual"], 1e-10);
  };
  expect("3 3 4\n1 2 1\n2 1 1\n2 3 1\n3 2 1\n", "minres", "none");
  expect("3 3 5\n1 2 1\n2 1 1\n2 3 1\n3 2 1\n1 1 0\n", "minres", "none");
  expect("3 3 2\n1 1 1\n3 3 2\n", "cg");
  expect("2 2 2\n1 2 1\n2 1 -1\n", "gmres", "none");
  expect("3 3 5\n1 1 2\n2 2 1\n1 3 1\n3 1 1\n2 3 4\n", "bicgstab");
  expect("3 3 7\n1 1 2\n2 2 1\n1 3 1\n3 1 1\n2 3 4\n3 2 4\n3 3 0\n", "minres");
}

/// Rows that nothing uses: every preconditioner that takes them solves where b is 0 there.
TEST_F(SolveDiagonal, LeavesOutRowsOfZerosOrNamesThem) {
  constexpr int side = 20, n = side * side;
  DenseMatrix A(n, n);
  const auto is_used = [](int row) { return row % 97 != 5; };
  for (int row = 0; row < n; ++row) {
    if (!is_used(row)) continue;
    A.at(row, row) = 4;
    for (const int other : {row + 1, row + side}) {
      const bool is_neighbour = other < n && (other != row + 1 || other % side != 0);
      if (is_neighbour && is_used(other)) A.at(row, other) = A.at(other, row) = -1;
    }
  }
  folder.write("a.mtx", matrix_market(A));
  std::string b = "%%MatrixMarket matrix array real general\n" + std::to_string(n) + " 1\n";
  for (int row = 0; row < n; ++row) b += is_used(row) ? std::to_string(1 + row % 7) + "\n" : "0\n";
  folder.write("b.mtx", b);
  for (const char* preconditioner :
       {"none", "jacobi", "block-jacobi", "chebyshev", "neumann", "multigrid",
        "multigrid:1:v:gauss-seidel", "multigrid:1:v:l1-jacobi"}) {
    SCOPED_TRACE(preconditioner);
    const Result result = solve({"--rhs", "b.mtx", "--preconditioner", preconditioner, "--json"});
    ASSERT_EQ(result.status, 0) << result.out << result.error;
    EXPECT_EQ(result.json()["solver"], "cg");
    EXPECT_LE(result.json()["residual"], 1e-10);
  }
  const Result refused = solve({"--rhs", "ones", "--max-iterations", "500"});
  EXPECT_EQ(refused.status, 1);
  EXPECT_NE(
      refused.out.find("unsolvable row 5 (counted from 0) of the matrix is zero, and b is not "
                       "zero there: no x solves the system\n"),
      std::string::npos)
      << refused.out;
}

}  // namespace
