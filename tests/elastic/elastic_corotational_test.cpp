// Large rotations.
#include <cstdio>
#include <random>

#include "elastic/solids.hpp"
#include "time_stepping.hpp"

namespace heddle::elastic::test {
namespace {

Matrix3 matrix3(const Eigen::Matrix3d& m) {
  Matrix3 result{};
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) result.at[i][j] = m(i, j);
  }
  return result;
}
Eigen::Matrix3d eigen(const Matrix3& m) {
  return Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(&m.at[0][0]);
}

/// The proper rotation nearest to F, by singular values.
Eigen::Matrix3d nearest_rotation(const Eigen::Matrix3d& F) {
  const Eigen::JacobiSVD<Eigen::Matrix3d> svd(F, Eigen::ComputeFullU | Eigen::ComputeFullV);
  Eigen::Matrix3d U = svd.matrixU();
  if ((U * svd.matrixV().transpose()).determinant() < 0) U.col(2) *= -1;
  return U * svd.matrixV().transpose();
}

TEST(PolarRotation, IsTheNearestOfAnyDeformation) {
  std::mt19937 random(5);
  std::normal_distribution<double> normal;
  int inverted = 0;
  for (int trial = 0; trial < 20000; ++trial) {
    Eigen::Matrix3d F;
    for (int i = 0; i < 9; ++i) F(i / 3, i % 3) = normal(random);
    const Eigen::JacobiSVD<Eigen::Matrix3d> svd(F);
    const double sign = F.determinant() < 0 ? -1 : 1;
    const double gap = svd.singularValues()[1] + sign * svd.singularValues()[2];
    if (gap < 0.05) continue;  // nearly two nearest rotations
    inverted += sign < 0;
    const Quaternion q = polar_rotation(matrix3(F), {{1, 0, 0, 0}});
    ASSERT_LE((eigen(matrix_of(q)) - nearest_rotation(F)).norm(), 1e-12) << F;
  }
  EXPECT_GT(inverted, 5000);
}

TEST(PolarRotation, FindsHalfATurnAndStaysARotationWithoutAnyStretch) {
  const Eigen::Vector3d axes[] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, Vector(1, 2, 3).normalized()};
  for (const Vector& axis : axes) {
    for (const double angle : {1e-8, 0.5, 2.0, 2.0944, 3.0, 3.14159265358979}) {
      const Eigen::Matrix3d R = Eigen::AngleAxisd(angle, axis).toRotationMatrix();
      const Quaternion q = polar_rotation(matrix3(R), {{1, 0, 0, 0}});
      EXPECT_LE((eigen(matrix_of(q)) - R).norm(), 1e-13) << angle;
    }
  }
  for (const Eigen::Matrix3d& F :
       {Eigen::Matrix3d(Eigen::Matrix3d::Zero()), Eigen::Matrix3d(-Eigen::Matrix3d::Identity()),
        Eigen::Matrix3d(Vector(1, 0, 0) * Vector(0, 1, 0).transpose())}) {
    const Eigen::Matrix3d R = eigen(matrix_of(polar_rotation(matrix3(F), {{1, 0, 0, 0}})));
    EXPECT_LE((R.transpose() * R - Eigen::Matrix3d::Identity()).norm(), 1e-14);
    EXPECT_GT(R.determinant(), 0);
  }
}

TEST(ElasticCorotational, ARotatedBodyHasNoForces) {
  const Model model = model_of(random_solid(300, 2), {.young = 1e6, .poisson = 0.4});
  Simulation simulation(model, {.corotational = true});
  VertexField u = simulation.system.field(), f = u;
  for (const double angle : {0.3, 1.5, 3.0}) {
    const Eigen::Matrix3d R =
        Eigen::AngleAxisd(angle, Vector(1, -2, 0.5).normalized()).toRotationMatrix();
    for (Index v = 0; v < u.size(); ++v) {
      const Vector x = vector(model.position[static_cast<std::size_t>(v)]);
      const Vector moved = R * x + Vector(5, 6, 7) - x;
      u.set(v, {{moved[0], moved[1], moved[2]}});
    }
    simulation.system.deform(u);
    simulation.system.residual(nullptr, 1, f);
    // A strain of 1 would cause forces of about Young's modulus times an edge squared.
    EXPECT_LE(norm<Block>(f), 1e6 * 1e-13);
    EXPECT_LE(simulation.system.elastic_energy(), 1e6 * 1e-26);
    // The matrix is that of the resting body, rotated.
    simulation.system.set_matrix(0, 1);
    const CsrMatrix<Block> rotated = matrix_of(simulation);
    Simulation resting(model);
    const CsrMatrix<Block> rest = matrix_of(resting);
    for (Offset i = 0; i < rest.entries(); ++i) {
      const Eigen::Matrix3d expected = R * matrix_of(rest.entry(i)) * R.transpose();
      ASSERT_LE((matrix_of(rotated.entry(i)) - expected).norm(), 1e-12 * expected.norm() + 1e-6);
    }
  }
}

