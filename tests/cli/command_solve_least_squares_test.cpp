// `heddle solve` of matrices of any shape, against the normal equations.
#include <Eigen/Dense>
#include <cmath>
#include <cstdio>
#include <sstream>
#include <string>
#include <vector>

#include "cli/run.hpp"
#include "cli/small_systems.hpp"

namespace solve_least_squares {
namespace {

using nlohmann::json;

class SolveLeastSquares : public CommandLine {
 protected:
  static constexpr int rows = 13, columns = 5;

  SolveLeastSquares() : matrix(rows, columns) {
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < columns; ++j) {
        if ((i + 2 * j) % 3 != 0) matrix.at(i, j) = std::cos(1.0 + i * columns + j);
      }
    }
    std::string text = "%%MatrixMarket matrix array real general\n13 1\n";
    b.resize(rows);
    for (int i = 0; i < rows; ++i) {
      b(i) = std::sin(2.0 * i);
      char line[64];
      std::snprintf(line, sizeof line, "%.17g\n", b(i));
      text += line;
    }
    folder.write("b.mtx", text);
    folder.write("tall.mtx", matrix_market(matrix));
    DenseMatrix turned(columns, rows);
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < columns; ++j) turned.at(j, i) = matrix.at(i, j);
    }
    folder.write("wide.mtx", matrix_market(turned));
  }

  Eigen::VectorXd expected(double damping) const {
    const Eigen::Map<const Eigen::Matrix<double, -1, -1, Eigen::RowMajor>> A(matrix.values.data(),
                                                                             rows, columns);
    const Eigen::MatrixXd normal =
        A.transpose() * A + damping * damping * Eigen::MatrixXd::Identity(columns, columns);
    return normal.llt().solve(A.transpose() * b);
  }
  void expect_solution(const std::string& name, double damping) const {
    std::istringstream lines(text_of(name));
    std::string line;
    std::getline(lines, line);
    std::getline(lines, line);
    EXPECT_EQ(line, "5 1");
    const Eigen::VectorXd x = expected(damping);
    for (int j = 0; j < columns; ++j) {
      ASSERT_TRUE(std::getline(lines, line));
      EXPECT_NEAR(std::stod(line), x(j), 1e-8);
    }
  }

  DenseMatrix matrix;
  Eigen::VectorXd b;
};

TEST_F(SolveLeastSquares, IsChosenForRectangularMatricesAndSaysSo) {
  const Result result = run({"solve", "tall.mtx", "--rhs", "b.mtx", "-o", "x.mtx", "--json",
                             "--tolerance", "1e-12", "--repetitions", "3"});
  EXPECT_EQ(result.status, 0) << result.error;
  const json report = result.json();
  EXPECT_EQ(report["status"], "converged");
  EXPECT_EQ(report["solver"], "lsmr");
  EXPECT_EQ(report["solver_reason"], "the matrix is rectangular");
  EXPECT_EQ(report["rows"], rows);
  EXPECT_EQ(report["columns"], columns);
  EXPECT_EQ(report["damping"], 0);
  EXPECT_LE(report["gradient"], 1e-12);
  EXPECT_GE(report["residual"], 0.1);
  EXPECT_TRUE(report["error"].is_null());
  expect_solution("x.mtx", 0);
  const std::string out = run({"solve", "tall.mtx"}).out;
  EXPECT_NE(out.find("solver     lsmr: the matrix is rectangular\n"), std::string::npos) << out;
  EXPECT_NE(out.find("error      |x - x*| / |x*|"), std::string::npos) << out;
}

TEST_F(SolveLeastSquares, TakesDampingAndAGuess) {
  const std::vector<std::string> options = {
      "solve",  "tall.mtx", "--rhs", "b.mtx",       "-o",    "x.mtx",  "--damping",      "0.75",
      "--json", "--solver", "lsmr",  "--tolerance", "1e-12", "--plan", "C=4,use=scatter"};
  const Result result = run(options);
  EXPECT_EQ(result.status, 0) << result.error;
  EXPECT_EQ(result.json()["solver_reason"], "by --solver");
  EXPECT_EQ(result.json()["damping"], 0.75);
  expect_solution("x.mtx", 0.75);
  auto guessing = options;
  guessing.insert(guessing.end(), {"--guess", "x.mtx"});
  const json again = run(guessing).json();
  EXPECT_LE(again["iterations"], 2);
  EXPECT_EQ(again["status"], "converged");
  expect_solution("x.mtx", 0.75);
}

TEST_F(SolveLeastSquares, SolvesWideAndSquareSystems) {
  const json wide = run({"solve", "wide.mtx", "--json"}).json();
  EXPECT_EQ(wide["status"], "converged");
  EXPECT_LE(wide["residual"], 1e-7);
  EXPECT_TRUE(wide["error"].is_null());
  for (const SmallSystem& system : small_systems()) {
    SCOPED_TRACE(system.name);
    if (system.entry == "dual-quaternion") continue;
    folder.write("a.mtx", system.text);
    const Result result =
        run({"solve", "a.mtx", "--entry", system.entry, "--solver", "lsmr", "--json"});
    EXPECT_EQ(result.status, 0) << result.error;
    EXPECT_LE(result.json()["error"], 1e-6);
  }
}

TEST_F(SolveLeastSquares, StopsAtLimits) {
  const Result result = run({"solve", "tall.mtx", "--max-iterations", "1", "--json"});
  EXPECT_EQ(result.status, 1);
  EXPECT_EQ(result.json()["status"], "iteration limit");
}

}  // namespace
}  // namespace solve_least_squares
