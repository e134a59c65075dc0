// Runs in both builds.
// Polynomial preconditioners: the map that each of them is, over every kind of entry and layout;
// the inputs that they refuse; and that they follow the matrix's values.
#include "heddle/polynomial.hpp"
#include "base/long_double.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "heddle/bicgstab.hpp"
#include "heddle/conjugate_gradient.hpp"
#include "heddle/gmres.hpp"
#include "heddle/jacobi.hpp"
#include "heddle/minres.hpp"
#include "heddle/operator_algebra.hpp"
#include "heddle/runtime/any_solver.hpp"
#include "support/expect_error.hpp"
#include "support/few_entries.hpp"
#include "support/systems/complex_symmetric_matrix.hpp"
#include "support/systems/dense_factors.hpp"
#include "support/systems/systems.hpp"
#include "support/where_it_runs.hpp"

namespace heddle::test::polynomial_test {
namespace {

using Dense = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;
using Column = Vector<long double>;

constexpr const char* plans[] = {"CSR", "pJDS", "K1rs,C=8", "order=rcm", "CSR,vector=soa"};

/// The expansion A of a matrix, and the M^-1 that scales it: Jacobi's, or the identity.
struct System {
  Dense A, inverse;
  LuFactors<long double> factors;

  template <class E>
  System(const CsrMatrix<E>& matrix, bool jacobi)
      : A(expansion<long double>(matrix)),
        inverse(Dense::Identity(A.rows(), A.cols())),
        factors(A) {
    constexpr int K = vector_entry_t<E>::components;
    for (Eigen::Index i = 0; jacobi && i < A.rows(); i += K) {
      inverse.block(i, i, K, K) = LuFactors<long double>(A.block(i, i, K, K)).inverse();
    }
  }

  /// (I - T(M^-1 A)) A^-1 r, where T is Chebyshev's polynomial of the interval, 1 at 0.
  Column chebyshev(int degree, const SpectralInterval& on, const Column& r) const {
    const long double centre = (on.upper + static_cast<long double>(on.lower)) / 2,
                      radius = (on.upper - static_cast<long double>(on.lower)) / 2;
    const auto argument = [&](const Column& v) -> Column {
      return (centre * v - inverse * (A * v)) / radius;
    };
    const Column solution = factors.solve(r);
    Column before = solution, last = argument(solution);
    long double at_zero_before = 1, at_zero = centre / radius;
    for (int k = 1; k <= degree; ++k) {
      const Column next = 2 * argument(last) - before;
      const long double next_at_zero = 2 * (centre / radius) * at_zero - at_zero_before;
      before = last;
      last = next;
      at_zero_before = at_zero;
      at_zero = next_at_zero;
    }
    return solution - last / at_zero;
  }

