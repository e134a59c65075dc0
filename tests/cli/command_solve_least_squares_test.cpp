// Runs in the release.
// `heddle solve` of matrices of any shape, compared with the normal equations.
#include <Eigen/Dense>
#include <cmath>
#include <cstdio>
#include <sstream>
#include <string>
#include <utility>
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
    DenseMatrix transpose(columns, rows);
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < columns; ++j) transpose.at(j, i) = matrix.at(i, j);
    }
    folder.write("wide.mtx", matrix_market(transpose));
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
  EXPECT_FALSE(report.contains("rank_choice"));
  const std::string out = run({"solve", "tall.mtx"}).out;
  EXPECT_NE(out.find("solver     lsmr: the matrix is rectangular\n"), std::string::npos) << out;
  EXPECT_NE(out.find("error      |x - x*| / |x*|"), std::string::npos) << out;
}

TEST_F(SolveLeastSquares, SaysWhyThereAreNoRanks) {
  const std::string why = "none: threads of one process share the processor's cores and memory";
  const json report = run({"solve", "tall.mtx", "--ranks", "auto", "--json"}).json();
  EXPECT_EQ(report["solver"], "lsmr");
  EXPECT_EQ(report["rank_choice"], why);
  const std::string out = run({"solve", "tall.mtx", "--ranks", "auto"}).out;
  EXPECT_NE(out.find("\nranks      " + why + "\n"), std::string::npos) << out;
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

TEST_F(SolveLeastSquares, IsWatchedByGradientAndResidual) {
  const Result result = run({"solve", "tall.mtx", "--rhs", "b.mtx", "--monitor", "--history",
                             "h.csv", "--plot", "h.svg", "--json", "--repetitions", "2"});
  ASSERT_EQ(result.status, 0) << result.error;
  const json report = result.json();
  const auto iterations = report["iterations"].get<long long>();
  std::istringstream rows_of_table(result.error);
  std::string line;
  std::getline(rows_of_table, line);
  EXPECT_NE(line.find("iteration    gradient   |r| / |b|   over 10"), std::string::npos) << line;
  std::getline(rows_of_table, line);
  EXPECT_NE(line.find("0   1.000e+00   1.000e+00"), std::string::npos) << line;
  EXPECT_NE(result.error.find("converged; |A* r| / (|A| |r|) computed from x\nagain\n"),
            std::string::npos)
      << result.error;
  EXPECT_EQ(result.error.find("from b - A x"), std::string::npos) << result.error;

  std::istringstream history(text_of("h.csv"));
  std::getline(history, line);
  EXPECT_EQ(line, "iteration,relative_gradient,relative_residual");
  long long count = 0;
  double gradient = 0, residual = 0;
  while (std::getline(history, line)) {
    const std::size_t first = line.find(','), second = line.find(',', first + 1);
    EXPECT_EQ(std::stoll(line), count++);
    gradient = std::stod(line.substr(first + 1));
    residual = std::stod(line.substr(second + 1));
  }
  EXPECT_EQ(count, iterations + 1);
  EXPECT_LE(gradient, 1e-8);
  EXPECT_NEAR(residual, report["residual"].get<double>(), 1e-9);
  const std::string svg = text_of("h.svg");
  for (const char* part : {"tall.mtx: lsmr", "13 x 5 real entries (double), b = b.mtx",
                           "tolerance 1e-8", "residual |r| / |b| of the recurrence",
                           "gradient |A* r| / (|A| |r|) of the recurrence", "converged after "}) {
    EXPECT_NE(svg.find(part), std::string::npos) << part;
  }
}

/// Squares of the matrix that underflow, and solutions that underflow or overflow.
TEST_F(SolveLeastSquares, SaysWhatNoNumberHolds) {
  const auto diagonal = [](const std::string& size) {
    return "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1" + size + "\n2 2 2" + size +
           "\n";
  };
  const auto numbers = [](const std::string& size) {
    return "%%MatrixMarket matrix array real general\n2 1\n1" + size + "\n2" + size + "\n";
  };
  for (const auto& [of_matrix, of_b] :
       {std::pair{"e-180", "e-200"}, {"e150", "e-200"}, {"e-150", "e200"}}) {
    SCOPED_TRACE(of_matrix);
    folder.write("scaled.mtx", diagonal(of_matrix));
    folder.write("c.mtx", numbers(of_b));
    const Result result = run({"solve", "scaled.mtx", "--rhs", "c.mtx", "--solver", "lsmr", "-o",
                               "scaled_x.mtx", "--json"});
    EXPECT_EQ(result.status, 1) << result.error;
    EXPECT_EQ(result.json()["status"], "out of range");
    EXPECT_EQ(text_of("scaled_x.mtx").find("inf"), std::string::npos);
  }
}

TEST_F(SolveLeastSquares, StopsAtLimits) {
  const Result result = run({"solve", "tall.mtx", "--max-iterations", "1", "--json"});
  EXPECT_EQ(result.status, 1);
  EXPECT_EQ(result.json()["status"], "iteration limit");
  const Result late = run({"solve", "tall.mtx", "--time-limit", "0", "--json", "--plot", "h.svg"});
  EXPECT_EQ(late.status, 1);
  EXPECT_EQ(late.json()["status"], "time limit");
}

}  // namespace
}  // namespace solve_least_squares
