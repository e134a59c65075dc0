// BiCGStab(2) over every entry: it solves to its true residual, its recurrence matches the
// textbook's on the expansion over its coefficients, and it converges where BiCGStab does not.
#include "heddle/bicgstab2.hpp"

#include <gtest/gtest.h>

#include <complex>

#include "heddle/bicgstab.hpp"
#include "heddle/jacobi.hpp"
#include "support/few_entries.hpp"
#include "support/row_weights.hpp"
#include "support/systems/dense_factors.hpp"
#include "support/systems/systems.hpp"
#include "support/systems/textbook_history.hpp"

namespace heddle::test::bicgstab2 {
namespace {

constexpr int steps = 4;  // length of the compared recurrences

using Factors = LuFactors<double>;

/// The solver's x and the solution by `factors` differ only as far as their true residuals allow.
template <class E>
void expect_solves(const System<E>& system, const Factors& factors,
                   BiCGStab2<vector_scalar_t<E>>& solver, Generator& generator) {
  using S = vector_scalar_t<E>;
  const Field<E> b = random_vector<E>(system.matrix.rows(), generator);
  Field<E> x(system.matrix.rows());
  const Report report = solver.solve(b, x);
  ASSERT_TRUE(report.converged()) << report;
  EXPECT_GT(report.iterations, 1);
  const auto rhs = components_of<long double>(b);
  const auto residual = static_cast<double>(true_residual(system.matrix, b, x));
  EXPECT_LE(residual, default_tolerance<S> * static_cast<double>(rhs.norm()) * (1 + 1e-9));
  const Vector<double> direct = factors.solve(components_of<double>(b));
  const auto wide = direct.cast<long double>();
  const Vector<long double> rest = rhs - expansion<long double>(system.matrix) * wide;
  const auto apart = static_cast<double>((components_of<long double>(x) - wide).norm());
  EXPECT_LE(apart, system.inverse_norm * (residual + static_cast<double>(rest.norm())) * 1.01);
}

template <class E>
class BiCGStab2Entries : public ::testing::Test {};
using Entries =
    ::testing::Types<real<double>, complex<double>, quaternion<double>, dual_quaternion<double>,
                     block<double, 3, 3>, block<complex<double>, 2, 2>, real<float>,
                     quaternion<float>, block<complex<float>, 3, 3>>;
TYPED_TEST_SUITE(BiCGStab2Entries, FewOf<Entries>);

TYPED_TEST(BiCGStab2Entries, SolvesUnderEveryPreconditioner) {
  using E = TypeParam;
  using S = vector_scalar_t<E>;
  for (unsigned seed = 1; seed <= 3; ++seed) {
    Generator generator(seed);
    const System<E> system = general_system<E>(seed * 40 + 7, generator);
    const Factors factors(Eigen::MatrixXd(expansion<double>(system.matrix)));
    for (const char* plan :
         {"recurrence=ring", "recurrence=real", "C=4,sigma=n,T=2,inner=soa,vector=soa", "K2rs"}) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", " + plan);
      const Operator<E> A(system.matrix, parse_plan(plan));
      BiCGStab2 plain(A), jacobi(A, Jacobi(A));
      std::vector<S> weights(static_cast<std::size_t>(A.rows()));
      for (S& w : weights) w = static_cast<S>(uniform(generator, 0.3, 1));
      BiCGStab2 weighted(A, RowWeights<S>(weights));
      expect_solves(system, factors, plain, generator);
      expect_solves(system, factors, jacobi, generator);
      expect_solves(system, factors, weighted, generator);
    }
  }
}

/// Sleijpen and Fokkema 1993, algorithm 3.1 with l = 2, shadow vector r0; real polynomials for real
/// numbers, complex ones for complex numbers.
struct Textbook {
  template <class T>
  static std::vector<double> history(const Eigen::Matrix<T, -1, -1>& A, const Vector<T>& b) {
    using Columns = Eigen::Matrix<T, -1, 3>;
    Columns r = Columns::Zero(b.size(), 3), u = r;
    r.col(0) = b;
    const Vector<T> shadow = b;
    T rho = 1, alpha = 0, omega = 1;
    std::vector<double> history{1};
    for (int i = 0; i < steps; ++i) {
      rho = -omega * rho;
      for (int j = 0; j < 2; ++j) {
        const T next = shadow.dot(r.col(j)), beta = alpha * next / rho;
        rho = next;
        u.leftCols(j + 1) = (r.leftCols(j + 1) - beta * u.leftCols(j + 1)).eval();
        u.col(j + 1) = A * u.col(j);
        alpha = rho / shadow.dot(u.col(j + 1));
        r.leftCols(j + 1) -= alpha * u.middleCols(1, j + 1);
        r.col(j + 1) = A * r.col(j);
      }
      const Vector<T> gamma = solution_by_qr<T>(r.rightCols(2), r.col(0));
      r.col(0) -= r.rightCols(2) * gamma;
      u.col(0) -= u.rightCols(2) * gamma;
      omega = gamma[1];
      history.push_back(static_cast<double>(std::abs(r.col(0).norm() / b.norm())));
    }
    return history;
  }
};

