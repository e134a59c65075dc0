// Runs in the release.
// Systems from the fields that the methods serve: waves, spin, elasticity, anisotropic diffusion,
// bundle adjustment.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "heddle/approximate_inverse.hpp"
#include "heddle/bicgstab2.hpp"
#include "heddle/complex_symmetric.hpp"
#include "heddle/conjugate_gradient.hpp"
#include "heddle/gmres.hpp"
#include "heddle/jacobi.hpp"
#include "heddle/lsmr.hpp"
#include "heddle/minres.hpp"
#include "heddle/operator_algebra.hpp"
#include "heddle/polynomial.hpp"
#include "heddle/problems.hpp"
#include "heddle/triplets.hpp"
#include "support/systems/dense_factors.hpp"
#include "support/systems/least_squares.hpp"
#include "support/systems/systems.hpp"

namespace heddle::test::field_systems {
namespace {

/// Counts the products of a solve.
template <class S>
class Counted final : public LinearOperator<S> {
 public:
  explicit Counted(const LinearOperator<S>& matrix) : matrix_(matrix) {}
  Index rows() const override { return matrix_.rows(); }
  int row_components() const override { return matrix_.row_components(); }
  Ring ring() const override { return matrix_.ring(); }
  void apply(S alpha, const FieldView<const S>& x, S beta, const FieldView<S>& y,
             const Stream& stream) const override {
    ++products;
    matrix_.apply(alpha, x, beta, y, stream);
  }

  mutable long long products = 0;

