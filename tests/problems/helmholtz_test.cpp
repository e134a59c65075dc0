// Runs in the release.
#include <complex>

#include "problems/problem_checks.hpp"

namespace heddle {
namespace {

using Complex = std::complex<double>;

Complex number(const complex<double>& a) { return {a.re(), a.im()}; }

Eigen::SparseMatrix<Complex, Eigen::RowMajor> sparse(const CsrMatrix<complex<double>>& matrix) {
  std::vector<Eigen::Triplet<Complex>> triplets;
  for (Index row = 0; row < matrix.rows(); ++row) {
    for (Offset i = matrix.offsets()[row]; i < matrix.offsets()[row + 1]; ++i) {
      triplets.emplace_back(row, matrix.column()[i], number(matrix.entry(i)));
    }
  }
  Eigen::SparseMatrix<Complex, Eigen::RowMajor> result(matrix.rows(), matrix.columns());
  result.setFromTriplets(triplets.begin(), triplets.end());
  return result;
}

TEST(Helmholtz, IsComplexSymmetricAndNotHermitian) {
  for (const Index size : {1, 30, 343, 2000}) {
    SCOPED_TRACE("size " + std::to_string(size));
    const auto matrix = helmholtz(size, 2);
    test::expect_pairs(matrix, test::equal<complex<double>>);
    double imaginary = 0;
    for (Index row = 0; row < matrix.rows(); ++row) {
      imaginary =
          std::max(imaginary, std::abs(matrix.entry(test::find_entry(matrix, row, row)).im()));
    }
    EXPECT_GT(imaginary, 0.1);
  }
}

TEST(Helmholtz, IsWellPosedWithAndWithoutDamping) {
  for (const double damping : {0.0, 0.05, 1.0}) {
    for (const Index size : {8, 60, 216}) {
      SCOPED_TRACE("size " + std::to_string(size) + " damping " + std::to_string(damping));
      const Eigen::MatrixXcd matrix = sparse(helmholtz(size, 4, {.damping = damping}));
      const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXcd> squares(matrix.adjoint() * matrix,
                                                                    Eigen::EigenvaluesOnly);
      EXPECT_GT(squares.eigenvalues().minCoeff(), 1e-6 * squares.eigenvalues().maxCoeff());
      // Only absorption: the numerical range lies below the real axis.
      const Eigen::MatrixXcd skew = (matrix - matrix.adjoint()) / Complex(0, 2);
      const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXcd> solver(skew, Eigen::EigenvaluesOnly);
      EXPECT_LE(solver.eigenvalues().maxCoeff(), 1e-14);
    }
  }
}

TEST(Helmholtz, PlaneWavesSolveTheInteriorToSecondOrder) {
  // exp(i k x) leaves the residual of the scheme, k^4 / 12 to leading order, inside the box and on
  // the face x = max; a face with incoming waves or along the wave does not satisfy the condition.
  const double points = 40;
  const auto matrix =
      helmholtz(8000, 1, {.points_per_wavelength = points, .contrast = 0, .damping = 0});
  ASSERT_EQ(matrix.rows(), 8000);
  const double k = 2 * std::acos(-1.0) / points;
  const auto wave = [&](Index vertex) { return std::exp(Complex(0, k * (vertex % 20))); };
  for (Index row = 0; row < matrix.rows(); ++row) {
    const Index x = row % 20, y = row / 20 % 20, z = row / 400;
    if (x == 0 || y == 0 || z == 0 || y == 19 || z == 19) continue;
    Complex residual = 0;
    for (Offset i = matrix.offsets()[row]; i < matrix.offsets()[row + 1]; ++i) {
      residual += number(matrix.entry(i)) * wave(matrix.column()[i]);
    }
    EXPECT_LE(std::abs(residual), x == 19 ? k * k * k / 6 * 1.1 : std::pow(k, 4) / 12 * 1.01)
        << row;
  }
}

TEST(Helmholtz, BiConjugateGradientsConverge) {
  const auto matrix = sparse(helmholtz(3000, 1));
  Eigen::BiCGSTAB<Eigen::SparseMatrix<Complex, Eigen::RowMajor>> solver(matrix);
  solver.setTolerance(1e-10);
  solver.setMaxIterations(1500);
  const Eigen::VectorXcd b = matrix * Eigen::VectorXcd::Ones(matrix.rows());
  const Eigen::VectorXcd x = solver.solve(b);
  EXPECT_LE((matrix * x - b).norm(), 1e-9 * b.norm()) << solver.iterations();
}

TEST(Helmholtz, DependsOnSeedAlone) {
  test::expect_deterministic([](std::uint64_t seed) { return helmholtz(5000, seed); });
}

TEST(Helmholtz, RefusesWhatHasNoMeaning) {
  test::expect_usage_error([] { helmholtz(0); }, "not 0");
  test::expect_usage_error([] { helmholtz(10, 1, {.points_per_wavelength = 2}); },
                           "points per wavelength");
  test::expect_usage_error([] { helmholtz(10, 1, {.damping = -1}); }, "damping");
}

}  // namespace
}  // namespace heddle
