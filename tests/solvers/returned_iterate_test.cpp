// The x of a solve that a limit ends: the method's last one, or the best.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "heddle/bicgstab.hpp"
#include "heddle/bicgstab2.hpp"
#include "heddle/chebyshev_iteration.hpp"
#include "heddle/complex_symmetric.hpp"
#include "heddle/conjugate_gradient.hpp"
#include "heddle/conjugate_residual.hpp"
#include "heddle/gmres.hpp"
#include "heddle/jacobi.hpp"
#include "heddle/minres.hpp"
#include "heddle/solver_preconditioner.hpp"
#include "support/systems/systems.hpp"

namespace heddle::test::returned_iterate {
namespace {

using E = real<double>;

/// The five-point Laplacian of n x n points.
CsrMatrix<E> laplacian_of_square(Index n) {
  Tiles<E> tiles(n * n);
  const auto one = Eigen::MatrixXd::Ones(1, 1);
  for (Index i = 0; i < n * n; ++i) {
    tiles.at(i, i) = 4 * one;
    if (i % n > 0) tiles.at(i, i - 1) = tiles.at(i - 1, i) = -one;
    if (i >= n) tiles.at(i, i - n) = tiles.at(i - n, i) = -one;
  }
  return tiles.assemble();
}

/// A Poisson equation with a source everywhere, for which conjugate gradient's residual rises
/// first.
struct Source {
  CsrMatrix<E> matrix = laplacian_of_square(40);
  Field<E> b{matrix.rows()};
  Source() { fill<double>(1, b.view(), b.stream()); }
};

/// The iterates of the textbook (Hestenes and Stiefel 1952), in long double.
std::vector<Vector<long double>> textbook_iterates(const Source& system, int count) {
  const Eigen::SparseMatrix<long double> A = expansion<long double>(system.matrix);
  Vector<long double> r = components_of<long double>(system.b), p = r;
  Vector<long double> x = Vector<long double>::Zero(r.size());
  std::vector<Vector<long double>> all{x};
  for (int k = 0; k < count; ++k) {
    const Vector<long double> q = A * p;
    const long double squared = r.squaredNorm(), alpha = squared / p.dot(q);
    x += alpha * p;
    r -= alpha * q;
    p = (r + r.squaredNorm() / squared * p).eval();
    all.push_back(x);
  }
  return all;
}

TEST(ReturnedIterate, OfConjugateGradientIsTheTextbooks) {
  const Source system;
  const Operator<E> A(system.matrix, Plan{});
  const std::array<int, 5> steps = {1, 2, 5, 20, 40};
  const auto iterates = textbook_iterates(system, steps.back());
  for (const int k : steps) {
    SCOPED_TRACE(k);
    ConjugateGradient<double> solver(A, {.max_iterations = k});
    Field<E> x(A.rows());
    const Report report = solver.solve(system.b, x);
    const auto& expected = iterates[static_cast<std::size_t>(k)];
    EXPECT_EQ(report.status, Status::iteration_limit) << report;
    EXPECT_EQ(report.returned, Returned::last);
    EXPECT_LE((components_of<long double>(x) - expected).norm(), 1e-12L * expected.norm());
    const auto residual = static_cast<double>(true_residual(system.matrix, system.b, x));
    EXPECT_NEAR(report.residual_norm, residual, 1e-12 * report.baseline_norm);
  }
}

/// After an iteration limit, or an observer's cancellation, the residual of x is the recurrence's
/// last. With `is_of_residual`, the method's recurrence has the true residual under any
/// preconditioner.
template <template <class> class Method, class Entry>
void expect_last(const CsrMatrix<Entry>& matrix, const Field<Entry>& b, int steps,
                 bool is_of_residual = true) {
  const Operator<Entry> A(matrix, Plan{});
  for (const bool jacobi : {false, true}) {
    for (const bool cancels : {false, true}) {
      SCOPED_TRACE(std::string(jacobi ? "jacobi" : "none") + (cancels ? ", cancelled" : ""));
      SolverOptions options{.tolerance = 1e-12, .record_history = true};
      if (cancels) {
        options.observer = [steps](const SolveProgress& now) { return now.iteration < steps; };
      } else {
        options.max_iterations = steps;
      }
      Method<double> solver =
          jacobi ? Method<double>(A, Jacobi<Entry>(A), options) : Method<double>(A, options);
      Field<Entry> x(b.size());
      const Report report = solver.solve(b, x);
      ASSERT_EQ(report.status, cancels ? Status::cancelled : Status::iteration_limit) << report;
      EXPECT_EQ(report.iterations, steps);
      EXPECT_EQ(report.returned, Returned::last);
      if (is_of_residual || !jacobi) {
        EXPECT_NEAR(report.residual, solver.history().back(), 1e-9 * report.residual);
      }
      const auto residual = static_cast<double>(true_residual(matrix, b, x));
      EXPECT_NEAR(report.residual_norm, residual, 1e-9 * residual);
      options.keep = Keep::best;
      solver.set_options(options);
      Field<Entry> y(b.size());
      const Report best = solver.solve(b, y);
      EXPECT_LE(best.residual, std::min(report.residual, 1.0) * (1 + 1e-12));
      EXPECT_EQ(best.returned == Returned::guess, best.residual == 1) << best;
    }
  }
}

TEST(ReturnedIterate, IsTheLastOneOfEveryMethod) {
  const Source system;
  for (const int steps : {1, 3, 17}) {
    SCOPED_TRACE(steps);
    expect_last<ConjugateGradient>(system.matrix, system.b, steps);
    expect_last<ConjugateResidual>(system.matrix, system.b, steps);
    expect_last<Minres>(system.matrix, system.b, steps, false);
    expect_last<BiCGStab>(system.matrix, system.b, steps);
    expect_last<BiCGStab2>(system.matrix, system.b, std::min(steps, 9));
    expect_last<Gmres>(system.matrix, system.b, steps);
    expect_last<Cocg>(system.matrix, system.b, steps);
    expect_last<Cocr>(system.matrix, system.b, steps);
    expect_last<ChebyshevIteration>(system.matrix, system.b, steps);
  }
}

TEST(ReturnedIterate, IsTheSameSideBySide) {
  const Source system;
  const Operator<E> A(system.matrix, Plan{});
  for (const Keep keep : {Keep::last, Keep::best}) {
    ConjugateGradient<double> solver(A, {.max_iterations = 4, .keep = keep});
    Generator generator(8);
    std::vector<Field<E>> b{system.b, random_vector<E>(A.rows(), generator), system.b};
    std::vector<Field<E>> x(3, Field<E>(A.rows()));
    std::vector<FieldView<const double>> right;
    std::vector<FieldView<double>> left;
    for (std::size_t k = 0; k < 3; ++k) {
      right.push_back(b[k].view());
      left.push_back(x[k].view());
    }
    const auto reports = solver.solve(right, left);
    for (std::size_t k = 0; k < 3; ++k) {
      Field<E> alone(A.rows());
      const Report report = solver.solve(b[k], alone);
      EXPECT_EQ(reports[k].returned, report.returned);
      EXPECT_EQ(bits_of(x[k]), bits_of(alone));
    }
    EXPECT_EQ(reports[0].returned, keep == Keep::last ? Returned::last : Returned::guess);
  }
}

TEST(ReturnedIterate, IsTheGuessWhereNoIterationIs) {
  const Source system;
  const Operator<E> A(system.matrix, Plan{});
  Field<E> x(A.rows());
  const Report none = ConjugateGradient<double>(A, {.max_iterations = 0}).solve(system.b, x);
  EXPECT_EQ(none.returned, Returned::guess);
  const Report solved = ConjugateGradient<double>(A).solve(system.b, x);
  EXPECT_EQ(solved.returned, Returned::last) << solved;
  EXPECT_EQ(ConjugateGradient<double>(A).solve(system.b, x).returned, Returned::guess);
  Field<E> zero(A.rows());
  EXPECT_EQ(ConjugateGradient<double>(A).solve(zero, x).returned, Returned::last) << "x = 0";
}

/// The guess is so far beyond the scale of b that the squares of its residual are out of range.
TEST(ReturnedIterate, AGuessBeyondTheRangeOfSquaresGivesWayToZero) {
  Source system;
  const Operator<E> A(system.matrix, Plan{});
  for (const double size : {1e-200, 1e-250, 1.0}) {
    for (const double guess : {1.0, 1e160, 1e200}) {
      SCOPED_TRACE(std::to_string(size) + " " + std::to_string(guess));
      if (size == 1 && guess == 1) continue;
      fill<double>(size, system.b.view(), system.b.stream());
      Field<E> x(A.rows()), of_zero(A.rows());
      fill<double>(guess, x.view(), x.stream());
      const Report report = ConjugateGradient<double>(A).solve(system.b, x);
      EXPECT_TRUE(report.converged()) << report;
      ConjugateGradient<double>(A).solve(system.b, of_zero);
      EXPECT_EQ(bits_of(x), bits_of(of_zero));
    }
  }
  // A guess that is not finite remains an error.
  Field<E> x(A.rows());
  x.scalars()[7] = std::numeric_limits<double>::infinity();
  EXPECT_EQ(ConjugateGradient<double>(A).solve(system.b, x).status, Status::not_finite);
}

/// An inner solver's steps count even if its residual rises.
TEST(ReturnedIterate, OfAnInnerSolverIsNoZero) {
  const Source system;
  const Operator<E> A(system.matrix, Plan{});
  auto inner = std::make_shared<ConjugateGradient<double>>(A, SolverOptions{.max_iterations = 3});
  const SolverPreconditioner<double> steps(inner);
  Field<E> z(A.rows()), expected(A.rows());
  steps.apply(system.b, z, A.device().stream());
  inner->solve(system.b, expected);
  EXPECT_EQ(bits_of(z), bits_of(expected));
  EXPECT_GT(components_of<double>(z).norm(), 1);
}

}  // namespace
}  // namespace heddle::test::returned_iterate
