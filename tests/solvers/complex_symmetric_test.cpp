// COCG and COCR against the textbooks in long double, and the systems that they do not suit.
#include "heddle/complex_symmetric.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <complex>

#include "heddle/bicgstab.hpp"
#include "heddle/conjugate_gradient.hpp"
#include "heddle/gmres.hpp"
#include "heddle/jacobi.hpp"
#include "heddle/triplets.hpp"
#include "support/expect_error.hpp"
#include "support/row_weights.hpp"
#include "support/systems/complex_symmetric_matrix.hpp"
#include "support/systems/eigen_preconditioners.hpp"
#include "support/systems/systems.hpp"

namespace heddle::test::complex_symmetric {
namespace {

using Number = std::complex<long double>;
using Dense = Eigen::Matrix<Number, -1, -1>;
using Column = Eigen::Matrix<Number, -1, 1>;

/// The complex numbers of a matrix that acts on rows of complex numbers.
template <class E>
Dense complex_of(const CsrMatrix<E>& matrix) {
  const Eigen::MatrixXd real = expansion<double>(matrix);
  Dense A(real.rows() / 2, real.cols() / 2);
  for (Eigen::Index i = 0; i < A.rows(); ++i) {
    for (Eigen::Index j = 0; j < A.cols(); ++j)
      A(i, j) = {real(2 * i, 2 * j), real(2 * i + 1, 2 * j)};
  }
  return A;
}
template <class E>
Column complex_of(const Field<E>& field) {
  Column b(static_cast<Eigen::Index>(field.scalars().size() / 2));
  for (Eigen::Index i = 0; i < b.size(); ++i) {
    const auto k = static_cast<std::size_t>(2 * i);
    b(i) = {field.scalars()[k], field.scalars()[k + 1]};
  }
  return b;
}
Number bilinear(const Column& a, const Column& b) { return (a.transpose() * b)(0, 0); }

/// van der Vorst and Melissen 1990, section 3.
std::vector<double> cocg(const Dense& A, const Column& weights, const Column& b, int steps) {
  Column r = b, z = weights.cwiseProduct(r), p = z;
  Number r_z = bilinear(r, z);
  std::vector<double> residuals{1};
  for (int k = 0; k < steps; ++k) {
    const Column q = A * p;
    const Number alpha = r_z / bilinear(p, q);
    r -= alpha * q;
    z = weights.cwiseProduct(r);
    const Number next = bilinear(r, z);
    p = z + next / r_z * p;
    r_z = next;
    residuals.push_back(static_cast<double>(r.norm() / b.norm()));
  }
  return residuals;
}
/// Sogabe and Zhang 2007, algorithm 4.
std::vector<double> cocr(const Dense& A, const Column& weights, const Column& b, int steps) {
  Column r = b, z = weights.cwiseProduct(r), p = z, w = A * z, q = w;
  Number z_w = bilinear(z, w);
  std::vector<double> residuals{1};
  for (int k = 0; k < steps; ++k) {
    const Number alpha = z_w / bilinear(q, weights.cwiseProduct(q));
    r -= alpha * q;
    z = weights.cwiseProduct(r);
    w = A * z;
    const Number next = bilinear(z, w);
    p = z + next / z_w * p;
    q = w + next / z_w * q;
    z_w = next;
    residuals.push_back(static_cast<double>(r.norm() / b.norm()));
  }
  return residuals;
}

template <class E>
class ComplexSymmetric : public ::testing::Test {};
using Entries =
    ::testing::Types<complex<double>, block<complex<double>, 2, 2>, block<complex<double>, 3, 3>>;
TYPED_TEST_SUITE(ComplexSymmetric, Entries);

template <class Solver, class E>
void expect_history(const CsrMatrix<E>& matrix,
                    std::vector<double> (*textbook)(const Dense&, const Column&, const Column&,
                                                    int),
                    Generator& generator) {
  constexpr int steps = 10, K = vector_entry_t<E>::components;
  const Field<E> b = random_field<E>(matrix.rows(), generator);
  for (const bool preconditioned : {false, true}) {
    SCOPED_TRACE(preconditioned ? "preconditioned" : "");
    const auto [weights, of_scalars] =
        random_weights(matrix.rows(), K, preconditioned, 0.1, generator);
    Column of_numbers(of_scalars.size() / 2);
    for (Eigen::Index i = 0; i < of_numbers.size(); ++i) of_numbers(i) = of_scalars(2 * i);
    const auto expected = textbook(complex_of(matrix), of_numbers, complex_of(b), steps);
    for (const char* plan : {"CSR", "C=4,sigma=n,T=2,inner=soa,vector=soa", "recurrence=real"}) {
      SCOPED_TRACE(plan);
      const Operator<E> A(matrix, parse_plan(plan));
      const SolverOptions options{
          .tolerance = 1e-15, .max_iterations = steps, .record_history = true};
      Solver solver =
          preconditioned ? Solver(A, RowWeights<double>(weights), options) : Solver(A, options);
      Field<E> x(matrix.rows());
      solver.solve(b, x);
      ASSERT_GE(solver.history().size(), expected.size());
      for (std::size_t k = 0; k < expected.size(); ++k) {
        EXPECT_NEAR(solver.history()[k] / expected[k], 1, 1e-8) << "step " << k;
      }
    }
  }
}

TYPED_TEST(ComplexSymmetric, FollowsTheTextbook) {
  Seed seed(4101);
  for (const Index rows : {2, 61}) {
    SCOPED_TRACE(rows);
    if (rows * vector_entry_t<TypeParam>::components < 24) continue;
    const auto matrix = random_complex_symmetric_matrix<TypeParam>(rows, 6, seed.generator);
    expect_history<Cocg<double>>(matrix, cocg, seed.generator);
    expect_history<Cocr<double>>(matrix, cocr, seed.generator);
  }
}

template <class Solver, class E>
void expect_solves(const CsrMatrix<E>& matrix, const Field<E>& b, Solver&& solver) {
  Field<E> x(matrix.rows());
  const Report report = solver.solve(b, x);
  EXPECT_TRUE(report.converged()) << report;
  EXPECT_LE(true_residual(matrix, b, x), report.target_norm * (1 + 1e-4));
}
TYPED_TEST(ComplexSymmetric, SolvesWithAndWithoutJacobi) {
  using E = TypeParam;
  Seed seed(4102);
  for (const Index rows : {1, 2, 33, 400}) {
    SCOPED_TRACE(rows);
    const auto matrix = random_complex_symmetric_matrix<E>(rows, 6, seed.generator);
    const Operator<E> A(matrix, Plan{});
    const Field<E> b = random_field<E>(rows, seed.generator);
    expect_solves(matrix, b, Cocg<double>(A));
    expect_solves(matrix, b, Cocg<double>(A, Jacobi(A)));
    expect_solves(matrix, b, Cocr<double>(A));
    expect_solves(matrix, b, Cocr<double>(A, Jacobi(A)));
  }
}

TEST(ComplexSymmetricInSingle, Solves) {
  using E = complex<float>;
  Seed seed(4103);
  const auto matrix = random_complex_symmetric_matrix<E>(300, 6, seed.generator);
  const Operator<E> A(matrix, Plan{});
  const Field<E> b = random_field<E>(300, seed.generator);
  expect_solves(matrix, b, Cocg<float>(A));
  expect_solves(matrix, b, Cocr<float>(A, Jacobi(A)));
}

/// Over real numbers these are conjugate gradient and conjugate residuals.
TEST(ComplexSymmetricOverReals, IsConjugateGradient) {
  using E = real<double>;
  Seed seed(4104);
  const auto matrix = random_positive_definite_matrix<E>(90, 7, seed.generator);
  const Operator<E> A(matrix, Plan{});
  const Field<E> b = random_field<E>(90, seed.generator);
  const SolverOptions options{.record_history = true};
  Cocg<double> cocg(A, options);
  ConjugateGradient<double> cg(A, options);
  Field<E> x(90), y(90);
  cocg.solve(b, x);
  cg.solve(b, y);
  ASSERT_EQ(cocg.history().size(), cg.history().size());
  for (std::size_t k = 0; k < cg.history().size(); ++k) {
    EXPECT_NEAR(cocg.history()[k] / cg.history()[k], 1, 1e-9) << k;
  }
}

TEST(ComplexSymmetricMisuse, IsRefused) {
  Seed seed(4105);
  {
    using E = quaternion<double>;
    const Operator<E> A(random_positive_definite_matrix<E>(20, 5, seed.generator), Plan{});
    expect_error(ErrorKind::unsupported,
                 "COCG is for real and complex matrices; use BiCGStab or GMRES",
                 [&] { Cocg<double> solver(A); });
  }
  using E = complex<double>;
  const Field<E> b = random_field<E>(20, seed.generator);
  // A Hermitian matrix, and one that is neither Hermitian nor symmetric.
  for (const auto& matrix :
       {random_positive_definite_matrix<E>(20, 5, seed.generator),
        random_dominant_matrix<E>({.rows = 20, .columns = 20}, seed.generator)}) {
    const Operator<E> A(matrix, Plan{});
    Field<E> x(20);
    const Report report = Cocr<double>(A).solve(b, x);
    EXPECT_EQ(report.status, Status::not_symmetric) << report;
    EXPECT_EQ(report.detail, "COCR needs a complex symmetric matrix: use GMRES");
    EXPECT_EQ(Cocg<double>(A).solve(b, x).status, Status::not_symmetric);
  }
}

/// r^T r = 1 + i^2 = 0.
TEST(ComplexSymmetricBreakdown, IsReportedForQuasiNullVectors) {
  using E = complex<double>;
  const E one{1, 0}, i{0, 1};
  const auto matrix = assemble<E>(2, 2, std::vector<Triplet<E>>{{0, 0, one}, {1, 1, one}}).matrix;
  const Operator<E> A(matrix, Plan{});
  Field<E> b(2), x(2);
  b.set(0, one);
  b.set(1, i);
  const Report report = Cocg<double>(A).solve(b, x);
  EXPECT_EQ(report.status, Status::breakdown) << report;
  EXPECT_NE(report.detail.find("quasi-null"), std::string::npos) << report.detail;
  EXPECT_EQ(Cocr<double>(A).solve(b, x).status, Status::breakdown);
}

}  // namespace
}  // namespace heddle::test::complex_symmetric