  Column neumann(int terms, const Column& r) const {
    Column power = inverse * r, sum = power;
    for (int k = 1; k <= terms; ++k) {
      power -= inverse * (A * power);
      sum += power;
    }
    return sum;
  }
};

template <class E>
Field<E> applied(const Preconditioner<double>& preconditioner, const Operator<E>& A,
                 const Field<E>& r) {
  Field<E> z = A.field();
  fill<double>(std::nan(""), z, A.device().stream());  // a preconditioner does not read z
  preconditioner.apply(r, z, A.device().stream());
  return z;
}

template <class E>
void expect_equal(const Field<E>& z, const Column& expected) {
  const Column found = components_of<long double>(z);
  EXPECT_FALSE(!((found - expected).norm() <= 1e-13L * expected.norm()))
      << static_cast<double>((found - expected).norm() / expected.norm());
}

template <class E>
class PolynomialEntries : public ::testing::Test {};
using Entries = ::testing::Types<real<double>, complex<double>, quaternion<double>,
                                 block<double, 3, 3>, block<complex<double>, 3, 3>>;
TYPED_TEST_SUITE(PolynomialEntries, FewOf<Entries>);

TYPED_TEST(PolynomialEntries, ChebyshevIsThePolynomialOfItsInterval) {
  using E = TypeParam;
  Seed seed(1);
  constexpr Index n = 33;
  const CsrMatrix<E> matrix = random_system<E>(n, 3, 0.3, 0, seed.generator).matrix;
  const System with_jacobi(matrix, true), plain(matrix, false);
  for (const char* plan : plans) {
    for (const int degree : {1, 2, 7}) {
      SCOPED_TRACE(std::string(plan) + ", degree " + std::to_string(degree));
      const Operator<E> A(matrix, parse_plan(plan));
      Field<E> r = A.field();
      fill_randomly(r, seed.generator);
      const auto rhs = components_of<long double>(r);
      const Chebyshev scaled(A, Jacobi(A), {.degree = degree});
      expect_equal(applied(scaled, A, r), with_jacobi.chebyshev(degree, scaled.interval(), rhs));
      const Chebyshev of_matrix(A, {.degree = degree});
      expect_equal(applied(of_matrix, A, r), plain.chebyshev(degree, of_matrix.interval(), rhs));
      const SpectralInterval own{0.25, 5};
      const Chebyshev on_own(A, Jacobi(A), {.degree = degree, .interval = own});
      expect_equal(applied(on_own, A, r), with_jacobi.chebyshev(degree, own, rhs));
    }
  }
}

TYPED_TEST(PolynomialEntries, NeumannIsTheSum) {
  using E = TypeParam;
  Seed seed(2);
  constexpr Index n = 33;
  const CsrMatrix<E> matrix = dominant_system<E>(n, 3, 0.5, seed.generator).matrix;
  const System with_jacobi(matrix, true), plain(matrix, false);
  for (const char* plan : plans) {
    for (const int terms : {1, 2, 5}) {
      SCOPED_TRACE(std::string(plan) + ", terms " + std::to_string(terms));
      const Operator<E> A(matrix, parse_plan(plan));
      Field<E> r = A.field();
      fill_randomly(r, seed.generator);
      const auto rhs = components_of<long double>(r);
      expect_equal(applied(Neumann(A, Jacobi(A), terms), A, r), with_jacobi.neumann(terms, rhs));
      expect_equal(applied(Neumann(A, terms), A, r), plain.neumann(terms, rhs));
    }
  }
}

TYPED_TEST(PolynomialEntries, MapsAreHermitianAndPositive) {
  using E = TypeParam;
  Seed seed(3);
  constexpr Index n = 90;
  const Operator<E> A(random_system<E>(n, 3, 0.1, 0, seed.generator).matrix, parse_plan("pJDS"));
  const auto expect_hermitian = [&](const Preconditioner<double>& M) {
    EXPECT_TRUE(M.is_hermitian());
    EXPECT_TRUE(M.is_constant());
    Field<E> x = A.field(), y = A.field();
    fill_randomly(x, seed.generator);
    fill_randomly(y, seed.generator);
    const Field<E> of_x = applied(M, A, x), of_y = applied(M, A, y);
    EXPECT_NEAR(dot<E>(y, of_x), dot<E>(x, of_y), 1e-13 * norm<E>(of_x) * norm<E>(y));
    EXPECT_GT(dot<E>(x, of_x), 0);
  };
  expect_hermitian(Chebyshev(A, Jacobi(A)));
  expect_hermitian(Chebyshev(A, {.degree = 9}));
  expect_hermitian(Neumann(A, Jacobi(A), 2));
}

TEST(Polynomial, MapsOfComplexSymmetricMatricesAreComplexSymmetric) {
  using E = complex<double>;
  Seed seed(4);
  const Operator<E> A(random_complex_symmetric_matrix<E>(120, 4, seed.generator),
                      parse_plan("K1rs,C=8"));
  const Neumann M(A, Jacobi(A), 3);
  EXPECT_TRUE(M.is_symmetric());
  Field<E> x = A.field(), y = A.field();
  fill_randomly(x, seed.generator);
  fill_randomly(y, seed.generator);
  const Field<E> of_x = applied(M, A, x), of_y = applied(M, A, y);
  complex<double> left{}, right{};
  for (Index i = 0; i < x.size(); ++i) {
    multiply_add(left, y[i], of_x[i]);
    multiply_add(right, x[i], of_y[i]);
  }
  for (int k = 0; k < 2; ++k) {
    EXPECT_NEAR(left.component[k], right.component[k], 1e-13 * norm<E>(of_x) * norm<E>(y));
  }
}

/// The five-point Laplacian of a square of `side` x `side` points, with coefficients from 1 to 100.
CsrMatrix<real<double>> five_point(Index side, Generator& generator) {
  TileRows tiles(1, side * side);
  const auto couple = [&](Index i, Index j) {
    const double weight = std::pow(10, uniform(generator, 0, 2));
    tiles.at(i, i)(0, 0) += weight;
    tiles.at(j, j)(0, 0) += weight;
    tiles.at(i, j).setConstant(-weight);
    tiles.at(j, i).setConstant(-weight);
  };
  for (Index row = 0; row < side; ++row) {
    for (Index column = 0; column < side; ++column) {
      const Index i = row * side + column;
      if (row == 0 || column == 0) tiles.at(i, i)(0, 0) += 1;
      if (column + 1 < side) couple(i, i + 1);
      if (row + 1 < side) couple(i, i + side);
    }
  }
  return assemble<real<double>>(tiles);
}

TEST(Polynomial, SavesIterations) {
  HEDDLE_RELEASE_ONLY();
  using E = real<double>;
  Seed seed(5);
  const auto matrix = five_point(60, seed.generator);
  const auto b = random_vector<E>(matrix.rows(), seed.generator);
  for (const char* plan : {"CSR", "pJDS", "CSR,iteration-precision=single"}) {
    SCOPED_TRACE(plan);
    const Operator<E> A(matrix, parse_plan(plan));
    const auto iterations = [&](auto preconditioner) {
      ConjugateGradient cg(A, std::move(preconditioner));
      Field<E> x(matrix.rows());
      const Report report = cg.solve(b, x);
      EXPECT_TRUE(report.converged()) << report;
      EXPECT_TRUE(true_residual(matrix, b, x) <= 1e-10 * components_of<double>(b).norm() * 1.001);
      return report.iterations;
    };
    const auto jacobi = iterations(Jacobi(A));
    EXPECT_LT(iterations(Chebyshev(A, Jacobi(A), {.degree = 1})), jacobi);
    EXPECT_LT(iterations(Chebyshev(A, Jacobi(A))), jacobi / 3);
    EXPECT_LT(iterations(Chebyshev(A, Jacobi(A), {.degree = 9})), jacobi / 6);
    EXPECT_LT(iterations(Neumann(A, Jacobi(A))), jacobi);
  }
}

TYPED_TEST(PolynomialEntries, EveryMethodSolvesWithThem) {
  using E = TypeParam;
  Seed seed(6);
  constexpr Index n = 150;
  const CsrMatrix<E> matrix = random_system<E>(n, 3, 0.05, 0, seed.generator).matrix;
  const Operator<E> A(matrix, parse_plan("C=4,sigma=n,vector=soa"));
  const auto b = random_vector<E>(n, seed.generator);
  const auto expect_solved = [&]<template <class> class Solver>() {
    for (const bool chebyshev : {true, false}) {
      std::shared_ptr<Preconditioner<double>> M;
      if (chebyshev) {
        M = std::make_shared<Chebyshev<double>>(A, Jacobi(A));
      } else {
        M = std::make_shared<Neumann<double>>(A, Jacobi(A), 2);
      }
      Solver<double> solver(A, M);
      Field<E> x(n);
      const Report report = solver.solve(b, x);
      EXPECT_TRUE(report.converged()) << report;
      EXPECT_TRUE(true_residual(matrix, b, x) <= 1e-10 * components_of<double>(b).norm() * 1.001);
    }
  };
  expect_solved.template operator()<ConjugateGradient>();
  expect_solved.template operator()<Minres>();
  expect_solved.template operator()<BiCGStab>();
  expect_solved.template operator()<Gmres>();
}

TEST(Polynomial, SolvesInSinglePrecisionAndInLongDouble) {
  const auto expect_solved = [&]<class S>(long double tolerance) {
    using E = quaternion<S>;
    Seed seed(7);
    const CsrMatrix<E> matrix = random_system<E>(200, 3, 0.1, 0, seed.generator).matrix;
    const Operator<E> A(matrix, parse_plan("CSR"));
    const auto b = random_vector<E>(200, seed.generator);
    Field<E> x(200);
    ConjugateGradient cg(A, Chebyshev(A, Jacobi(A)));
    const Report report = cg.solve(b, x);
    EXPECT_TRUE(report.converged()) << report;
    EXPECT_TRUE(true_residual(matrix, b, x) <= tolerance * components_of<long double>(b).norm());
  };
  expect_solved.operator()<float>(1.001e-5L);
  HEDDLE_IN_LONG_DOUBLE(expect_solved.operator()<long double>(1.001e-10L);)
}

TEST(Polynomial, SolvesWithANullSpace) {
  using E = quaternion<double>;
  Seed seed(8);
  const auto [matrix, null_vector] = random_laplacian<E>(80, 3, seed.generator);
  const Operator<E> A(matrix, parse_plan("CSR"));
  ConjugateGradient cg(A, Chebyshev(A, Jacobi(A)));
  cg.set_null_space({null_vector.view()});
  Field<E> x(80);
  const Field<E> b = image_of(matrix, random_vector<E>(80, seed.generator));
  const Report report = cg.solve(b, x);
  EXPECT_TRUE(report.converged()) << report;
}

TEST(Polynomial, NewValuesMakeTheMapOfTheNewMatrix) {
  using E = complex<double>;
  Seed seed(9);
  constexpr Index n = 60;
  const CsrMatrix<E> first = random_system<E>(n, 3, 0.3, 0, seed.generator).matrix;
  CsrMatrix<E> second = first;
  for (Index row = 0; row < n; ++row) {  // S A S with another diagonal S
    for (Offset i = first.offsets()[row]; i < first.offsets()[row + 1]; ++i) {
      const double factor = (1 + row % 5) * (1 + first.column()[i] % 5) * 3.0;
      for (int k = 0; k < 2; ++k) second.values()[2 * i + k] *= factor;
    }
  }
  for (const bool with_jacobi : {true, false}) {
    Operator<E> A(first, parse_plan("pJDS"));
    const auto made = [&](const Operator<E>& of) {
      return with_jacobi ? Chebyshev<double>(of, Jacobi(of)) : Chebyshev<double>(of);
    };
    Chebyshev<double> M = made(A);
    Field<E> r = A.field();
    fill_randomly(r, seed.generator);
    const auto before = bits_of(applied(M, A, r));
    M.refresh();
    EXPECT_EQ(bits_of(applied(M, A, r)), before);
    A.update_values(second);
    M.refresh();
    const Operator<E> fresh(second, parse_plan("pJDS"));
    const Chebyshev<double> expected = made(fresh);
    EXPECT_EQ(M.interval().upper, expected.interval().upper);
    EXPECT_EQ(bits_of(applied(M, A, r)), bits_of(applied(expected, fresh, r)));
    expect_equal(
        applied(M, A, r),
        System(second, with_jacobi).chebyshev(4, M.interval(), components_of<long double>(r)));
    A.update_values(first);
    M.refresh();
    EXPECT_EQ(bits_of(applied(M, A, r)), before);
  }
}

TEST(Polynomial, OfSmallMatrices) {
  using E = real<double>;
  for (const Index n : {0, 1, 2}) {
    SCOPED_TRACE(n);
    const Operator<E> A(from_dense(3 * Eigen::MatrixXd::Identity(n, n)), Plan{});
    Seed seed(12);
    const auto b = random_vector<E>(n, seed.generator);
    Field<E> x(n);
    ConjugateGradient cg(A, Chebyshev(A, Jacobi(A)));
    EXPECT_TRUE(cg.solve(b, x).converged());
  }
}

TEST(Polynomial, OptionsNameThem) {
  using E = quaternion<double>;
  Seed seed(13);
  const CsrMatrix<E> matrix = random_system<E>(80, 3, 0.05, 0, seed.generator).matrix;
  const AnyOperator A(AnyMatrix(matrix), Plan{}, Device::cpu());
  const auto b = random_vector<E>(80, seed.generator);
  const auto iterations = [&](const char* text, double shift = 0) {
    AnySolver solver(A, find_method("cg"), parse_preconditioner(text), {}, shift);
    Field<E> x(80);
    const Report report = solver.solver<double>().solve(b, x);
    EXPECT_TRUE(report.converged()) << text << ": " << report;
    return report.iterations;
  };
  const auto jacobi = iterations("jacobi");
  EXPECT_LT(iterations("chebyshev"), jacobi);
  EXPECT_LT(iterations("chebyshev:9"), iterations("chebyshev:2"));
  EXPECT_LT(iterations("neumann"), jacobi);
  // A shifted operator has no stored diagonal.
  const auto none = iterations("none", 0.5);
  EXPECT_LT(iterations("chebyshev", 0.5), none);
  expect_error(ErrorKind::usage,
               "the preconditioner jacobi is made from stored entries, which this operator "
               "lacks, as A + sigma I does; choose one of none, chebyshev, neumann",
               [&] { iterations("jacobi", 0.5); });
}

}  // namespace
}  // namespace heddle::test::polynomial_test
