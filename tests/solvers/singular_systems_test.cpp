// Runs in the release.
// Singular systems, consistent and not, with every method: none reports "converged" falsely, each
// reports the residual of the x that it returns, and none returns a NaN.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <complex>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "heddle/bicgstab.hpp"
#include "heddle/bicgstab2.hpp"
#include "heddle/complex_symmetric.hpp"
#include "heddle/conjugate_gradient.hpp"
#include "heddle/conjugate_residual.hpp"
#include "heddle/fgmres.hpp"
#include "heddle/gmres.hpp"
#include "heddle/jacobi.hpp"
#include "heddle/lsmr.hpp"
#include "heddle/minres.hpp"
#include "heddle/multigrid.hpp"
#include "support/systems/dense_factors.hpp"
#include "support/systems/least_squares.hpp"
#include "support/systems/systems.hpp"

namespace heddle::test::singular_systems {
namespace {

constexpr double tolerance = 1e-8;

/// A b that A x can reach, and one that it cannot.
template <class E>
struct SingularSystem {
  CsrMatrix<E> matrix;
  Field<E> consistent, inconsistent;
};

/// `share` is the amount of A*'s null vector added in the second b.
template <class E>
SingularSystem<E> system_of(CsrMatrix<E> matrix, const Field<E>& null_vector, double share,
                            Generator& generator) {
  const auto b = image_of(matrix, random_vector<E>(matrix.rows(), generator));
  Field<E> other(b);
  for (std::size_t i = 0; i < other.scalars().size(); ++i) {
    other.scalars()[i] += share * null_vector.scalars()[i];
  }
  return {std::move(matrix), b, std::move(other)};
}

template <class E>
SingularSystem<E> hermitian_system(Index n, double share, Generator& generator) {
  auto [matrix, null_vector] = random_laplacian<E>(n, 2, generator);
  return system_of<E>(std::move(matrix), null_vector, share, generator);
}

/// L + L K L with a skew K: both it and its transpose map the Laplacian's null space to 0.
SingularSystem<real<double>> general_system(Index n, double share, Generator& generator) {
  const auto [matrix, null_vector] = random_laplacian<real<double>>(n, 2, generator);
  const Eigen::MatrixXd L = expansion<double>(matrix), G = random_dense(n, generator);
  return system_of<real<double>>(from_dense(L + 0.1 / n * L * (G - G.transpose()) * L), null_vector,
                                 share, generator);
}

/// D L D with phases D on the diagonal: complex symmetric. D^-1 v and its conjugate D v are the
/// null vectors of the matrix and of its adjoint.
SingularSystem<complex<double>> complex_symmetric_system(Index n, double share,
                                                         Generator& generator) {
  const auto [real_matrix, null_vector] = random_laplacian<real<double>>(n, 2, generator);
  const Eigen::MatrixXd L = expansion<double>(real_matrix);
  Tiles<complex<double>> tiles(n);
  Field<complex<double>> v(n);
  std::vector<std::complex<double>> phase;
  for (Index i = 0; i < n; ++i) phase.push_back(std::polar(1.0, uniform(generator, 0, 0.7)));
  for (Index i = 0; i < n; ++i) {
    const auto left = phase[static_cast<std::size_t>(i)];
    const auto of_adjoint = left * null_vector.view().at(i, 0);
    v.set(i, {{of_adjoint.real(), of_adjoint.imag()}});
    for (Index j = 0; j < n; ++j) {
      if (L(i, j) == 0) continue;
      const auto value = left * L(i, j) * phase[static_cast<std::size_t>(j)];
      tiles.at(i, j) << value.real(), -value.imag(), value.imag(), value.real();
    }
  }
  return system_of<complex<double>>(tiles.assemble(), v, share, generator);
}

template <class E>
void expect_honest(const CsrMatrix<E>& matrix, const Field<E>& b, const Field<E>& x,
                   const Report& report) {
  const double size = components_of<double>(b).norm();
  EXPECT_TRUE(components_of<double>(x).allFinite()) << report;
  EXPECT_TRUE(std::isfinite(report.residual_norm)) << report;
  const auto residual = static_cast<double>(true_residual(matrix, b, x));
  const double rounding =
      64 * std::numeric_limits<double>::epsilon() *
      (expansion<double>(matrix).norm() * components_of<double>(x).norm() + size);
  EXPECT_TRUE(std::abs(report.residual_norm - residual) <= rounding) << report << residual;
  EXPECT_TRUE(residual <= size * (1 + 1e-12) + rounding) << report << residual;
  if (report.converged()) {
    EXPECT_TRUE(residual <= tolerance * size + rounding) << report;
  }
}

/// These matrices are singular except for the rounding of their entries. Once x has grown until b -
/// A x is only rounding, no residual distinguishes such a system from one whose condition number
/// exceeds all digits. Zero must not be nearly as good.
void expect_unsolved(const Report& report) {
  EXPECT_FALSE(report.converged()) << report;
  EXPECT_NE(report.status, Status::not_finite) << report;
  if (report.status == Status::accuracy_limit) {
    // The largest backward error that `detail::AccuracyLimit` takes for rounding.
    constexpr double most = 64 * std::numeric_limits<double>::epsilon();
    EXPECT_LE(report.backward_error, most * (1 + 1e-12)) << report;
    EXPECT_LE(report.residual, 0.1) << report;
  }
}

template <template <class> class Method, class E>
void expect_ends(const SingularSystem<E>& system) {
  const Operator<E> A(system.matrix, Plan{});
  const SolverOptions options{.tolerance = tolerance, .max_iterations = 1500, .keep = Keep::best};
  for (const bool jacobi : {false, true}) {
    const auto solve = [&](const Field<E>& b) {
      Field<E> x(b.size());
      Method<double> solver =
          jacobi ? Method<double>(A, Jacobi<E>(A), options) : Method<double>(A, options);
      const Report report = solver.solve(b, x);
      expect_honest(system.matrix, b, x, report);
      return report;
    };
    SCOPED_TRACE(jacobi ? "jacobi" : "none");
    const Report solved = solve(system.consistent);
    EXPECT_TRUE(solved.converged()) << solved;
    const Report other = solve(system.inconsistent);
    expect_unsolved(other);
  }
}

/// Small and large systems, with a large and with a small unreachable part.
template <class F>
void for_each_system(F&& expect) {
  for (unsigned seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Generator generator(seed);
    expect(static_cast<Index>(2 + 9 * (seed - 1)), seed % 3 == 0 ? 1e-3 : 1.0, generator);
  }
}

template <template <class> class Method>
void expect_hermitian_systems_end() {
  for_each_system([](Index n, double share, Generator& generator) {
    expect_ends<Method>(hermitian_system<real<double>>(n, share, generator));
    expect_ends<Method>(hermitian_system<complex<double>>(n, share, generator));
    expect_ends<Method>(hermitian_system<quaternion<double>>(n, share, generator));
  });
}
template <template <class> class Method>
void expect_general_systems_end() {
  for_each_system([](Index n, double share, Generator& generator) {
    expect_ends<Method>(general_system(n, share, generator));
  });
}
template <template <class> class Method>
void expect_complex_symmetric_systems_end() {
  for_each_system([](Index n, double share, Generator& generator) {
    expect_ends<Method>(complex_symmetric_system(n, share, generator));
  });
}

TEST(SingularSystems, ByConjugateGradient) { expect_hermitian_systems_end<ConjugateGradient>(); }
TEST(SingularSystems, ByConjugateResidual) { expect_hermitian_systems_end<ConjugateResidual>(); }
TEST(SingularSystems, ByMinres) { expect_hermitian_systems_end<Minres>(); }
TEST(SingularSystems, ByBiCGStab) {
  expect_hermitian_systems_end<BiCGStab>();
  expect_general_systems_end<BiCGStab>();
}
TEST(SingularSystems, ByBiCGStab2) {
  expect_hermitian_systems_end<BiCGStab2>();
  expect_general_systems_end<BiCGStab2>();
}
TEST(SingularSystems, ByGmres) {
  expect_hermitian_systems_end<Gmres>();
  expect_general_systems_end<Gmres>();
}
TEST(SingularSystems, ByFgmres) {
  expect_hermitian_systems_end<Fgmres>();
  expect_general_systems_end<Fgmres>();
}
TEST(SingularSystems, ByCocg) { expect_complex_symmetric_systems_end<Cocg>(); }
TEST(SingularSystems, ByCocr) { expect_complex_symmetric_systems_end<Cocr>(); }

/// An integer Laplacian, which is singular to the last digit, and a b that is out of its reach by
/// `share`.
SingularSystem<real<double>> closed_square(Index n, double share, Generator& generator) {
  Tiles<real<double>> tiles(n * n);
  const auto one = Eigen::MatrixXd::Ones(1, 1);
  const auto join = [&](Index i, Index j) {
    tiles.at(i, i) += one;
    tiles.at(j, j) += one;
    tiles.at(i, j) = tiles.at(j, i) = -one;
  };
  for (Index i = 0; i < n * n; ++i) {
    if (i % n > 0) join(i, i - 1);
    if (i >= n) join(i, i - n);
  }
  Field<real<double>> ones(n * n);
  fill<double>(1.0 / static_cast<double>(n), ones.view(), ones.stream());
  return system_of<real<double>>(tiles.assemble(), ones, share, generator);
}

/// No method reports that x is as good as possible: it ends with an x whose residual is near the
/// unreachable part of b, and which has not grown so far that rounding shows in that residual, or
/// reports that x grew.
template <template <class> class Method>
void expect_no_solution() {
  Generator generator(21);
  for (const double share : {1e-2, 1.0}) {
    const auto system = closed_square(12, share, generator);
    const double out_of_reach = share / components_of<double>(system.inconsistent).norm();
    const Operator<real<double>> A(system.matrix, Plan{});
    for (const int kind : {0, 1, 2}) {
      SCOPED_TRACE(std::to_string(share) + ", preconditioner " + std::to_string(kind));
      const SolverOptions options{.max_iterations = 3000};
      Method<double> solver = kind == 0   ? Method<double>(A, options)
                              : kind == 1 ? Method<double>(A, Jacobi(A), options)
                                          : Method<double>(A, Multigrid(A), options);
      Field<real<double>> x(A.rows());
      const Report report = solver.solve(system.inconsistent, x);
      EXPECT_FALSE(report.solved()) << report;
      const bool is_limit = report.status == Status::iteration_limit;
      const bool is_reported = report.detail.find("singular") != std::string_view::npos;
      if (report.returned == Returned::best) {
        EXPECT_LE(report.residual, 12 * out_of_reach + 0.1) << report;
        const double rounding = 8 * std::numeric_limits<double>::epsilon() *  // |A| <= 8
                                components_of<double>(x).norm();
        const double residual = report.residual * components_of<double>(system.inconsistent).norm();
        EXPECT_TRUE(is_limit || rounding <= 1e-6 * residual) << report;
      } else if (report.returned == Returned::last) {
        EXPECT_TRUE(is_limit || is_reported || report.residual <= 2 * out_of_reach) << report;
      }
    }
  }
}
TEST(SingularSystems, HaveNoSolutionWhereXGrows) {
  expect_no_solution<ConjugateGradient>();
  expect_no_solution<ConjugateResidual>();
  expect_no_solution<Minres>();
  expect_no_solution<BiCGStab>();
  expect_no_solution<BiCGStab2>();
  expect_no_solution<Gmres>();
  expect_no_solution<Cocg>();
  expect_no_solution<Cocr>();
}

/// LSMR solves both in the least-squares sense: A* r vanishes.
template <class E>
void expect_least_squares(const SingularSystem<E>& system) {
  const Operator<E> A(system.matrix, Plan{});
  const RealMatrix dense = expansion<double>(system.matrix);
  for (const Field<E>* const b : {&system.consistent, &system.inconsistent}) {
    Field<E> x(b->size());
    const auto report = Lsmr(A, {.tolerance = 1e-10}).solve(*b, x);
    EXPECT_TRUE(report.converged()) << name(report.status);
    const RealVector right = components_of<double>(*b), solution = components_of<double>(x);
    expect_true_report<double>(report, dense, right, solution, 0);
    const RealVector expected = least_squares(dense, right);
    const RealVector values = singular_values_of(dense);
    const double condition = values(0) / values(values.size() - vector_entry_t<E>::components - 1);
    EXPECT_LE((solution - expected).norm(),
              1e-9 * condition * condition * (expected.norm() + right.norm()));
  }
}
TEST(SingularSystems, ByLsmr) {
  for_each_system([](Index size, double share, Generator& generator) {
    const Index n = 2 + size / 4;  // dense references take long
    expect_least_squares(hermitian_system<quaternion<double>>(n, share, generator));
    expect_least_squares(general_system(n, share, generator));
    expect_least_squares(complex_symmetric_system(n, share, generator));
  });
}

/// A = 0: no direction leads anywhere.
template <template <class> class Method>
void expect_zero_matrix_ends() {
  using E = complex<double>;
  Generator generator(5);
  Tiles<E> tiles(3);
  for (Index i = 0; i < 3; ++i) tiles.at(i, i).setZero();
  const auto matrix = tiles.assemble();
  const Operator<E> A(matrix, Plan{});
  const auto b = random_vector<E>(3, generator);
  Field<E> x(3), zero(3);
  const Report report = Method<double>(A, {.tolerance = tolerance}).solve(b, x);
  expect_honest(matrix, b, x, report);
  expect_unsolved(report);
  EXPECT_TRUE(Method<double>(A, {.tolerance = tolerance}).solve(zero, x).converged());
}
TEST(SingularSystems, OfZeros) {
  expect_zero_matrix_ends<ConjugateGradient>();
  expect_zero_matrix_ends<ConjugateResidual>();
  expect_zero_matrix_ends<Minres>();
  expect_zero_matrix_ends<BiCGStab>();
  expect_zero_matrix_ends<BiCGStab2>();
  expect_zero_matrix_ends<Gmres>();
  expect_zero_matrix_ends<Fgmres>();
  expect_zero_matrix_ends<Cocg>();
  expect_zero_matrix_ends<Cocr>();
}

}  // namespace
}  // namespace heddle::test::singular_systems
