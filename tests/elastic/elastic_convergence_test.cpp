// Comparison with a chosen displacement, and the body force that it requires.
#include <cstdio>

#include "boundary.hpp"
#include "elastic/solids.hpp"
#include "static_analysis.hpp"

namespace heddle::elastic::test {
namespace {

constexpr double pi = 3.14159265358979323846;
const Vector direction(1, 2, -1);

/// u = direction sin(pi x) sin(pi y) sin(pi z) + a rotation, which requires no force.
Vector exact(const Point& x) {
  return direction * (std::sin(pi * x[0]) * std::sin(pi * x[1]) * std::sin(pi * x[2])) +
         Vector(0.1, 0.3, -0.2).cross(vector(x));
}

/// -(lambda + mu) grad div u - mu laplace u.
Vector body_force(const Point& x, const Lame& lame) {
  const double s[] = {std::sin(pi * x[0]), std::sin(pi * x[1]), std::sin(pi * x[2])};
  const double c[] = {std::cos(pi * x[0]), std::cos(pi * x[1]), std::cos(pi * x[2])};
  Eigen::Matrix3d second;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      second(i, j) = i == j ? -pi * pi * s[0] * s[1] * s[2] : pi * pi * c[i] * c[j] * s[3 - i - j];
    }
  }
  return -(lame.lambda + lame.mu) * (second * direction) - lame.mu * second.trace() * direction;
}

/// |u_h - u| in L2, by the quadrature used for the loads.
double error_of(const Model& model, const std::vector<Point>& u) {
  constexpr double near = 0.58541019662496845, far = 0.13819660112501052;
  double squares = 0;
  for (Offset e = 0; e < model.elements(); ++e) {
    const auto p = model.corners(e);
    for (std::size_t q = 0; q < 4; ++q) {
      Vector x = Vector::Zero(), found = Vector::Zero();
      for (std::size_t a = 0; a < 4; ++a) {
        const double weight = a == q ? near : far;
        x += weight * vector(p[a]);
        found +=
            weight *
            vector(u[static_cast<std::size_t>(model.tetrahedron[static_cast<std::size_t>(e)][a])]);
      }
      squares += model.volume(e) / 4 * (found - exact(point(x))).squaredNorm();
    }
  }
  return std::sqrt(squares);
}

double error_on(Index cells) {
  Model model = box({cells, cells, cells}, {1, 1, 1}, {.young = 2, .poisson = 0.3}, 0.15);
  const Lame lame = model.material[0].lame();
  add_body_force(model, [&](const Point& x) { return point(body_force(x, lame)); });
  for (const Triangle& triangle : Boundary(model.tetrahedron).triangles()) {
    for (const Index v : triangle) {
      give(model, v, point(exact(model.position[static_cast<std::size_t>(v)])));
    }
  }
  Simulation simulation(model);
  StaticAnalysis analysis(simulation.system);
  EXPECT_TRUE(analysis.solve().converged());
  return error_of(model, points_of(analysis.displacement()));
}

TEST(ElasticConvergence, IsOfSecondOrder) {
  const double coarse = error_on(4), middle = error_on(8), fine = error_on(16);
  std::printf("L2 errors %.3e %.3e %.3e, orders %.2f %.2f\n", coarse, middle, fine,
              std::log2(coarse / middle), std::log2(middle / fine));
  EXPECT_GT(std::log2(coarse / middle), 1.6);
  EXPECT_GT(std::log2(middle / fine), 1.85);
}

}  // namespace
}  // namespace heddle::elastic::test
