// Runs in both builds.
// `heddle multiply`: products of files, and of their adjoints.
#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include "cli/run.hpp"
#include "cli/small_systems.hpp"
#include "support/where_it_runs.hpp"

namespace command_multiply {
namespace {

DenseMatrix transposed(const DenseMatrix& a) {
  DenseMatrix transpose(a.columns, a.rows);
  for (int i = 0; i < a.rows; ++i) {
    for (int j = 0; j < a.columns; ++j) transpose.at(j, i) = a.at(i, j);
  }
  return transpose;
}

DenseMatrix product_of(const DenseMatrix& a, const DenseMatrix& b) {
  DenseMatrix c(a.rows, b.columns);
  for (int i = 0; i < a.rows; ++i) {
    for (int j = 0; j < b.columns; ++j) {
      for (int k = 0; k < a.columns; ++k) c.at(i, j) += a.at(i, k) * b.at(k, j);
    }
  }
  return c;
}

/// The dense matrix of a coordinate file of real numbers.
DenseMatrix dense_of(const std::string& text) {
  std::istringstream lines(text);
  std::string banner;
  std::getline(lines, banner);
  int rows = 0, columns = 0, entries = 0;
  lines >> rows >> columns >> entries;
  DenseMatrix dense(rows, columns);
  for (int k = 0, i = 0, j = 0; k < entries; ++k) {
    lines >> i >> j;
    lines >> dense.at(i - 1, j - 1);
  }
  return dense;
}

class Multiply : public CommandLine {
 protected:
  void expect_refused(const std::vector<std::string>& arguments, const std::string& message) const {
    const Result result = run(arguments);
    EXPECT_EQ(result.status, 2) << result.error;
    EXPECT_EQ(result.error_lines(), 1U) << result.error;
    EXPECT_NE(result.error.find(message), std::string::npos) << result.error;
  }
};

TEST_F(Multiply, WritesProductsOfEveryEntry) {
  HEDDLE_RELEASE_ONLY();
  for (const SmallSystem& system : small_systems()) {
    folder.write("a.mtx", system.text);
    const DenseMatrix& A = system.representation;
    for (const std::string option : {"", "--adjoint", "--left-adjoint"}) {
      SCOPED_TRACE(system.name + " " + option);
      std::vector<std::string> arguments = {"multiply",   "a.mtx", "a.mtx", "--entry",
                                            system.entry, "-o",    "c.mtx"};
      if (!option.empty()) arguments.push_back(option);
      if (!option.empty() && system.entry == "dual-quaternion") {
        expect_refused(arguments, option + ": dual-quaternion entries have no adjoint");
        continue;
      }
      const Result result = run(arguments);
      ASSERT_EQ(result.status, 0) << result.error;
      EXPECT_NE(result.out.find("written to c.mtx"), std::string::npos) << result.out;
      std::string file = "c.mtx";
      if (system.entry != "real") {
        file = "real.mtx";
        ASSERT_EQ(
            run({"convert", "c.mtx", file, "--entry", system.entry, "--to", "real", "-q"}).status,
            0);
      }
      const DenseMatrix found = dense_of(text_of(file));
      const DenseMatrix expected = product_of(option == "--left-adjoint" ? transposed(A) : A,
                                              option == "--adjoint" ? transposed(A) : A);
      ASSERT_EQ(found.rows, expected.rows);
      ASSERT_EQ(found.columns, expected.columns);
      for (std::size_t k = 0; k < found.values.size(); ++k) {
        EXPECT_NEAR(found.values[k], expected.values[k], 1e-12) << k;
      }
    }
  }
}

TEST_F(Multiply, TakesMatricesThatAreNotSquare) {
  folder.write("a.mtx",
               "%%MatrixMarket matrix coordinate complex general\n2 3 2\n1 3 1 2\n2 1 0 1\n");
  folder.write("b.mtx",
               "%%MatrixMarket matrix coordinate complex general\n3 2 2\n3 1 5 7\n2 2 3 4\n");
  const auto multiply = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "multiply");
    arguments.insert(arguments.end(), {"--entry", "complex", "-q"});
    const Result result = run(arguments);
    ASSERT_EQ(result.status, 0) << result.error;
    EXPECT_EQ(result.out + result.error, "");
  };
  multiply({"a.mtx", "b.mtx", "-o", "c.mtx", "--device", "cpu", "--threads", "2"});
  EXPECT_EQ(text_of("c.mtx"),
            "%%MatrixMarket matrix coordinate complex general\n2 2 1\n1 1 -9 17\n");
  multiply({"a.mtx", "a.mtx", "--adjoint", "-o", "c.mtx"});
  EXPECT_EQ(text_of("c.mtx"),
            "%%MatrixMarket matrix coordinate complex general\n2 2 2\n1 1 5 0\n2 2 1 0\n");
  multiply({"b.mtx", "a.mtx", "--adjoint", "--left-adjoint", "-o", "c.npz"});
  EXPECT_EQ(run({"info", "c.npz", "--entry", "complex", "--json"}).json()["entries"], 1);
}

TEST_F(Multiply, RefusesInOneLine) {
  folder.write("a.mtx", matrix_market(real_matrix(12)));
  folder.write("b.mtx", "%%MatrixMarket matrix coordinate real general\n2 3 1\n1 1 1\n");
  folder.write("large.mtx",
               "%%MatrixMarket matrix coordinate real general\n3 3 2\n1 1 1\n2 2 1e200\n");
  expect_refused({"multiply", "a.mtx", "b.mtx", "-o", "c.mtx"},
                 "a product of 12 x 12 and 2 x 3 entries: the inner sizes differ");
  expect_refused({"multiply", "a.mtx", "a.mtx", "-o", "a.mtx"}, "a.mtx");
  expect_refused({"multiply", "large.mtx", "large.mtx", "-o", "c.mtx"},
                 "the product is not finite in row 1, column 1, counted from 0");
  expect_refused({"multiply", "a.mtx", "a.mtx", "--device", "tpu", "-o", "c.mtx"}, "tpu");
  expect_refused({"multiply", "a.mtx", "a.mtx", "--entry", "ring", "-o", "c.mtx"}, "ring");
  for (const char* const name : {"c.foo", "c.npz.gz", "c.NPZ", "-"}) {
    expect_refused({"multiply", "none.mtx", "a.mtx", "-o", name},
                   "--output: " + std::string(name) + " does not end in .mtx, .mtx.gz or .npz");
  }
  EXPECT_EQ(files(), (Names{"a.mtx", "b.mtx", "large.mtx"}));
}

}  // namespace
}  // namespace command_multiply
