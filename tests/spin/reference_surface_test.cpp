// Comparison with the original program (Crane's SpinXForm) on its own example, if available.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "curvature_change.hpp"
#include "edge_integration.hpp"
#include "heddle/conjugate_gradient.hpp"
#include "heddle/jacobi.hpp"
#include "heddle/tools/points.hpp"
#include "similarity.hpp"
#include "spin_transformation.hpp"
#include "support/test_data.hpp"
#include "surface_mesh.hpp"

namespace heddle::spin {
namespace {

using namespace points;

const std::string folder = test::test_data("spin/");

class ReferenceSurface : public testing::Test {
 protected:
  void SetUp() override {
    const std::string name = "spin/sphere.obj.gz";
    if (!test::has_test_data(name)) GTEST_SKIP() << test::no_test_data(name);
    mesh_ = mesh::read_surface_mesh(folder + "sphere.obj.gz");
    reference_ = mesh::read_surface_mesh(folder + "reference_solution_sphere.obj.gz");
    rho_ = curvature_change_from_image(folder + "bumpy.tga.gz", 5, mesh_);
  }

  /// Largest distance to the reference over its radius, after moving, rotating and scaling onto it.
  double distance(const std::vector<Point>& position) const {
    const auto& wanted = reference_.triangles.position;
    const std::vector<Point> fitted = fit_by_similarity(position, {wanted.begin(), wanted.end()});
    double most = 0, radius = 0;
    for (std::size_t v = 0; v < fitted.size(); ++v) {
      most = std::max(most, length(fitted[v] - wanted[v]));
      radius = std::max(radius, length(wanted[v]));
    }
    return most / radius;
  }

  mesh::SurfaceMesh mesh_, reference_;
  std::vector<double> rho_;
};

double largest_component(const Field<Quaternion>& x) {
  double most = 0;
  for (const double value : x.scalars()) most = std::max(most, std::abs(value));
  return most;
}

/// max |b - A x| over max |b| after `iterations` iterations from zero; x is left in `x`.
double residual_after(const Operator<Quaternion>& A, const Field<Quaternion>& b,
                      long long iterations, Field<Quaternion>& x) {
  ConjugateGradient<double> solver(A, Jacobi<Quaternion>(A),
                                   {.tolerance = 1e-15, .max_iterations = iterations});
  x = Field<Quaternion>(A.rows());
  solver.solve(b, x);
  Field<Quaternion> r = b;
  A.apply(-1, FieldView<const double>(x.view()), 1, r.view(), A.device().stream());
  return largest_component(r) / largest_component(b);
}

/// The first iteration after which no component of the residual exceeds 1e-7 of the largest
/// component of b: the original program's rule.
long long iterations_by_its_rule(const Operator<Quaternion>& A, const Field<Quaternion>& b,
                                 Field<Quaternion>& x) {
  constexpr double enough = 1e-7;
  long long low = 1, high = 600;
  while (low < high) {
    const long long middle = (low + high) / 2;
    if (residual_after(A, b, middle, x) <= enough) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  // The residual is not monotonic: the first such iteration is slightly earlier.
  for (long long earlier = std::max(1LL, low - 12); earlier < low; ++earlier) {
    if (residual_after(A, b, earlier, x) <= enough) return earlier;
  }
  residual_after(A, b, low, x);
  return low;
}

void normalize(Field<Quaternion>& x) {
  double sum = 0;
  for (const double value : x.scalars()) sum += value * value;
  for (double& value : x.scalars()) value /= std::sqrt(sum);
}

/// Three steps of inverse iteration on the unshifted matrix without a mass, as in the original.
TEST_F(ReferenceSurface, TakesItsIterations) {
  const Operator<Quaternion> A(dirac(mesh_.triangles, rho_, 0), parse_plan("CSR"));
  Field<Quaternion> b(A.rows()), x(A.rows());
  for (Index i = 0; i < b.size(); ++i) b.set(i, {{1, 0, 0, 0}});
  for (const double expected : {314, 288, 283}) {
    normalize(b);
    const auto taken = static_cast<double>(iterations_by_its_rule(A, b, x));
    EXPECT_NEAR(taken, expected, 0.02 * expected);
    b = x;
  }
  normalize(b);
  std::vector<Quaternion> lambda;
  for (Index i = 0; i < b.size(); ++i) lambda.push_back(b[i]);
  const mesh::VertexCorners corners(mesh_.triangles);
  const Operator<RealOnQuaternions> L(cotangent_matrix(mesh_.triangles, corners),
                                      parse_plan("CSR"));
  Field<RealOnQuaternions> f(L.rows());
  ConjugateGradient<double> solver(L, Jacobi<RealOnQuaternions>(L), {.tolerance = 1e-9});
  const Report report =
      integrate_edges(solver, divergence_of_edges(mesh_.triangles, corners, lambda), f);
  ASSERT_TRUE(report.converged());
  std::vector<Point> position;
  for (Index i = 0; i < f.size(); ++i) {
    position.push_back({f[i].component[1], f[i].component[2], f[i].component[3]});
  }
  EXPECT_LT(distance(position), 0.01);
}

/// The default method, shifted and weighted by mass, agrees with the reference as far as three
/// steps can: the vector still has 4% to rotate, and the surface is 1.5% from that of more steps.
TEST_F(ReferenceSurface, IsReached) {
  SpinOptions options;
  options.iteration.angle = 0.05;
  const SpinTransformation spin = spin_transform(mesh_.triangles, rho_, options);
  ASSERT_TRUE(spin.converged());
  EXPECT_EQ(spin.iteration.steps.size(), 3U);
  EXPECT_LT(distance(spin.position), 0.01);
  options.iteration.angle = 1e-5;
  const SpinTransformation further = spin_transform(mesh_.triangles, rho_, options);
  ASSERT_TRUE(further.converged());
  EXPECT_LT(distance(further.position), 0.02);
}

}  // namespace
}  // namespace heddle::spin