TEST(ElasticCorotational, AgreesWithLinearElasticityWhereRotationsAreSmall) {
  Model model = box({6, 2, 2}, {3, 1, 1}, {.young = 100, .poisson = 0.3, .density = 1});
  clamp(model, [](const Point& p) { return p[0] == 0; });
  for (Point& load : model.load) load = {0, 0, -1e-6};
  std::vector<std::vector<Point>> ends;
  for (const bool corotational : {false, true}) {
    Simulation simulation(model, {.corotational = corotational, .with_mass = true});
    TimeStepping stepping(simulation.system, {.time_step = 0.1});
    for (int step = 0; step < 20; ++step) ASSERT_TRUE(stepping.step().converged());
    ends.push_back(points_of(stepping.displacement()));
  }
  const double size = largest(ends[0]);
  EXPECT_GT(size, 1e-7);
  for (std::size_t v = 0; v < ends[0].size(); ++v) {
    EXPECT_LE((vector(ends[0][v]) - vector(ends[1][v])).norm(), 1e-3 * size);
  }
}

/// A stiff bar that hangs by an edge is a pendulum: theta'' = g r sin(theta) m / I, with theta
/// measured from the position of its centre above the edge.
struct Pendulum {
  double rate;  // m g r / I
  double angle;
  double speed = 0;

  void advance(double time) {
    constexpr int steps = 1000;
    const double h = time / steps;
    for (int i = 0; i < steps; ++i) {  // midpoint rule
      const double half_angle = angle + h / 2 * speed;
      const double half_speed = speed + h / 2 * rate * std::sin(angle);
      angle += h * half_speed;
      speed += h * rate * std::sin(half_angle);
    }
  }
};

TEST(ElasticCorotational, ABarSwingsAsAPendulum) {
  constexpr double length = 2, height = 0.5, gravity = 10, density = 2;
  for (const Method method : {Method::newmark, Method::backward_euler}) {
    Model model = box({4, 1, 1}, {length, height, height},
                      {.young = 2e5, .poisson = 0.3, .density = density});
    clamp(model, [](const Point& p) { return p[0] == 0 && p[2] == 0; });
    for (Offset e = 0; e < model.elements(); ++e) {
      for (const Index v : model.tetrahedron[static_cast<std::size_t>(e)]) {
        model.load[static_cast<std::size_t>(v)][2] -= gravity * density * model.volume(e) / 4;
      }
    }
    Simulation simulation(model, {.corotational = true, .with_mass = true});
    const bool newmark = method == Method::newmark;
    const double h = newmark ? 0.005 : 0.0005;
    TimeStepping stepping(simulation.system, {.method = method, .time_step = h});
    const Vector centre(length / 2, 0, height / 2);
    const double r = centre.norm();
    Pendulum pendulum{gravity * r / ((length * length + height * height) / 3),
                      std::atan2(centre[0], centre[2])};
    const double weight = gravity * density * length * height * height;
    const int steps = static_cast<int>(std::lround(0.7 / h));
    for (int step = 0; step < steps; ++step) {
      ASSERT_TRUE(stepping.step().converged());
      // Less than the energy of a fall through the bar's height.
      ASSERT_LE(std::abs(stepping.energies().total()), (newmark ? 0.02 : 0.1) * weight * r);
    }
    pendulum.advance(stepping.time());
    // The bar's own axis, from its far corner at the hinge's height.
    const Vector u = vector(points_of(stepping.displacement())[4]);
    const double angle = std::atan2(-u[2], length + u[0]);
    const double expected = pendulum.angle - std::atan2(centre[0], centre[2]);
    std::printf("%s: turned by %.4f, a pendulum by %.4f\n", newmark ? "newmark" : "backward Euler",
                angle, expected);
    EXPECT_GT(expected, 1.4);
    EXPECT_NEAR(angle, expected, 0.02 * expected);
    // The bar has kept its volume, except for the effect of the load.
    Model now = model;
    const std::vector<Point> all = points_of(stepping.displacement());
    for (std::size_t v = 0; v < all.size(); ++v) {
      now.position[v] = point(vector(model.position[v]) + vector(all[v]));
    }
    double volume = 0;
    for (Offset e = 0; e < now.elements(); ++e) volume += now.volume(e);
    EXPECT_NEAR(volume, length * height * height, 1e-3 * length * height * height);
  }
}

TEST(ElasticCorotational, StressTurnsWithTheBody) {
  Model model = box({2, 2, 2}, {1, 1, 1}, {.young = 10, .poisson = 0});
  Simulation simulation(model, {.corotational = true});
  const Eigen::Matrix3d R = Eigen::AngleAxisd(1.57079632679489662, Vector(0, 0, 1)).matrix();
  VertexField u = simulation.system.field();
  for (Index v = 0; v < u.size(); ++v) {
    const Vector x = vector(model.position[static_cast<std::size_t>(v)]);
    const Vector moved = R * Vector(1.01 * x[0], x[1], x[2]) - x;
    u.set(v, {{moved[0], moved[1], moved[2]}});
  }
  simulation.system.deform(u);
  simulation.system.find_stress(u);
  // Stretched along the original x, which is now y.
  for (std::size_t i = 0; i < simulation.system.stress().size(); ++i) {
    ASSERT_NEAR(simulation.system.stress()[i], i % 6 == 1 ? 0.1 : 0.0, 1e-13);
  }
}

}  // namespace
}  // namespace heddle::elastic::test
