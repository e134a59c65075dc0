// The norm that a tolerance is relative to, what a solve leaves unchanged, and forms of input.
#include <gtest/gtest.h>

#include <cmath>

#include "heddle/bicgstab.hpp"
#include "heddle/conjugate_gradient.hpp"
#include "heddle/jacobi.hpp"
#include "support/systems/systems.hpp"

namespace heddle::test::stopping {
namespace {

template <class E>
struct Problem {
  CsrMatrix<E> matrix;
  Field<E> b;
  explicit Problem(Index n = 350) {
    Generator generator(11);
    matrix = random_system<E>(n, 3, 0.02, 0, generator).matrix;
    b = random_vector<E>(n, generator);
  }
};

template <template <class> class Solver>
class SolverKind {
 public:
  template <class S>
  using type = Solver<S>;
};
template <class Kind>
class Stopping : public ::testing::Test {
 public:
  template <class S>
  using Solver = typename Kind::template type<S>;
};
using Kinds = ::testing::Types<SolverKind<ConjugateGradient>, SolverKind<BiCGStab>>;
TYPED_TEST_SUITE(Stopping, Kinds);

using Q = quaternion<double>;

TYPED_TEST(Stopping, DefaultTolerances) {
  const auto run = []<class S>(S) {
    const Problem<quaternion<S>> problem;
    const Operator<quaternion<S>> A(problem.matrix, Plan{});
    typename TestFixture::template Solver<S> solver(A);
    Field<quaternion<S>> x(A.rows());
    const Report report = solver.solve(problem.b, x);
    EXPECT_TRUE(report.converged()) << report;
    const double norm = components_of<double>(problem.b).norm();
    EXPECT_TRUE(std::abs(report.baseline_norm / norm - 1) <= 1e-12);
    EXPECT_TRUE(std::abs(report.target_norm / (norm * default_tolerance<S>)-1) <= 1e-12);
    EXPECT_TRUE(report.residual <= default_tolerance<S>);
    EXPECT_TRUE(report.residual > default_tolerance<S> * 1e-3) << "solved further than asked";
  };
  run(double());
  run(float());
}

TYPED_TEST(Stopping, RelativeToTheGuessOrAbsolute) {
  const Problem<Q> problem;
  const Operator<Q> A(problem.matrix, Plan{});
  Generator generator(5);
  const Field<Q> guess = random_vector<Q>(A.rows(), generator, 1e4);
  const double norm = components_of<double>(problem.b).norm();
  const auto first = static_cast<double>(true_residual(problem.matrix, problem.b, guess));
  const auto run = [&](SolverOptions options, double target) {
    typename TestFixture::template Solver<double> solver(A, std::move(options));
    Field<Q> x = guess;
    const Report report = solver.solve(problem.b, x);
    EXPECT_TRUE(report.converged()) << report;
    EXPECT_TRUE(std::abs(report.target_norm / target - 1) <= 1e-10);
    const auto residual = static_cast<double>(true_residual(problem.matrix, problem.b, x));
    EXPECT_TRUE(residual <= target * (1 + 1e-6) && residual > target * 1e-3) << residual / target;
    return report.iterations;
  };
  const auto to_b = run({.tolerance = 1e-6}, 1e-6 * norm);
  const auto to_guess =
      run({.tolerance = 1e-6, .baseline = Baseline::initial_residual}, 1e-6 * first);
  EXPECT_LT(to_guess, to_b) << "the guess is far off";
  run({.tolerance = 0, .absolute_tolerance = 0.125}, 0.125);
  run({.tolerance = 1e-9, .absolute_tolerance = 0.125}, 0.125);
  run({.tolerance = 1e-4, .absolute_tolerance = 1e-9}, 1e-4 * norm);
}

TYPED_TEST(Stopping, AGoodGuessIsUsed) {
  const Problem<Q> problem;
  const Operator<Q> A(problem.matrix, Plan{});
  typename TestFixture::template Solver<double> solver(A);
  Field<Q> x(A.rows());
  const auto from_zero = solver.solve(problem.b, x).iterations;
  for (double& value : x.scalars()) value *= 1 + 1e-7;
  const Report report = solver.solve(problem.b, x);
  EXPECT_TRUE(report.converged()) << report;
  EXPECT_LT(report.iterations, from_zero * 2 / 3);
}

TYPED_TEST(Stopping, HistoryIsOfEveryIteration) {
  const Problem<Q> problem;
  const Operator<Q> A(problem.matrix, Plan{});
  typename TestFixture::template Solver<double> solver(A, {.record_history = true});
  for (int repetition = 0; repetition < 2; ++repetition) {
    Field<Q> x(A.rows());
    const Report report = solver.solve(problem.b, x);
    ASSERT_EQ(solver.history().size(), static_cast<std::size_t>(report.iterations) + 1);
    EXPECT_TRUE(std::abs(solver.history().front() - 1) <= 1e-14);
    EXPECT_TRUE(solver.history().back() <= 1e-10);
    EXPECT_TRUE(std::abs(solver.history().back() / report.residual - 1) <= 1e-2);
  }
  typename TestFixture::template Solver<double> silent(A);
  Field<Q> x(A.rows());
  silent.solve(problem.b, x);
  EXPECT_TRUE(silent.history().empty());
}

TYPED_TEST(Stopping, MeaninglessOptionsAreRefused) {
  const Problem<Q> problem(4);
  const Operator<Q> A(problem.matrix, Plan{});
  typename TestFixture::template Solver<double> solver(A);
  const double nan = std::nan("");
  for (const SolverOptions& options :
       {SolverOptions{.tolerance = -2}, SolverOptions{.tolerance = 1},
        SolverOptions{.tolerance = nan}, SolverOptions{.absolute_tolerance = -1},
        SolverOptions{.absolute_tolerance = nan}, SolverOptions{.max_iterations = -1},
        SolverOptions{.time_limit = -1}, SolverOptions{.time_limit = nan}}) {
    try {
      solver.set_options(options);
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
    }
  }
}

TYPED_TEST(Stopping, RightHandSidesOfAnyMagnitude) {
  const Problem<Q> problem;
  const Operator<Q> A(problem.matrix, Plan{});
  Field<Q> reference(A.rows());
  typename TestFixture::template Solver<double> solver(A);
  const auto iterations = solver.solve(problem.b, reference).iterations;
  for (int exponent = -330; exponent <= 330; exponent += 30) {
    // A power of two, which changes no digit of numbers that are not subnormal.
    const double scale = std::exp2(std::round(exponent * std::log2(10.0)));
    if (exponent < -290 || exponent > 290) continue;
    SCOPED_TRACE("1e" + std::to_string(exponent));
    Field<Q> b = problem.b, x(A.rows());
    for (double& value : b.scalars()) value *= scale;
    const Report report = solver.solve(b, x);
    EXPECT_TRUE(report.converged()) << report;
    EXPECT_EQ(report.iterations, iterations);
    EXPECT_TRUE(std::isfinite(report.residual_norm) && report.residual_norm > 0);
    EXPECT_TRUE(std::abs(report.baseline_norm / (components_of<long double>(b).norm()) - 1) <=
                1e-12L);
    for (std::size_t i = 0; i < x.scalars().size(); ++i) {
      ASSERT_EQ(x.scalars()[i], reference.scalars()[i] * scale);
    }
    // The same starting from a guess.
    for (double& value : x.scalars()) value *= 0.5;
    EXPECT_TRUE(solver.solve(b, x).converged());
    EXPECT_TRUE(true_residual(problem.matrix, b, x) <=
                1e-10L * components_of<long double>(b).stableNorm() * 1.001L);
  }
}

/// Solves with b and x in the given layouts and bases; b must remain unchanged.
template <class Solver>
std::vector<double> solve_from(Solver& solver, const Field<Q>& b, const Field<Q>& guess,
                               VectorLayout layout, std::shared_ptr<const Basis> basis) {
  const Index n = b.size();
  Field<Q> own_b(n, Device::cpu(), layout, basis), own_x(n, Device::cpu(), layout, basis);
  const Stream stream = Device::cpu().stream();
  permute<double>(b, own_b, 1, stream);
  permute<double>(guess, own_x, 1, stream);
  const auto before = bits_of(own_b);
  const Report report = solver.solve(own_b, own_x);
  EXPECT_TRUE(report.converged()) << report;
  EXPECT_EQ(bits_of(own_b), before);
  Field<Q> x(n);
  permute<double>(own_x, x, 1, stream);
  return bits_of(x);
}

TYPED_TEST(Stopping, SystemsInAnyLayoutAndBasisYieldTheSameBits) {
  const Problem<Q> problem;
  Generator generator(9);
  const Field<Q> guess = random_vector<Q>(problem.b.size(), generator);
  for (const char* plan : {"CSR", "CSR,vector=soa", "pJDS", "K1rs,vector=soa", "order=rcm,C=8"}) {
    SCOPED_TRACE(plan);
    const Operator<Q> A(problem.matrix, parse_plan(plan));
    typename TestFixture::template Solver<double> solver(A, Jacobi(A));
    const auto reference = solve_from(solver, problem.b, guess, A.vector_layout(), A.row_basis());
    for (const VectorLayout layout : {VectorLayout::aos, VectorLayout::soa}) {
      for (const auto& basis :
           {std::shared_ptr<const Basis>(), Basis::natural(A.rows()), A.row_basis()}) {
        EXPECT_EQ(solve_from(solver, problem.b, guess, layout, basis), reference);
      }
    }
    // Arbitrary strides: rows a plane apart, components in reverse memory order.
    const Index n = A.rows();
    std::vector<double> wide(static_cast<std::size_t>(n) * 7), result(wide.size());
    FieldView<double> b(wide.data(), n, 4), x(result.data(), n, 4);
    b.entry_stride = x.entry_stride = 7;
    const Stream stream = Device::cpu().stream();
    permute<double>(problem.b, b, 1, stream);
    permute<double>(guess, x, 1, stream);
    EXPECT_TRUE(solver.solve(b, x).converged());
    Field<Q> packed(n);
    permute<double>(x, packed, 1, stream);
    EXPECT_EQ(bits_of(packed), reference);
  }
}

TYPED_TEST(Stopping, FieldsThatDoNotFitAreRefused) {
  const Problem<Q> problem(30);
  const Operator<Q> A(problem.matrix, Plan{});
  typename TestFixture::template Solver<double> solver(A);
  Field<Q> good(30), long_one(31);
  Field<complex<double>> narrow(30);
  const auto refused = [&](const FieldView<const double>& b, const FieldView<double>& x) {
    try {
      solver.solve(b, x);
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::size_mismatch);
    }
  };
  refused(long_one, good);
  refused(good, long_one);
  refused(narrow, good);
  refused(good, narrow);
}

TYPED_TEST(Stopping, ASecondSolveYieldsTheSameBits) {
  const Problem<Q> problem;
  for (const char* plan : {"CSR", "pJDS"}) {
    const Operator<Q> A(problem.matrix, parse_plan(plan));
    typename TestFixture::template Solver<double> solver(A, Jacobi(A));
    Field<Q> x(A.rows()), y(A.rows()), other(A.rows());
    const auto iterations = solver.solve(problem.b, x).iterations;
    Generator generator(1);
    solver.solve(random_vector<Q>(A.rows(), generator, 1e-250), other);
    EXPECT_EQ(solver.solve(problem.b, y).iterations, iterations);
    EXPECT_EQ(bits_of(x), bits_of(y));
  }
}

}  // namespace
}  // namespace heddle::test::stopping
