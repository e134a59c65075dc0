// One program that runs on Eigen's solvers and on heddle's in their place.
#include "heddle/eigen_solvers.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <type_traits>
#include <vector>

namespace {

template <class T>
using RealOf = typename Eigen::NumTraits<T>::Real;
template <class T>
using Vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;
template <class T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;

template <class T>
T number(double re, double im) {
  if constexpr (Eigen::NumTraits<T>::IsComplex) {
    return T(RealOf<T>(re), RealOf<T>(im));
  } else {
    return T(re);
  }
}

/// A grid's Laplacian plus a shift: Hermitian, or made non-Hermitian by a wind.
template <class T>
Eigen::SparseMatrix<T> grid(int side, double shift, double wind) {
  std::vector<Eigen::Triplet<T>> triplets;
  const auto add = [&](int row, int column, T value) { triplets.emplace_back(row, column, value); };
  for (int i = 0; i < side; ++i) {
    for (int j = 0; j < side; ++j) {
      const int row = i * side + j;
      add(row, row, number<T>(4 + shift, wind));
      if (j + 1 < side) {
        add(row, row + 1, number<T>(-1 + wind, 0.25));
        add(row + 1, row, number<T>(-1 - wind, -0.25));
      }
      if (i + 1 < side) {
        add(row, row + side, number<T>(-1, 0.25));
        add(row + side, row, number<T>(-1, -0.25));
      }
    }
  }
  Eigen::SparseMatrix<T> A(side * side, side * side);
  A.setFromTriplets(triplets.begin(), triplets.end());
  return A;
}

template <class T>
double residual(const Eigen::SparseMatrix<T>& A, const Matrix<T>& x, const Matrix<T>& b) {
  return (b - A * x).norm() / b.norm();
}

/// Uses a solver as a program would, whether it is Eigen's or heddle's.
template <class Solver, class T>
void uses(const Eigen::SparseMatrix<T>& A) {
  const bool single = std::is_same_v<RealOf<T>, float>;
  const double tolerance = single ? 1e-5 : 1e-9;
  const Vector<T> b = Vector<T>::LinSpaced(A.rows(), number<T>(1, 0), number<T>(2, 1));
  Solver solver;
  solver.setTolerance(RealOf<T>(tolerance));
  solver.compute(A);
  ASSERT_EQ(solver.info(), Eigen::Success);
  const Vector<T> x = solver.solve(b);
  EXPECT_EQ(solver.info(), Eigen::Success);
  EXPECT_GT(solver.iterations(), 3);
  EXPECT_LE(solver.error(), tolerance);
  // Eigen's recurrence may differ from the true residual by its rounding.
  EXPECT_LE(residual<T>(A, x, b), 4 * tolerance);

  // The guess is already the solution.
  const Vector<T> again = solver.solveWithGuess(b, x);
  EXPECT_LE(solver.iterations(), 1);
  EXPECT_LE((again - x).norm(), 100 * tolerance * x.norm());

  // Right-hand sides as expressions, and several at once.
  Matrix<T> several(A.rows(), 3);
  several << b, b.reverse(), T(2) * b;
  const Matrix<T> solutions = solver.solve(several);
  EXPECT_EQ(solver.info(), Eigen::Success);
  EXPECT_LE(residual<T>(A, solutions, several), 4 * tolerance);
  const Vector<T> twice = solver.solve(T(2) * b);
  EXPECT_LE((twice - solutions.col(2)).norm(), 100 * tolerance * twice.norm());

  // The same pattern with new values.
  const Eigen::SparseMatrix<T> doubled = T(2) * A;
  solver.analyzePattern(A);
  solver.factorize(doubled);
  const Vector<T> half = solver.solve(b);
  EXPECT_LE((T(2) * half - x).norm(), 100 * tolerance * x.norm());

  solver.setMaxIterations(2);
  const Vector<T> poor = solver.solve(b);
  EXPECT_EQ(solver.info(), Eigen::NoConvergence);
  EXPECT_EQ(solver.iterations(), 2);
  EXPECT_GT(solver.error(), tolerance);
}

template <class T>
class EigenSolvers : public testing::Test {};
using Scalars = testing::Types<double, float, std::complex<double>>;
TYPED_TEST_SUITE(EigenSolvers, Scalars);

TYPED_TEST(EigenSolvers, ConjugateGradientTakesEigensPlace) {
  using A = Eigen::SparseMatrix<TypeParam>;
  const A matrix = grid<TypeParam>(12, 0.1, 0);
  uses<Eigen::ConjugateGradient<A>>(matrix);
  uses<heddle::eigen::ConjugateGradient<A>>(matrix);
  const A lower = matrix.template triangularView<Eigen::Lower>();
  heddle::eigen::ConjugateGradient<A> of_lower(lower);
  const Vector<TypeParam> b = Vector<TypeParam>::Ones(matrix.rows());
  const Vector<TypeParam> x = of_lower.solve(b);
  EXPECT_LE(residual<TypeParam>(matrix, x, b), of_lower.tolerance());
}

TYPED_TEST(EigenSolvers, BiCGStabTakesEigensPlace) {
  using A = Eigen::SparseMatrix<TypeParam>;
  const A matrix = grid<TypeParam>(12, 1, 0.2);
  uses<Eigen::BiCGSTAB<A>>(matrix);
  uses<heddle::eigen::BiCGSTAB<A>>(matrix);
}

TEST(EigenSolversOwn, TakesBlocksRowMajorAndNoPreconditioner) {
  using A = Eigen::SparseMatrix<double, Eigen::RowMajor>;
  const A matrix = grid<double>(12, 0.1, 0);
  heddle::eigen::ConjugateGradient<A, Eigen::Lower | Eigen::Upper, Eigen::IdentityPreconditioner,
                                   heddle::block<double, 3, 3>>
      solver(matrix);
  const Eigen::VectorXd b = Eigen::VectorXd::Ones(144);
  const Eigen::VectorXd x = solver.solve(b);
  EXPECT_EQ(solver.info(), Eigen::Success);
  EXPECT_LE((b - matrix * x).norm(), 1e-10 * b.norm());
}

TEST(EigenSolversOwn, SaysWhatCannotBeSolved) {
  using A = Eigen::SparseMatrix<double>;
  heddle::eigen::ConjugateGradient<A> solver;
  EXPECT_EQ(solver.info(), Eigen::InvalidInput);
  EXPECT_THROW(solver.solve(Eigen::VectorXd::Ones(3)), heddle::Error);
  EXPECT_THROW(solver.compute(A(2, 3)), heddle::Error);

  A not_finite(2, 2);
  not_finite.insert(0, 0) = std::nan("");
  not_finite.insert(1, 1) = 1;
  solver.compute(not_finite);
  EXPECT_EQ(solver.info(), Eigen::NumericalIssue);

  A indefinite(2, 2);
  indefinite.insert(0, 0) = 1;
  indefinite.insert(1, 1) = -1;
  solver.compute(indefinite);
  EXPECT_EQ(solver.info(), Eigen::Success);
  solver.solve(Eigen::VectorXd::Ones(2));
  EXPECT_EQ(solver.info(), Eigen::NumericalIssue);
  EXPECT_THROW(solver.solve(Eigen::VectorXd::Ones(3)), heddle::Error);
}

}  // namespace
