// Inputs that Chebyshev's and Richardson's iterations refuse, and how they end if they cannot
// begin.
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "base/long_double.hpp"
#include "heddle/bicgstab.hpp"
#include "heddle/block_conjugate_gradient.hpp"
#include "heddle/chebyshev_iteration.hpp"
#include "heddle/conjugate_gradient.hpp"
#include "heddle/jacobi.hpp"
#include "support/expect_error.hpp"
#include "support/systems/systems.hpp"

namespace heddle::test::chebyshev_iteration_misuse {
namespace {

using E = real<double>;
constexpr double infinity = std::numeric_limits<double>::infinity();

Operator<E> diagonal_operator(std::initializer_list<double> values) {
  Eigen::VectorXd diagonal(static_cast<Eigen::Index>(values.size()));
  std::copy(values.begin(), values.end(), diagonal.begin());
  return {from_dense(diagonal.asDiagonal()), Plan{}};
}

TEST(ChebyshevIterationMisuse, RefusesOptionsThatAreNone) {
  const Operator<E> A = diagonal_operator({1, 2, 3});
  const auto refused = [&]<class Solver>(const std::string& why, const SolverOptions& options) {
    expect_error(ErrorKind::usage, "solver options: " + why, [&] { Solver(A, options); });
    Solver solver(A);
    expect_error(ErrorKind::usage, "solver options: " + why, [&] { solver.set_options(options); });
  };
  const std::string no_interval = "an interval needs 0 < lower < upper, both finite";
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const SpectralInterval given :
       {SpectralInterval{0, 1}, {-1, 1}, {2, 1}, {1, 1}, {1, infinity}, {nan, 1}, {1, nan}}) {
    refused.operator()<ChebyshevIteration<double>>(no_interval, {.interval = given});
    refused.operator()<Richardson<double>>(no_interval, {.interval = given});
  }
  for (const double omega : {0.0, infinity, nan}) {
    refused.operator()<Richardson<double>>("omega must be finite and not 0", {.omega = omega});
  }
  refused.operator()<Richardson<double>>("omega and an interval; give one of them",
                                         {.interval = SpectralInterval{1, 2}, .omega = 1});
  refused.operator()<ChebyshevIteration<double>>("omega is only for the Richardson iteration",
                                                 {.omega = 1});
  refused.operator()<ConjugateGradient<double>>(
      "an interval is only for the Chebyshev and Richardson iterations",
      {.interval = SpectralInterval{1, 2}});
  refused.operator()<BiCGStab<double>>("omega is only for the Richardson iteration", {.omega = 1});
  refused.operator()<BlockConjugateGradient<double>>("omega is only for the Richardson iteration",
                                                     {.omega = 1});
}

/// The identity, which claims not to be Hermitian.
class Skewed final : public Preconditioner<double> {
 public:
  void apply(const FieldView<const double>& r, const FieldView<double>& z,
             const Stream& stream) const override {
    copy<double>(r, z, stream);
  }
  bool is_hermitian() const override { return false; }
};

TEST(ChebyshevIterationMisuse, AsksForHermitianMatricesWhereItEstimates) {
  Generator generator(5121);
  const Operator<E> A(random_system<E>(50, 3, 0.2, 0.6, generator).matrix, Plan{});
  const Field<E> b = random_vector<E>(50, generator);
  Field<E> x(50);
  const Report chebyshev = ChebyshevIteration(A).solve(b, x);
  EXPECT_EQ(chebyshev.status, Status::not_hermitian);
  EXPECT_FALSE(chebyshev.interval);
  EXPECT_EQ(Richardson(A).solve(b, x).status, Status::not_hermitian);
  const SpectralInterval given{0.1, 10};
  EXPECT_EQ(ChebyshevIteration(A, {.interval = given}).solve(b, x).status, Status::not_hermitian);

  const std::string hermitian =
      "a Hermitian preconditioner, and this one says that it is not; use BiCGStab";
  expect_error(ErrorKind::unsupported, "Chebyshev iteration needs " + hermitian,
               [&] { ChebyshevIteration(A, Skewed()); });
  expect_error(ErrorKind::unsupported, "Richardson iteration needs " + hermitian,
               [&] { Richardson(A, Skewed()); });
  Richardson<double> with_omega(A, Skewed(), {.omega = 0.01});
  expect_error(ErrorKind::unsupported, "Richardson iteration needs " + hermitian,
               [&] { with_omega.set_options({}); });

  using D = dual_quaternion<double>;
  const Operator<D> of_duals(dominant_system<D>(20, 2, 0.5, generator).matrix, Plan{});
  expect_error(ErrorKind::unsupported,
               "Richardson iteration needs a Hermitian matrix, and these entries have no adjoint; "
               "use BiCGStab or GMRES",
               [&] { Richardson<double>{of_duals}; });
}

TEST(ChebyshevIterationMisuse, EndsWhereMatrixOrPreconditionerIsNotPositiveDefinite) {
  const std::string why =
      "the matrix or preconditioner is not positive definite: the Ritz values that estimate the "
      "interval have both signs";
  const auto expect_indefinite = [&](auto&& solver, Index n) {
    Field<E> b(n), x(n);
    fill<double>(1, b.view(), Stream());
    const Report report = solver.solve(b, x);
    EXPECT_EQ(report.status, Status::indefinite) << report;
    EXPECT_EQ(report.detail, why);
    EXPECT_EQ(report.iterations, 0);
    EXPECT_FALSE(report.interval);
    EXPECT_FALSE(report.omega);
    EXPECT_EQ(components_of<double>(x).norm(), 0);
  };
  const Operator<E> A = diagonal_operator({1, -2, 3});
  expect_indefinite(ChebyshevIteration(A), 3);
  expect_indefinite(ChebyshevIteration(A, Jacobi(A)), 3);
  expect_indefinite(Richardson(A), 3);
  const Operator<E> coupled(from_dense(Eigen::Matrix2d{{1, 2}, {2, 1}}), Plan{});
  expect_indefinite(ChebyshevIteration(coupled, Jacobi(coupled)), 2);
}

/// A matrix of eigenvalues 1, 2, ..., 100; the interval in the options misses the largest ones.
template <template <class> class Solver, class S>
void expect_growth(SolverOptions options, const std::string& why) {
  constexpr Index n = 100;
  Generator generator(5122);
  const Operator<real<S>> A(
      from_dense<S>(Eigen::VectorXd::LinSpaced(n, 1, n).asDiagonal().toDenseMatrix()), Plan{});
  const Field<real<S>> b = random_vector<real<S>>(n, generator);
  Solver<S> solver(A, options);
  const auto expect = [&](Status status) {
    Field<real<S>> x(n);
    const Report report = solver.solve(b, x);
    EXPECT_EQ(report.status, status) << report;
    EXPECT_EQ(report.detail, why);
    EXPECT_TRUE(report.returned == Returned::last || report.residual <= 1) << report;
    EXPECT_TRUE(components_of<double>(x).allFinite());
    return report.returned;
  };
  EXPECT_NE(expect(Status::stagnated), Returned::last);
  options.max_iterations = 4;
  solver.set_options(options);
  EXPECT_EQ(expect(Status::iteration_limit), Returned::last);
  options.keep = Keep::best;
  solver.set_options(options);
  EXPECT_NE(expect(Status::iteration_limit), Returned::last);
}

TEST(ChebyshevIterationMisuse, EndsWhereTheIntervalMissesTheLargestEigenvalues) {
  const auto expect_all = [&]<class S>() {
    expect_growth<ChebyshevIteration, S>(
        {.interval = SpectralInterval{1, 30}},
        "the residual grew: eigenvalues of M^-1 A may lie outside the interval");
    for (const double omega : {0.03, -0.01}) {
      expect_growth<Richardson, S>(
          {.omega = omega}, "the residual grew: omega does not suit the eigenvalues of M^-1 A");
    }
  };
  expect_all.operator()<float>();
  expect_all.operator()<double>();
  HEDDLE_IN_LONG_DOUBLE(expect_all.operator()<long double>();)
}

TEST(ChebyshevIterationMisuse, EndsWhereNumbersAreNotFinite) {
  const Operator<E> A = diagonal_operator({1, 2, 1e308});
  Field<E> b(3), x(3);
  fill<double>(1, b.view(), Stream());
  const Report report = ChebyshevIteration(A).solve(b, x);
  EXPECT_FALSE(report.converged()) << report;
  EXPECT_TRUE(components_of<double>(x).allFinite());
  const Operator<E> B = diagonal_operator({1, 2, 3});
  b.scalars()[0] = infinity;
  EXPECT_EQ(ChebyshevIteration(B).solve(b, x).status, Status::not_finite);
}

TEST(ChebyshevIterationMisuse, TakesMatricesWithoutRows) {
  const Operator<E> A(CsrMatrix<E>(0, 0, Array<Offset>(1), Array<Index>(0), Array<double>(0)),
                      Plan{});
  Field<E> b(0), x(0);
  EXPECT_TRUE(ChebyshevIteration(A).solve(b, x).converged());
  EXPECT_TRUE(Richardson(A).solve(b, x).converged());
}

}  // namespace
}  // namespace heddle::test::chebyshev_iteration_misuse