template <class E>
class BiCGStab2RealForm : public ::testing::Test {};
TYPED_TEST_SUITE(BiCGStab2RealForm, FewOf<AllEntries<double>>);

TYPED_TEST(BiCGStab2RealForm, IsTheTextbookOnTheRealExpansion) {
  using E = TypeParam;
  for (unsigned seed = 1; seed <= 3; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Generator generator(seed);
    const System<E> system = general_system<E>(31, generator);
    const Field<E> b = random_vector<E>(31, generator);
    const Eigen::MatrixXd dense = expansion<double>(system.matrix);
    expect_textbook<Textbook, long double, double>(
        history_of<BiCGStab2>(system.matrix, "recurrence=real", b, steps), dense,
        components_of<double>(b), generator);
  }
}

TEST(BiCGStab2ComplexForm, IsTheTextbookOverComplexNumbers) {
  using E = complex<double>;
  for (unsigned seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Generator generator(seed);
    const System<E> system = general_system<E>(31, generator);
    const Field<E> b = random_vector<E>(31, generator);
    expect_textbook<Textbook, std::complex<long double>, std::complex<double>>(
        history_of<BiCGStab2>(system.matrix, "recurrence=ring", b, steps),
        complex_of(Eigen::MatrixXd(expansion<double>(system.matrix))),
        complex_of(components_of<double>(b)), generator);
  }
}

/// Rotates pairs of rows by almost a quarter turn, and stretches them: eigenvalues near the
/// imaginary axis.
CsrMatrix<real<double>> turning_matrix(Index pairs) {
  Tiles<real<double>> tiles(2 * pairs);
  for (Index i = 0; i < pairs; ++i) {
    const double size = 1 + double(i) / double(pairs);
    tiles.at(2 * i, 2 * i + 1)(0, 0) = size;
    tiles.at(2 * i + 1, 2 * i)(0, 0) = -size;
    for (const Index k : {2 * i, 2 * i + 1}) tiles.at(k, k)(0, 0) = 1e-3;
  }
  return tiles.assemble();
}

TEST(BiCGStab2, ConvergesOnImaginaryEigenvalues) {
  const auto matrix = turning_matrix(100);
  const Operator<real<double>> A(matrix, Plan{});
  Generator generator(5);
  const Field<real<double>> b = random_vector<real<double>>(200, generator);
  const SolverOptions options{.max_iterations = 200};
  Field<real<double>> x(200), y(200);
  EXPECT_FALSE(BiCGStab(A, options).solve(b, x).converged());
  const Report report = BiCGStab2(A, options).solve(b, y);
  EXPECT_TRUE(report.converged()) << report;
  EXPECT_LE(true_residual(matrix, b, y), report.target_norm * (1 + 1e-9));
}

TEST(BiCGStab2, EndsAtOnceOnIdentities) {
  Generator generator(6);
  for (const Index n : {1, 2, 77}) {
    Tiles<quaternion<double>> tiles(n);
    for (Index i = 0; i < n; ++i) tiles.at(i, i) = 2 * Eigen::MatrixXd::Identity(4, 4);
    const auto matrix = tiles.assemble();
    const Operator<quaternion<double>> A(matrix, Plan{});
    const auto b = random_vector<quaternion<double>>(n, generator);
    Field<quaternion<double>> x(n);
    const Report report = BiCGStab2(A).solve(b, x);
    EXPECT_TRUE(report.converged()) << report;
    EXPECT_EQ(report.iterations, 1);
  }
}

TEST(BiCGStab2, SaysWhereItBreaksDown) {
  // A b = 0: no direction leads further.
  Tiles<real<double>> tiles(2);
  tiles.at(0, 1)(0, 0) = 1;
  const auto matrix = tiles.assemble();
  const Operator<real<double>> A(matrix, Plan{});
  Field<real<double>> b(2), x(2);
  b.set(0, {{1}});
  const Report report = BiCGStab2(A).solve(b, x);
  EXPECT_EQ(report.status, Status::breakdown) << report;
}

/// <r, A r> = 0 for every r.
TEST(BiCGStab2, BreaksDownOnSkewSymmetricMatrices) {
  Eigen::MatrixXd turn(2, 2);
  turn << 0, 1, -1, 0;
  const Operator<real<double>> A(from_dense(turn), Plan{});
  Field<real<double>> b(2), x(2);
  b.set(0, {{1}});
  b.set(1, {{2}});
  const Report report = BiCGStab2(A).solve(b, x);
  EXPECT_EQ(report.status, Status::breakdown) << report;
  EXPECT_EQ(bits_of(x), std::vector<double>(2)) << "nothing is better than the guess";
}

}  // namespace
}  // namespace heddle::test::bicgstab2
