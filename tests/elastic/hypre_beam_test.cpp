// A beam from hypre's own tests, assembled by MFEM: its matrix and its solution for a load of ones.
#include <gtest/gtest.h>
#include <zlib.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "heddle/conjugate_gradient.hpp"
#include "heddle/jacobi.hpp"
#include "heddle/triplets.hpp"
#include "support/test_data.hpp"

namespace heddle::elastic::test {
namespace {

using Block = block<double, 3, 3>;

std::string text_of(const std::string& path) {
  std::string text;
  const gzFile file = gzopen(path.c_str(), "rb");
  char part[4096];
  for (int read = 0; (read = gzread(file, part, sizeof part)) > 0;) {
    text.append(part, static_cast<std::size_t>(read));
  }
  gzclose(file);
  return text;
}

/// Lines of the form "row value" after a line of sizes.
std::vector<double> vector_of(const std::string& path) {
  std::istringstream lines(text_of(path));
  int first = 0, last = 0;
  lines >> first >> last;
  std::vector<double> values(static_cast<std::size_t>(last - first + 1));
  int row = 0;
  double value = 0;
  while (lines >> row >> value) values[static_cast<std::size_t>(row)] = value;
  return values;
}

TEST(HypreBeam, IsSolvedAsItsAuthorsDid) {
  const std::string name = "fem/beam_tet_dof459.A.IJ.00000.gz";
  if (!heddle::test::has_test_data(name)) GTEST_SKIP() << heddle::test::no_test_data(name);
  const std::string folder = heddle::test::test_data("fem/beam_tet_dof459");
  std::istringstream lines(text_of(folder + ".A.IJ.00000.gz"));
  int sizes[4] = {};
  for (int& size : sizes) lines >> size;
  ASSERT_EQ(sizes[1], 458);
  std::map<std::pair<Index, Index>, Block> blocks;
  int row = 0, column = 0;
  double value = 0;
  while (lines >> row >> column >> value) {
    blocks[{row / 3, column / 3}].component[Block::at(row % 3, column % 3)] = value;
  }
  std::vector<Triplet<Block>> triplets;
  for (const auto& [at, entry] : blocks) triplets.push_back({at.first, at.second, entry});
  const Index rows = 459 / 3;
  const CsrMatrix<Block> matrix =
      assemble<Block>(rows, rows, std::span<const Triplet<Block>>(triplets)).matrix;
  const std::vector<double> stored = vector_of(folder + ".xstar.IJ.00000.gz");
  ASSERT_EQ(stored.size(), 459U);
  for (const char* plan : {"CSR", "pJDS"}) {
    const Operator<Block> A(matrix, parse_plan(plan));
    ConjugateGradient<double> solver(A, Jacobi<Block>(A), {.tolerance = 1e-12});
    const std::vector<double> ones(459, 1.0);
    std::vector<double> x(459);
    const Report report = solver.solve({ones.data(), rows, 3}, {x.data(), rows, 3});
    ASSERT_TRUE(report.converged()) << report;
    double difference = 0, size = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      difference += (x[i] - stored[i]) * (x[i] - stored[i]);
      size += stored[i] * stored[i];
    }
    // The stored solution has a relative residual of 1.1e-11.
    EXPECT_LE(std::sqrt(difference / size), 1e-8);
  }
}

}  // namespace
}  // namespace heddle::elastic::test