 private:
  const LinearOperator<S>& matrix_;
};

/// Undamped sound waves that leave a box, with a given number of points per wavelength.
class Waves : public testing::TestWithParam<double> {};
TEST_P(Waves, TakeFewestProductsByCocr) {
  using E = complex<double>;
  const auto matrix = helmholtz(4096, 1, {.points_per_wavelength = GetParam(), .damping = 0});
  const Operator<E> A(matrix, Plan{});
  Generator generator(1);
  const auto b = random_vector<E>(A.rows(), generator);
  const auto products = [&]<class Method>(std::type_identity<Method>) {
    const Counted<double> counted(A);
    Field<E> x(A.rows());
    // The symmetry test, and norms for rounding, would be counted as well.
    Method solver(counted, {.tolerance = 1e-8, .checks = false});
    const Report report = solver.solve(b, x);
    EXPECT_TRUE(report.converged()) << report;
    EXPECT_LE(true_residual(matrix, b, x), 1e-8 * components_of<double>(b).norm() * (1 + 1e-9));
    return static_cast<double>(counted.products);
  };
  const double cocr = products(std::type_identity<Cocr<double>>()),
               cocg = products(std::type_identity<Cocg<double>>());
  EXPECT_LE(cocr, 1.02 * cocg);
  EXPECT_LT(cocr, products(std::type_identity<BiCGStab2<double>>()));
  EXPECT_LT(cocr, products(std::type_identity<Gmres<double>>()));
}
INSTANTIATE_TEST_SUITE_P(PointsAWavelength, Waves, testing::Values(10.0, 8.0, 6.0));

/// D - sigma for the squared Dirac operator D, with sigma inside its spectrum. The square is
/// definite, with a squared condition number.
TEST(ShiftedDirac, TakesFewerProductsByMinresThanItsSquareByConjugateGradient) {
  using E = quaternion<double>;
  const auto matrix = dirac(random_surface(300));
  const Operator<E> D(matrix, Plan{});
  constexpr double sigma = 0.9;
  const auto A = shifted(D, -sigma);
  Generator generator(2);
  const auto b = random_vector<E>(D.rows(), generator);
  Field<E> x(D.rows()), y(D.rows()), image(D.rows());
  EXPECT_EQ(ConjugateGradient(A).solve(b, x).status, Status::indefinite);

  constexpr double tolerance = 1e-11;
  x = Field<E>(D.rows());
  const Counted<double> counted(A);
  const Report indefinite = Minres(counted, {.tolerance = tolerance, .checks = false}).solve(b, x);
  EXPECT_TRUE(indefinite.converged()) << indefinite;
  const long long of_minres = std::exchange(counted.products, 0);

  const auto square = product(counted, counted);
  A.apply(1, b.view(), 0, image.view(), D.device().stream());
  const Report definite =
      ConjugateGradient(square, {.tolerance = tolerance, .checks = false}).solve(image, y);
  EXPECT_TRUE(definite.converged()) << definite;
  EXPECT_LT(of_minres, counted.products);

  const Eigen::MatrixXd dense =
      Eigen::MatrixXd(expansion<double>(matrix)) -
      sigma * Eigen::MatrixXd::Identity(4 * Eigen::Index(D.rows()), 4 * Eigen::Index(D.rows()));
  const Eigen::VectorXd values = eigenvalues_of(dense);
  ASSERT_LT(values(0), 0);
  const double least = values.cwiseAbs().minCoeff(), largest = values.cwiseAbs().maxCoeff();
  const auto right = components_of<double>(b), of_square = components_of<double>(image);
  const auto first = components_of<double>(x), second = components_of<double>(y);
  EXPECT_LE((first - second).norm(),
            1.01 * tolerance * (right.norm() / least + of_square.norm() / least / least));
  EXPECT_LE((right - dense * first).norm(), tolerance * right.norm() + 1e-15 * largest);
}

/// Seven-point -d/dx (dx) - d/dy (dy / 30) - d/dz (dz / 1000), with varying coefficients.
CsrMatrix<real<double>> anisotropic_diffusion(Index side, Generator& generator) {
  TileRows tiles(1, side * side * side);
  const Index step[] = {1, side, side * side};
  const double weight[] = {1, 1.0 / 30, 1e-3};
  for (Index row = 0; row < tiles.count(); ++row) {
    for (int axis = 0; axis < 3; ++axis) {
      const double coefficient = weight[axis] * uniform(generator, 0.5, 1.5);
      tiles.at(row, row)(0, 0) += coefficient;
      if (row / step[axis] % side + 1 == side) continue;
      const Index next = row + step[axis];
      tiles.at(next, next)(0, 0) += coefficient;
      tiles.at(row, next)(0, 0) = tiles.at(next, row)(0, 0) = -coefficient;
    }
  }
  return assemble<real<double>>(tiles);
}

/// The same x as with Jacobi, in fewer iterations.
template <class E>
void expect_fewer_iterations(const CsrMatrix<E>& matrix, unsigned seed) {
  const Operator<E> A(matrix, parse_plan("pJDS"));
  Generator generator(seed);
  const auto exact = random_vector<E>(A.rows(), generator);
  const auto b = image_of(matrix, exact);
  const auto solve = [&](auto preconditioner) {
    Field<E> x(A.rows());
    const Report report =
        ConjugateGradient(A, std::move(preconditioner), {.tolerance = 1e-12}).solve(b, x);
    EXPECT_TRUE(report.converged()) << report;
    return std::pair(report.iterations, components_of<double>(x));
  };
  const auto [of_jacobi, expected] = solve(Jacobi(A));
  const auto of_exact = components_of<double>(exact);
  EXPECT_LE((expected - of_exact).norm(), 1e-7 * of_exact.norm());
  const auto expect = [&](double share, auto preconditioner) {
    const auto [iterations, x] = solve(std::move(preconditioner));
    EXPECT_LT(static_cast<double>(iterations), share * static_cast<double>(of_jacobi));
    EXPECT_LE((x - expected).norm(), 1e-7 * expected.norm());
  };
  expect(0.8, Fsai(A));
  expect(0.6, Fsai(A, 2));
  expect(0.6, Chebyshev(A, Jacobi(A), {.degree = 2}));
  expect(0.4, Chebyshev(A, Jacobi(A), {.degree = 4}));
}
TEST(Elasticity, TakesFewerIterationsByBetterPreconditioners) {
  expect_fewer_iterations(elasticity(900), 3);
}
TEST(AnisotropicDiffusion, TakesFewerIterationsByBetterPreconditioners) {
  Generator generator(4);
  expect_fewer_iterations(anisotropic_diffusion(16, generator), 5);
}

/// Rows of an image point: two numbers, from nine parameters of a camera, whose sizes differ by
/// 1e3, and from three of a point. `scales` are the sizes of columns.
CsrMatrix<real<double>> bundle(Index cameras, Index points, std::vector<double>& scales,
                               Generator& generator) {
  const Index columns = 9 * cameras + 3 * points;
  scales.clear();
  for (Index column = 0; column < columns; ++column) {
    const bool of_point = column >= 9 * cameras;
    scales.push_back(of_point ? 1 : std::pow(10.0, column % 9 / 3 - 2.0));
  }
  std::vector<Triplet<real<double>>> triplets;
  Index row = 0;
  for (Index point = 0; point < points; ++point) {
    for (Index k = 0; k < 3; ++k) {
      const Index camera = (point * 5 + k) % cameras;
      for (const int half : {0, 1}) {
        const auto add = [&](Index column) {
          const double size = scales[static_cast<std::size_t>(column)];
          triplets.push_back({row + half, column, {{size * uniform(generator)}}});
        };
        for (Index parameter = 0; parameter < 9; ++parameter) add(9 * camera + parameter);
        for (Index coordinate = 0; coordinate < 3; ++coordinate) {
          add(9 * cameras + 3 * point + coordinate);
        }
      }
      row += 2;
    }
  }
  return heddle::assemble<real<double>>(row, columns,
                                        std::span<const Triplet<real<double>>>(triplets))
      .matrix;
}

TEST(BundleAdjustment, ByLsmrIsThatOfDenseQr) {
  Generator generator(6);
  std::vector<double> scales;
  const auto matrix = bundle(7, 60, scales, generator);
  const RealMatrix dense = expansion<double>(matrix);
  ASSERT_GT(dense.rows(), dense.cols());
  const auto b = random_vector<real<double>>(matrix.rows(), generator);
  const RealVector expected = solution_by_qr(dense, components_of<double>(b));
  const Operator<real<double>> A(matrix, Plan{});
  Field<real<double>> x(matrix.columns()), y(matrix.columns());
  const LeastSquaresOptions options{.tolerance = 1e-13, .max_iterations = 100000};
  const auto plain = Lsmr(A, options).solve(b, x);
  EXPECT_TRUE(plain.solved()) << name(plain.status);

  std::vector<double> inverse(scales);
  for (double& scale : inverse) scale = 1 / scale;
  const Eigen::MatrixXd diagonal =
      Eigen::Map<const RealVector>(inverse.data(), std::ssize(inverse)).asDiagonal();
  const Operator<real<double>> D(from_dense(diagonal), Plan{});
  const auto scaled = Lsmr(product(A, D), options).solve(b, y);
  EXPECT_TRUE(scaled.solved()) << name(scaled.status);
  EXPECT_LT(2 * scaled.iterations, plain.iterations);
  const auto difference = [&](const RealVector& found) {
    return (dense * (found - expected)).norm() / (dense * expected).norm();
  };
  EXPECT_LE(difference(components_of<double>(x)), 1e-8);
  EXPECT_LE(difference(diagonal * components_of<double>(y)), 1e-8);
  EXPECT_LE((diagonal * components_of<double>(y) - expected).norm(), 1e-8 * expected.norm());
}

}  // namespace
}  // namespace heddle::test::field_systems
