// Sparse factorizations against dense inverses, and the solves that they refine.
#include "heddle/direct_inverse.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "heddle/conjugate_gradient.hpp"
#include "heddle/gmres.hpp"
#include "heddle/runtime/defined_operator.hpp"
#include "support/entry_definitions.hpp"
#include "support/expect_error.hpp"
#include "support/few_entries.hpp"
#include "support/random_matrix.hpp"
#include "support/systems/complex_symmetric_matrix.hpp"
#include "support/systems/dense_factors.hpp"
#include "support/systems/dense_map.hpp"
#include "support/systems/systems.hpp"

namespace heddle::test::direct_inverse {
namespace {

constexpr const char* plans[] = {"CSR", "pJDS", "order=rcm,C=4,sigma=16,vector=soa",
                                 "C=8,sigma=8,inner=aosoa16"};
constexpr const char* singular = "direct: the matrix is singular, exactly or to rounding";

template <class E>
DenseMap dense_matrix(const CsrMatrix<E>& matrix) {
  return expansion<long double>(matrix);
}

/// Both M and its adjoint, in every plan.
template <class E>
void expect_inverse(const CsrMatrix<E>& matrix, bool is_ldlt) {
  const DenseMap expected = LuFactors<long double>(dense_matrix(matrix)).inverse();
  const double digits = std::is_same_v<stored_scalar_t<E>, float> ? 1e-6 : 1e-12;
  for (const char* plan : plans) {
    SCOPED_TRACE(std::string(plan) + ", " + std::to_string(matrix.rows()) + " rows");
    const Operator<E> A(matrix, parse_plan(plan));
    const DirectInverse M(A);
    EXPECT_EQ(M.is_ldlt(), is_ldlt);
    EXPECT_GT(M.nonzeros(), 0);
    const long double defect = (dense_of(A, M) - expected).norm() / expected.norm();
    EXPECT_TRUE(defect <= digits) << defect;
    const DenseMap transposed = expected.transpose();
    const long double of_adjoint =
        (dense_of(A, M.adjoint()) - transposed).norm() / transposed.norm();
    EXPECT_TRUE(of_adjoint <= digits) << of_adjoint;
  }
}

template <class E>
class DirectInverseOf : public testing::Test {};
using Entries = testing::Types<real<double>, real<double, 3>, complex<double>, quaternion<double>,
                               dual_quaternion<double>, block<double, 3, 3>,
                               block<complex<double>, 2, 2>, real<float>, quaternion<float>>;
TYPED_TEST_SUITE(DirectInverseOf, FewOf<Entries>);

TYPED_TEST(DirectInverseOf, AnyMatrixHasItsInverse) {
  using E = TypeParam;
  for (const Index rows : {29, 2, 1}) {
    Seed seed(static_cast<std::uint64_t>(6100 + rows));
    const auto tiles =
        dominant_tiles(Tiles<E>::size, random_tile<E>, rows, rows > 1 ? 3 : 0, 0.5, seed.generator);
    const auto matrix = assemble<E>(tiles);
    expect_inverse(matrix, DirectInverse(Operator<E>(matrix, Plan{})).is_ldlt());
  }
}

template <class E>
class HermitianDirectInverseOf : public testing::Test {};
using HermitianEntries =
    testing::Types<real<double>, complex<double>, quaternion<double>, block<double, 3, 3>,
                   block<complex<double>, 2, 2>, complex<float>>;
TYPED_TEST_SUITE(HermitianDirectInverseOf, FewOf<HermitianEntries>);

TYPED_TEST(HermitianDirectInverseOf, HermitianMatricesHaveNoPivots) {
  using E = TypeParam;
  Seed seed(6200);
  for (const Index rows : {31, 1}) {
    expect_inverse(random_positive_definite_matrix<E>(rows, 4, seed.generator), true);
  }
  // Scaled, of both signs, and not Hermitian in one entry.
  auto tiles = random_tiles(Tiles<E>::size, random_tile<E>, 23, 3, 0.2, 0, seed.generator);
  expect_inverse(assemble<E>(tiles), true);
  tiles.rows[5].begin()->second += random_tile<E>(seed.generator, 0.1);
  tiles.at(5, 7) += random_tile<E>(seed.generator, 0.1);
  expect_inverse(assemble<E>(tiles), false);
}

TEST(DirectInverse, ComplexSymmetricMatricesAreNotHermitian) {
  Seed seed(6300);
  expect_inverse(random_complex_symmetric_matrix<complex<double>>(27, 4, seed.generator), false);
}

/// The order of the rows may leave a zero pivot, or a small one, to either factorization.
TEST(DirectInverse, SaddlePointsHaveTheirInverses) {
  for (int trial = 0; trial < 20; ++trial) {
    Seed seed(static_cast<std::uint64_t>(6400 + trial));
    const Index n = random_between(2, 30, seed.generator), m = random_between(1, n, seed.generator);
    Eigen::MatrixXd dense = Eigen::MatrixXd::Zero(n + m, n + m);
    for (Index i = 0; i < n; ++i) dense(i, i) = uniform(seed.generator, 1e-9, 1);
    dense.bottomLeftCorner(m, n) = random_dense(n, seed.generator).topRows(m);
    dense.topRightCorner(n, m) = dense.bottomLeftCorner(m, n).transpose();
    const auto matrix = from_dense(dense);
    const Operator<real<double>> A(matrix, parse_plan("order=rcm,C=4,sigma=16"));
    const DenseMap M = dense_of(A, DirectInverse(A));
    const DenseMap expected = LuFactors<long double>(dense_matrix(matrix)).inverse();
    const long double condition = expected.norm() * dense_matrix(matrix).norm();
    EXPECT_TRUE((M - expected).norm() <= 1e-11L * condition * expected.norm()) << n << " " << m;
  }
  const Eigen::Matrix2d exchange{{0, 1}, {1, 0}};
  expect_inverse(from_dense(exchange), false);
}

TEST(DirectInverse, SmallPivotsAreAvoided) {
  const Eigen::Matrix3d dense{{1e-14, 1, 0}, {1, 1e-14, 1}, {0, 1, 1e-13}};
  expect_inverse(from_dense(dense), false);
}

/// Neither symmetry nor regularity depends on the scales of rows and columns.
TEST(DirectInverse, ScalesMayDiffer) {
  Seed seed(6500);
  Eigen::MatrixXd dense = random_dense(12, seed.generator);
  dense += dense.transpose().eval();
  dense.diagonal().array() += 24;
  Eigen::VectorXd scale(12);
  for (Index i = 0; i < 12; ++i) scale[i] = std::pow(10.0, uniform(seed.generator, -12, 12));
  const auto inverse_is_accurate = [&](const Eigen::MatrixXd& of) {
    const Operator<real<double>> A(from_dense(scale.asDiagonal() * of * scale.asDiagonal()),
                                   Plan{});
    const DirectInverse M(A);
    const DenseMap unscaled = scale.cast<long double>().asDiagonal() * dense_of(A, M) *
                              scale.cast<long double>().asDiagonal();
    const DenseMap expected = LuFactors<long double>(DenseMap(of.cast<long double>())).inverse();
    EXPECT_TRUE((unscaled - expected).norm() <= 1e-12L * expected.norm());
    return M.is_ldlt();
  };
  EXPECT_TRUE(inverse_is_accurate(dense));
  dense(3, 4) *= 2;
  EXPECT_FALSE(inverse_is_accurate(dense));
}

TEST(DirectInverse, NewValuesReachTheFactors) {
  using E = complex<double>;
  Seed seed(6600);
  Operator<E> A(random_positive_definite_matrix<E>(40, 5, seed.generator), Plan{});
  DirectInverse M(A);
  DirectInverse of_adjoint = M.adjoint();
  const auto pattern = random_positive_definite_matrix<E>(40, 5, seed.generator);
  const auto make = [&](bool is_hermitian) {
    Seed again(6600);
    auto matrix =
        random_positive_definite_matrix<E>(40, 5, again.generator, 2 + uniform(seed.generator));
    if (!is_hermitian) {
      for (auto& value : matrix.values()) value += 0.1 * uniform(seed.generator);
    }
    return matrix;
  };
  for (const bool is_hermitian : {true, false, false, true}) {
    const auto matrix = make(is_hermitian);
    A.update_values(matrix);
    const DenseMap before = dense_of(A, M);
    M.refresh();
    EXPECT_EQ(M.is_ldlt(), is_hermitian);
    EXPECT_NE(dense_of(A, M), before);
    const DenseMap expected = LuFactors<long double>(dense_matrix(matrix)).inverse();
    EXPECT_TRUE((dense_of(A, M) - expected).norm() <= 1e-12L * expected.norm());
    of_adjoint.refresh();
    EXPECT_TRUE((dense_of(A, of_adjoint) - expected.transpose()).norm() <=
                1e-12L * expected.norm());
  }
}

TEST(DirectInverse, SingularMatricesAreRefusedUntilTheyAreRegular) {
  using E = real<double>;
  const auto refused = [](const Eigen::MatrixXd& dense) {
    const Operator<E> A(from_dense(dense), Plan{});
    expect_error(ErrorKind::singular, singular, [&] { DirectInverse<double> M(A); });
  };
  refused(Eigen::MatrixXd::Zero(1, 1));
  refused(Eigen::MatrixXd::Zero(4, 4));
  refused(Eigen::MatrixXd::Ones(5, 5));
  Seed seed(6700);
  Eigen::MatrixXd dense = random_dense(9, seed.generator);
  dense.row(4) = 0.3 * dense.row(2) - 0.7 * dense.row(8);
  refused(dense);
  dense = random_dense(9, seed.generator);
  dense.col(3).setZero();
  refused(dense);

  dense = random_dense(9, seed.generator);
  const auto regular = from_dense(dense), ones = from_dense(Eigen::MatrixXd::Ones(9, 9));
  Operator<E> A(regular, Plan{});
  DirectInverse M(A);
  const DenseMap before = dense_of(A, M);
  A.update_values(ones);
  expect_error(ErrorKind::singular, singular, [&] { M.refresh(); });
  expect_error(ErrorKind::singular, singular, [&] { static_cast<void>(dense_of(A, M)); });
  A.update_values(regular);
  M.refresh();
  EXPECT_EQ(dense_of(A, M), before);
}

TEST(DirectInverse, WhatItRefusesIsOneLine) {
  using E = real<double>;
  Seed seed(6800);
  Eigen::MatrixXd dense = random_dense(5, seed.generator);
  dense(2, 3) = std::numeric_limits<double>::infinity();
  const Operator<E> infinite(from_dense(dense), Plan{});
  expect_error(ErrorKind::not_finite, "direct: a value of the matrix is not a number, or too large",
               [&] { DirectInverse<double> M(infinite); });
  const Operator<E> wide(
      random_matrix_of<E>(random_pattern({.rows = 3, .columns = 5}, seed.generator),
                          seed.generator),
      Plan{});
  expect_error(ErrorKind::size_mismatch, [&] { DirectInverse<double> M(wide); });
  const Operator<E> A(from_dense(random_dense(5, seed.generator)), Plan{});
  const DirectInverse M(A);
  Field<E> r(5), other(4);
  expect_error(ErrorKind::size_mismatch,
               [&] { M.apply(r.view(), other.view(), A.device().stream()); });
  expect_error(ErrorKind::usage, [&] { M.apply(r.view(), r.view(), A.device().stream()); });
}

TEST(DirectInverse, NoRowsHaveAnInverse) {
  const Operator<real<double>> A(from_dense(Eigen::MatrixXd(0, 0)), Plan{});
  const DirectInverse M(A);
  Field<real<double>> r(0), z(0);
  M.apply(r.view(), z.view(), A.device().stream());
  EXPECT_EQ(M.nonzeros(), 0);
}

template <class E>
void expect_same_of_definition(const CsrMatrix<E>& matrix, Definition definition) {
  const Operator<E> A(matrix, Plan{});
  const DefinedOperator<double> defined(as_defined(matrix, std::move(definition)), Plan{},
                                        Device::cpu());
  Seed seed(6900);
  const Field<E> r = random_field<E>(matrix.rows(), seed.generator);
  Field<E> z(matrix.rows()), of_defined(matrix.rows());
  const Stream stream = A.device().stream();
  DirectInverse(A).apply(r.view(), z.view(), stream);
  DirectInverse<double>(defined).apply(r.view(), of_defined.view(), stream);
  EXPECT_EQ(bits_of(z), bits_of(of_defined));
}

/// Over two rings, one of them without an inverse.
TEST(DirectInverse, DefinedEntriesAreExpanded) {
  Seed seed(6901);
  expect_same_of_definition(general_system<quaternion<double>>(21, seed.generator).matrix,
                            quaternion_definition());
  expect_same_of_definition(general_system<complex<double>>(21, seed.generator).matrix,
                            definition_of(R"json({
    "name": "my-complex", "ring": "complex", "members": ["x", "y"],
    "multiply": {"x": "a.x * x.x - a.y * x.y", "y": "a.x * x.y + a.y * x.x"}})json"));
}

TEST(DirectInverse, SolversRefineItsSolutions) {
  using E = block<double, 3, 3>;
  Seed seed(7000);
  const auto hermitian = random_system<E>(60, 3, 0.2, 0, seed.generator).matrix,
             general = general_system<E>(60, seed.generator).matrix;
  const auto expect_refined = [&](const CsrMatrix<E>& matrix, auto&& solver, const Operator<E>& A) {
    Field<E> b = A.field(), x = A.field();
    fill_randomly(b, seed.generator);
    const Report report = solver.solve(b, x);
    EXPECT_EQ(report.status, Status::converged);
    EXPECT_LE(report.iterations, 2);
    EXPECT_LE(report.residual, 1e-12);
    const Vector<long double> rest =
        components_of<long double>(b) - dense_matrix(matrix) * components_of<long double>(x);
    EXPECT_TRUE(rest.norm() <= 1e-12L * components_of<long double>(b).norm());
  };
  const SolverOptions options{.tolerance = 1e-12};
  const Operator<E> A(hermitian, parse_plan("pJDS")), B(general, parse_plan("pJDS"));
  expect_refined(hermitian, ConjugateGradient(A, DirectInverse(A), options), A);
  expect_refined(general, Gmres(B, DirectInverse(B), options), B);
}

/// Most of the columns are empty: nothing is left to estimate the factors from.
TEST(DirectInverse, RefusesEmptyColumnsAtOnce) {
  std::vector<Offset> offsets(101, 1);
  offsets[0] = 0;
  const Index column[] = {7};
  const double value[] = {1};
  const Operator<real<double>> A({100, 100, offsets.data(), column, value}, Plan{});
  expect_error(ErrorKind::singular, singular, [&] { DirectInverse<double> M(A); });
}

}  // namespace
}  // namespace heddle::test::direct_inverse
