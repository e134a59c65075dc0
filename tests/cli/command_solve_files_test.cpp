// Runs in the release.
// Right-hand sides, guesses and solutions in files of every format, and matrices as SciPy has them.
#include <cmath>
#include <complex>
#include <string>
#include <vector>

#include "cli/run.hpp"
#include "heddle/matrix_market.hpp"
#include "io/npz_by_hand.hpp"

namespace {

constexpr int n = 6;

class SolveFiles : public CommandLine {
 protected:
  void SetUp() override {
    folder.write("a.mtx", tridiagonal("real", "4", "-1"));
    folder.write("c.mtx", tridiagonal("complex", "4 1", "-1 0"));
  }
  static std::string tridiagonal(const std::string& field, const std::string& diagonal,
                                 const std::string& off_diagonal) {
    std::string lines;
    for (int i = 1; i <= n; ++i) {
      const std::string at = std::to_string(i), next = std::to_string(i + 1);
      lines += at + " " + at + " " + diagonal + "\n";
      if (i < n)
        lines += at + " " + next + " " + off_diagonal + "\n" + next + " " + at + " " +
                 off_diagonal + "\n";
    }
    return "%%MatrixMarket matrix coordinate " + field + " general\n6 6 16\n" + lines;
  }
  /// b[row][k] = row + 1 + 10 k.
  static double number(int row, int k) { return row + 1 + 10 * k; }
  static std::vector<double> table(int count) {
    std::vector<double> numbers;
    for (int row = 0; row < n; ++row) {
      for (int k = 0; k < count; ++k) numbers.push_back(number(row, k));
    }
    return numbers;
  }
  std::string write_array(int rows, int columns) const {
    std::string text = "%%MatrixMarket matrix array real general\n" + std::to_string(rows) + " " +
                       std::to_string(columns) + "\n";
    for (int i = 0; i < rows * columns; ++i) text += std::to_string(number(i % n, i / n)) + "\n";
    return folder.write("b.mtx", text);
  }
  /// |b - A x| of the real matrix for system k of `count` in a file.
  void expect_solved(const std::string& file, int count) const {
    const heddle::ScalarField x = heddle::read_scalar_field(folder / file);
    ASSERT_EQ(x.rows, n);
    ASSERT_EQ(x.columns, count);
    const auto at = [&](int row, int k) {
      return row < 0 || row == n ? 0 : x.values[static_cast<std::size_t>(row * count + k)];
    };
    for (int k = 0; k < count; ++k) {
      for (int row = 0; row < n; ++row) {
        EXPECT_NEAR(4 * at(row, k) - at(row - 1, k) - at(row + 1, k), number(row, k), 1e-8);
      }
    }
  }
  Result solve(const std::vector<std::string>& more) const {
    std::vector<std::string> arguments{"solve", "a.mtx", "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments);
  }
};

TEST_F(SolveFiles, ColumnsAreRightHandSides) {
  write_array(n, 3);
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{}, {"--right-hand-sides", "3"}, {"--solver", "block-cg"}}) {
    std::vector<std::string> arguments{"--rhs", "b.mtx", "-o", "x.mtx"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Result result = solve(arguments);
    ASSERT_EQ(result.status, 0) << result.error;
    EXPECT_EQ(result.json()["systems"].size(), 3U);
    expect_solved("x.mtx", 3);
  }
  // Fields may also follow one another, if their number is given.
  write_array(3 * n, 1);
  ASSERT_EQ(solve({"--rhs", "b.mtx", "--right-hand-sides", "3", "-o", "x.npy"}).status, 0);
  expect_solved("x.npy", 3);
  EXPECT_EQ(solve({"--rhs", "b.mtx"}).status, 2);
  EXPECT_EQ(solve({"--rhs", "b.mtx", "--right-hand-sides", "2"}).status, 2);
  EXPECT_EQ(
      solve({"--rhs", "b.mtx", "--right-hand-sides", "3", "--guess", "x.npy"}).json()["iterations"],
      0);
}

TEST_F(SolveFiles, EveryFormatIsReadAndWritten) {
  folder.write("b.npy", npy<double>("<f8", "(6, 2)", table(2)));
  std::string text = "\xEF\xBB\xBF# b\n";
  for (int row = 0; row < n; ++row) {
    text += std::to_string(number(row, 0)) + ", " + std::to_string(number(row, 1)) + "\r\n";
  }
  folder.write("b.txt", text);
  write_array(n, 2);
  for (const std::string given : {"b.npy", "b.txt", "b.mtx"}) {
    for (const std::string made : {"x.npy", "x.txt", "x.txt.gz", "x.mtx", "x.mtx.gz"}) {
      SCOPED_TRACE(given + " to " + made);
      const Result result = solve({"--rhs", given, "-o", made});
      ASSERT_EQ(result.status, 0) << result.error;
      expect_solved(made, 2);
    }
  }
  EXPECT_EQ(text_of("x.npy").substr(0, 6), "\x93NUMPY");
  ASSERT_EQ(run({"solve", "a.mtx", "--ranks", "2", "--rhs", "b.npy", "-o", "y.npy"}).status, 0);
  expect_solved("y.npy", 2);
}

TEST_F(SolveFiles, UnknownEndingsAreRefused) {
  for (const std::string made : {"x.csv", "x.mat", "x", "x.npz"}) {
    const std::vector<std::vector<std::string>> lines{
        {"solve", "a.mtx", "-o", made},
        {"eigen", "a.mtx", "-o", made},
        {"generate", "elasticity", "-o", "e.npz", "--points", made}};
    for (const auto& line : lines) {
      const Result result = run(line);
      EXPECT_EQ(result.status, 2) << made;
      EXPECT_EQ(result.error_lines(), 1U) << result.error;
      EXPECT_NE(result.error.find(" does not end in .mtx, .mtx.gz, .npy, .txt"), std::string::npos)
          << result.error;
    }
  }
  EXPECT_EQ(files(), (Names{"a.mtx", "c.mtx"}));
}

TEST_F(SolveFiles, RealNumbersAreRealPartsOfComplexOnes) {
  write_array(n, 1);
  // The file's numbers determine the entry.
  const Result result = run({"solve", "c.mtx", "--rhs", "b.mtx", "-o", "x.npy", "--json"});
  ASSERT_EQ(result.status, 0) << result.error;
  EXPECT_EQ(result.json()["entry"], "complex");
  const heddle::ScalarField x = heddle::read_scalar_field(folder / "x.npy");
  ASSERT_TRUE(x.is_complex);
  const auto at = [&](int row) {
    const auto place = static_cast<std::size_t>(2 * row);
    return row < 0 || row == n ? 0 : std::complex(x.values[place], x.values[place + 1]);
  };
  for (int row = 0; row < n; ++row) {
    const std::complex<double> image =
        std::complex<double>(4, 1) * at(row) - at(row - 1) - at(row + 1);
    EXPECT_NEAR(std::abs(image - number(row, 0)), 0, 1e-8);
  }
  EXPECT_NE(run({"solve", "c.mtx", "--rhs", "b.mtx"}).out.find("as real parts"), std::string::npos);
  EXPECT_EQ(run({"info", "c.mtx", "--json"}).json()["entry"], "complex");
  EXPECT_EQ(run({"solve", "c.mtx", "--ranks", "2", "--rhs", "b.mtx"}).status, 0);
  EXPECT_EQ(run({"eigen", "c.mtx", "--entry", "real"}).status, 2);
}

TEST_F(SolveFiles, ArraysAreMatricesAndRightHandSides) {
  folder.write("d.mtx", "%%MatrixMarket matrix array real symmetric\n%\n2 2\n4\n1\n3\n");
  folder.write("one.mtx", "%%MatrixMarket matrix array real symmetric\n%\n1 1\n4\n");
  EXPECT_EQ(run({"info", "d.mtx", "--json"}).json()["entries"], 4);
  const Result result = run({"solve", "one.mtx", "--rhs", "one.mtx", "-o", "x.txt"});
  ASSERT_EQ(result.status, 0) << result.error;
  EXPECT_EQ(text_of("x.txt"), "1\n");
}

}  // namespace
