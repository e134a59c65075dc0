#include "problems/problem_checks.hpp"

namespace heddle {
namespace {

using test::dense;

TEST(Poisson, IsSymmetricPositiveDefinite) {
  for (const Index size : {1, 2, 7, 60, 343, 500}) {
    SCOPED_TRACE("size " + std::to_string(size));
    const auto matrix = poisson(size, 3);
    test::expect_hermitian(matrix);
    EXPECT_GT(test::spectrum(dense(matrix)).first, 0);
  }
}

TEST(Poisson, HasAboutTheRowsWishedFor) {
  for (const Index size : {1, 2, 10, 1000, 12345, 100000}) {
    const double rows = poisson(size).rows();
    EXPECT_LE(std::abs(rows - size), 0.5 * std::cbrt(double(size) * size) + 2) << size;
  }
  EXPECT_EQ(poisson(27000).rows(), 27000);
}

TEST(Poisson, WithoutContrastIsTheClassicStencil) {
  const auto matrix = poisson(125, 1, {.contrast = 0});
  ASSERT_EQ(matrix.rows(), 125);
  EXPECT_EQ(matrix.entries(), 7 * 125 - 6 * 25);
  for (Index row = 0; row < matrix.rows(); ++row) {
    for (Offset i = matrix.offsets()[row]; i < matrix.offsets()[row + 1]; ++i) {
      EXPECT_EQ(matrix.values()[i], matrix.column()[i] == row ? 6 : -1);
    }
  }
  // Eigenvalues of the discrete Laplacian are sums of 4 sin^2(k pi / 12).
  const double smallest = 3 * 4 * std::pow(std::sin(std::acos(-1.0) / 12), 2);
  EXPECT_NEAR(test::spectrum(dense(matrix)).first, smallest, 1e-12);
}

TEST(Poisson, RowsSumToZeroInsideAndToMoreAtTheBoundary) {
  const auto matrix = poisson(1000, 5);
  for (Index row = 0; row < matrix.rows(); ++row) {
    double sum = 0;
    for (Offset i = matrix.offsets()[row]; i < matrix.offsets()[row + 1]; ++i) {
      sum += matrix.values()[i];
      EXPECT_EQ(matrix.values()[i] > 0, matrix.column()[i] == row);
    }
    if (matrix.offsets()[row + 1] - matrix.offsets()[row] == 7) {
      EXPECT_LE(std::abs(sum), 1e-14 * 12) << row;
    } else {
      EXPECT_GE(sum, 0.5 - 1e-13) << row;  // at least one boundary coefficient, 1 - contrast
    }
  }
}

TEST(Poisson, DependsOnSeedAlone) {
  test::expect_deterministic([](std::uint64_t seed) { return poisson(5000, seed); });
}

TEST(Poisson, RefusesWhatHasNoMeaning) {
  test::expect_usage_error([] { poisson(0); }, "1 to 500000000 rows, not 0");
  test::expect_usage_error([] { poisson(-4); }, "not -4");
  test::expect_usage_error([] { poisson(10, 1, {.contrast = 1}); }, "contrast");
  test::expect_usage_error([] { poisson(10, 1, {.contrast = std::nan("")}); }, "contrast");
}

TEST(Poisson, RefusesMoreThanMemoryHolds) {
  const double bytes = 92.0 * largest_problem;
  if (static_cast<double>(Device::cpu().available_memory()) > bytes) GTEST_SKIP() << "it would fit";
  try {
    poisson(largest_problem);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::memory);
  }
}

}  // namespace
}  // namespace heddle
