// Spin transformations of generated surfaces, checked against their required properties.
#include "spin_transformation.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "curvature_change.hpp"
#include "heddle/conjugate_gradient.hpp"
#include "heddle/expansion.hpp"
#include "heddle/jacobi.hpp"
#include "heddle/tools/points.hpp"
#include "surface_mesh.hpp"
#include "surface_size.hpp"

namespace heddle::spin {
namespace {

using namespace points;

SpinOptions careful() {
  SpinOptions options;
  options.iteration.angle = 1e-7;
  options.iteration.max_steps = 200;
  options.solver.tolerance = 1e-11;
  return options;
}

TriangleMesh moved_to(const TriangleMesh& mesh, const std::vector<Point>& position) {
  return {Array<Point>(std::span<const Point>(position)), mesh.triangle};
}

TEST(SpinTransformation, ZeroChangeIsTheSurfaceItself) {
  const TriangleMesh mesh = random_surface(642);
  const std::vector<double> rho(mesh.triangle.size());
  const SpinTransformation spin = spin_transform(mesh, rho, careful());
  ASSERT_TRUE(spin.converged());
  for (std::size_t v = 0; v < spin.position.size(); ++v) {
    EXPECT_LT(length(spin.position[v] - mesh.position[v]), 1e-8) << v;
  }
  EXPECT_NEAR(spin.iteration.steps.back().eigenvalue, 0, 1e-10);
}

TEST(SpinTransformation, AreaAndCentreStay) {
  const TriangleMesh mesh = random_surface(642);
  const auto rho = named_curvature_change("waves", 2, mesh);
  const SpinTransformation spin = spin_transform(mesh, rho, careful());
  ASSERT_TRUE(spin.converged());
  const SurfaceSize before = surface_size(mesh);
  const SurfaceSize after = surface_size(moved_to(mesh, spin.position));
  EXPECT_NEAR(after.area, before.area, 1e-10 * before.area);
  EXPECT_LT(length(after.centre - before.centre), 1e-10);
}

/// A surface of another size and place is transformed in the same way.
TEST(SpinTransformation, SizeDoesNotMatter) {
  const TriangleMesh mesh = random_surface(300);
  TriangleMesh larger = mesh;
  constexpr double factor = 250;
  const Point shift = {-3, 40, 1000};
  for (Point& p : larger.position) p = shift + factor * p;
  const SpinTransformation spin =
      spin_transform(mesh, named_curvature_change("bump", 3, mesh), careful());
  const SpinTransformation other =
      spin_transform(larger, named_curvature_change("bump", 3, larger), careful());
  ASSERT_TRUE(spin.converged() && other.converged());
  for (std::size_t v = 0; v < spin.position.size(); ++v) {
    EXPECT_LT(length((1 / factor) * (other.position[v] - shift) - spin.position[v]), 1e-5) << v;
  }
}

/// The deviation from the requested curvature, and the change of angles, go to zero with the
/// triangles' size.
TEST(SpinTransformation, ConvergesUnderRefinement) {
  std::vector<double> missed, distorted;
  for (const Index size : {642, 2562, 10242}) {
    const TriangleMesh mesh = random_surface(size);
    const auto rho = named_curvature_change("waves", 1.5, mesh);
    const SpinTransformation spin = spin_transform(mesh, rho);
    ASSERT_TRUE(spin.converged());
    const TriangleMesh after = moved_to(mesh, spin.position);
    missed.push_back(curvature_error(mesh, after, mesh::VertexCorners(mesh), spin.lambda,
                                     spin.scale, rho, dirac_eigenvalue(mesh, rho, spin.lambda)));
    const Distribution d = distribution(quasi_conformal_distortion(mesh, after), mesh);
    distorted.push_back(d.mean - 1);
    EXPECT_GE(d.least, 1);
    EXPECT_LE(d.median, d.max_of_95_percent);
  }
  EXPECT_LT(missed[1], 0.6 * missed[0]);
  EXPECT_LT(missed[2], 0.6 * missed[1]);
  EXPECT_LT(missed[2], 0.02);
  EXPECT_LT(distorted[1], 0.7 * distorted[0]);
  EXPECT_LT(distorted[2], 0.7 * distorted[1]);
  EXPECT_LT(distorted[2], 0.02);
}

/// The eigenvalue found by inverse iteration is the square of that of D - rho, except for the
/// amount by which D - rho, which maps vertices to triangles, is not self-adjoint.
TEST(SpinTransformation, EigenvaluesAgreeUnderRefinement) {
  std::vector<double> difference;
  for (const Index size : {642, 2562, 10242}) {
    const TriangleMesh mesh = random_surface(size);
    const auto rho = named_curvature_change("bump", 3, mesh);
    const SpinTransformation spin = spin_transform(mesh, rho);
    ASSERT_TRUE(spin.converged());
    const double squared = std::pow(dirac_eigenvalue(mesh, rho, spin.lambda), 2);
    EXPECT_GT(squared, 0.05);
    difference.push_back(std::abs(squared / spin.iteration.steps.back().eigenvalue - 1));
  }
  EXPECT_LT(difference[1], 0.5 * difference[0]);
  EXPECT_LT(difference[2], 0.5 * difference[1]);
}

TEST(SpinTransformation, ShiftChangesNoSurface) {
  const TriangleMesh mesh = random_surface(300);
  const auto rho = named_curvature_change("x", 2, mesh);
  SpinOptions options = careful();
  const SpinTransformation spin = spin_transform(mesh, rho, options);
  options.shift = 0.1;
  options.device = Device::cpu(1);
  const SpinTransformation other = spin_transform(mesh, rho, options);
  ASSERT_TRUE(spin.converged() && other.converged());
  for (std::size_t v = 0; v < spin.position.size(); ++v) {
    EXPECT_LT(length(other.position[v] - spin.position[v]), 1e-5) << v;
  }
}

TEST(SpinTransformation, LobpcgFindsTheSameSurface) {
  for (const char* function : {"waves", "bump"}) {
    const TriangleMesh mesh = random_surface(642);
    const auto rho = named_curvature_change(function, 3, mesh);
    SpinOptions options = careful();
    const SpinTransformation expected = spin_transform(mesh, rho, options);
    options.eigensolver = Eigensolver::lobpcg;
    const SpinTransformation spin = spin_transform(mesh, rho, options);
    ASSERT_TRUE(expected.converged() && spin.converged());
    EXPECT_EQ(spin.method, Eigensolver::lobpcg);
    ASSERT_EQ(spin.iteration.steps.size(), 1U);
    const EigenvectorStep& step = spin.iteration.steps[0];
    EXPECT_LE(step.angle, options.iteration.angle);
    EXPECT_GT(step.products, step.solve.iterations);
    EXPECT_NEAR(step.eigenvalue, expected.iteration.steps.back().eigenvalue, 1e-8);
    for (std::size_t v = 0; v < spin.position.size(); ++v) {
      ASSERT_LT(length(spin.position[v] - expected.position[v]), 1e-5) << function << " " << v;
    }
  }
}

TEST(SpinTransformation, MultigridFindsTheSameSurface) {
  for (const char* function : {"waves", "bump"}) {
    const TriangleMesh mesh = random_surface(642);
    const auto rho = named_curvature_change(function, 3, mesh);
    SpinOptions options = careful();
    const SpinTransformation expected = spin_transform(mesh, rho, options);
    EXPECT_FALSE(expected.dirac_hierarchy || expected.poisson_hierarchy);
    options.multigrid = true;
    for (const Eigensolver eigensolver : {Eigensolver::inverse_iteration, Eigensolver::lobpcg}) {
      options.eigensolver = eigensolver;
      const bool is_first = eigensolver == Eigensolver::inverse_iteration;
      options.level_precision = is_first ? StoredScalar::single : StoredScalar::own;
      const SpinTransformation spin = spin_transform(mesh, rho, options);
      ASSERT_TRUE(expected.converged() && spin.converged());
      ASSERT_TRUE(spin.dirac_hierarchy && spin.poisson_hierarchy);
      EXPECT_GE(spin.dirac_hierarchy->levels.size(), 2U);
      EXPECT_LT(static_cast<double>(spin.iteration.iterations()),
                0.3 * static_cast<double>(expected.iteration.iterations()));
      for (std::size_t v = 0; v < spin.position.size(); ++v) {
        ASSERT_LT(length(spin.position[v] - expected.position[v]), 1e-5) << function << " " << v;
      }
    }
  }
}

TEST(SpinTransformation, EarlierSolutionsSaveIterations) {
  const TriangleMesh mesh = random_surface(642);
  const auto rho = named_curvature_change("bump", 3, mesh);
  SpinOptions options = careful();
  const SpinTransformation guessed = spin_transform(mesh, rho, options);
  options.iteration.earlier_solutions = 0;
  const SpinTransformation alone = spin_transform(mesh, rho, options);
  ASSERT_TRUE(guessed.converged() && alone.converged());
  EXPECT_GT(guessed.iteration.guesses.count, 2);
  EXPECT_EQ(alone.iteration.guesses.count, 0);
  EXPECT_LT(guessed.iteration.products(), 0.8 * double(alone.iteration.products()));
  for (std::size_t v = 0; v < alone.position.size(); ++v) {
    ASSERT_LT(length(guessed.position[v] - alone.position[v]), 1e-5) << v;
  }
}

TEST(SpinTransformation, WarmStartsSaveIterations) {
  const TriangleMesh mesh = random_surface(642);
  const auto rho = named_curvature_change("waves", 3, mesh);
  SpinOptions options;
  options.iteration.angle = 1e-6;
  const SpinTransformation warm = spin_transform(mesh, rho, options);
  options.iteration.warm_start = false;
  const SpinTransformation cold = spin_transform(mesh, rho, options);
  ASSERT_TRUE(warm.converged() && cold.converged());
  const auto last = [](const SpinTransformation& spin) {
    return spin.iteration.steps.back().solve.iterations;
  };
  EXPECT_LT(static_cast<double>(last(warm)), 0.8 * static_cast<double>(last(cold)));
}

/// A solve ends when more accuracy no longer helps the eigenvector: same surface, as many steps.
TEST(SpinTransformation, SolvesGoNoFurtherThanInverseIterationCanUse) {
  const TriangleMesh mesh = random_surface(642);
  const auto rho = named_curvature_change("waves", 3, mesh);
  SpinOptions options;
  const SpinTransformation spin = spin_transform(mesh, rho, options);
  options.iteration.warm_start = false;
  const SpinTransformation exact = spin_transform(mesh, rho, options);
  ASSERT_TRUE(spin.converged() && exact.converged());
  EXPECT_LE(spin.iteration.steps.size(), exact.iteration.steps.size() + 1);
  const auto all = [](const SpinTransformation& of) {
    long long sum = 0;
    for (const EigenvectorStep& step : of.iteration.steps) sum += step.solve.iterations;
    return sum;
  };
  EXPECT_LT(static_cast<double>(all(spin)), 0.7 * static_cast<double>(all(exact)));
  EXPECT_GT(spin.iteration.steps[0].solve.residual, 10 * options.solver.tolerance);
  for (std::size_t v = 0; v < spin.position.size(); ++v) {
    EXPECT_LT(length(spin.position[v] - exact.position[v]), 1e-3) << v;
  }
}

TEST(SpinTransformation, WhatDoesNotConvergeIsReported) {
  const TriangleMesh mesh = random_surface(300);
  const auto rho = named_curvature_change("waves", 3, mesh);
  SpinOptions options;
  options.solver.max_iterations = 3;
  const SpinTransformation spin = spin_transform(mesh, rho, options);
  EXPECT_FALSE(spin.converged());
  ASSERT_EQ(spin.iteration.steps.size(), 1U);
  EXPECT_EQ(spin.iteration.steps[0].solve.status, Status::iteration_limit);
  EXPECT_TRUE(std::isnan(spin.iteration.steps[0].angle));
  EXPECT_EQ(spin.position[5], mesh.position[5]);

  options = {};
  options.iteration.max_steps = 1;
  EXPECT_FALSE(spin_transform(mesh, rho, options).iteration.converged);
}

TEST(DiracMatrix, IsHermitianBitByBit) {
  const TriangleMesh mesh = random_surface(642);
  const auto matrix = dirac(mesh, named_curvature_change("bump", 5, mesh), 0);
  const auto find = [&](Index row, Index column) {
    for (Offset i = matrix.offsets()[row]; i < matrix.offsets()[row + 1]; ++i) {
      if (matrix.column()[i] == column) return matrix.entry(i);
    }
    ADD_FAILURE() << row << ", " << column;
    return Quaternion::zero();
  };
  for (Index row = 0; row < matrix.rows(); ++row) {
    for (Offset i = matrix.offsets()[row]; i < matrix.offsets()[row + 1]; ++i) {
      const Quaternion a = matrix.entry(i), b = adjoint(find(matrix.column()[i], row));
      for (int k = 0; k < 4; ++k) EXPECT_EQ(a.component[k], b.component[k]);
    }
  }
}

/// An iteration on quaternions equals one on their real expansion.
TEST(DiracMatrix, SolvesAsItsRealExpansion) {
  const TriangleMesh mesh = random_surface(642);
  const auto matrix = dirac(mesh, named_curvature_change("bump", 5, mesh), 0.1);
  const auto numbers = expand(matrix);
  const SolverOptions options{.tolerance = 1e-10};
  const Operator<Quaternion> A(matrix, Plan{});
  const Operator<real<double>> B(numbers, Plan{});
  ConjugateGradient<double> of_quaternions(A, Jacobi<Quaternion>(A), options);
  ConjugateGradient<double> of_numbers(B, Jacobi<real<double>>(B), options);
  Field<Quaternion> b(matrix.rows()), x(matrix.rows());
  Field<real<double>> c(numbers.rows()), y(numbers.rows());
  for (Index i = 0; i < matrix.rows(); ++i) {
    const double t = 0.37 * i;
    b.set(i, {{std::cos(t), std::sin(2 * t), std::cos(3 * t), std::sin(5 * t)}});
    for (int k = 0; k < 4; ++k) c.set(4 * i + k, {{b[i].component[k]}});
  }
  const Report one = of_quaternions.solve(b, x), other = of_numbers.solve(c, y);
  ASSERT_TRUE(one.converged() && other.converged());
  EXPECT_NEAR(static_cast<double>(one.iterations), static_cast<double>(other.iterations), 2);
  double difference = 0, size = 0;
  for (Index i = 0; i < matrix.rows(); ++i) {
    for (int k = 0; k < 4; ++k) {
      difference += std::pow(x[i].component[k] - y[4 * i + k].component[0], 2);
      size += std::pow(y[4 * i + k].component[0], 2);
    }
  }
  EXPECT_LT(std::sqrt(difference / size), 1e-7);
}

TEST(DiracMatrix, RefusesWhatIsNoPotential) {
  const TriangleMesh mesh = random_surface(300);
  std::vector<double> rho(mesh.triangle.size());
  rho[7] = NAN;
  EXPECT_THROW(dirac(mesh, rho, 0), Error);
  rho.pop_back();
  EXPECT_THROW(dirac(mesh, rho, 0), Error);
}

TEST(CotangentMatrix, OfASphereHasItsCurvature) {
  TriangleMesh mesh = random_surface(2562);
  for (Point& p : mesh.position) p = (2 / length(p)) * p;
  const mesh::VertexCorners corners(mesh);
  // On average only: a third of the triangles is not quite the area of a vertex of degree 5.
  double squares = 0;
  for (const double curvature : mean_curvature(mesh, corners))
    squares += std::pow(curvature - 0.5, 2);
  EXPECT_LT(std::sqrt(squares / static_cast<double>(mesh.position.size())), 0.01);
  const auto matrix = cotangent_matrix(mesh, corners);
  for (Index row = 0; row < matrix.rows(); ++row) {
    double sum = 0;
    for (Offset i = matrix.offsets()[row]; i < matrix.offsets()[row + 1]; ++i) {
      sum += matrix.entry(i).component[0];
    }
    EXPECT_NEAR(sum, 0, 1e-12);
  }
}

/// Covers angles far below the resolution of 1 - cos^2.
TEST(SpinTransformation, AnglesKeepTheirDigits) {
  const TriangleMesh mesh = random_surface(162);
  SpinOptions options = careful();
  options.iteration.angle = 1e-10;
  const SpinTransformation spin =
      spin_transform(mesh, named_curvature_change("x", 1, mesh), options);
  ASSERT_TRUE(spin.iteration.converged);
  bool is_seen = false;
  for (const EigenvectorStep& step : spin.iteration.steps) {
    is_seen = is_seen || (step.angle > 1e-10 && step.angle < 1e-8);
  }
  EXPECT_TRUE(is_seen);
}

TEST(QuasiConformalDistortion, IsInfiniteWhereNothingIsLeft) {
  const TriangleMesh mesh = random_surface(42);
  TriangleMesh after = mesh;
  for (Point& p : after.position) p = {0, 0, 0};
  EXPECT_TRUE(std::isinf(quasi_conformal_distortion(mesh, after)[0]));
}

/// Uses a map that stretches one axis by 1.5.
TEST(QuasiConformalDistortion, IsTheRatioOfStretches) {
  TriangleMesh mesh;
  mesh.position = Array<Point>(std::vector<Point>{{0, 0, 0}, {1, 0, 0}, {0.3, 0.8, 0}});
  mesh.triangle = Array<std::array<Index, 3>>(std::vector<std::array<Index, 3>>{{0, 1, 2}});
  TriangleMesh after = mesh;
  for (Point& p : after.position) p = {0, 3 * p[0], 2 * p[1]};
  EXPECT_NEAR(quasi_conformal_distortion(mesh, after)[0], 1.5, 1e-14);
  EXPECT_NEAR(quasi_conformal_distortion(mesh, mesh)[0], 1, 1e-15);
}

}  // namespace
}  // namespace heddle::spin
