#include <map>
#include <random>
#include <set>

#include "problems/problem_checks.hpp"
#include "support/systems/dense_factors.hpp"

namespace heddle {
namespace {

using Vector = Eigen::Vector3d;

Vector to_eigen(const Point& p) { return {p[0], p[1], p[2]}; }

double volume(const std::array<Vector, 4>& p) {
  return (p[1] - p[0]).dot((p[2] - p[0]).cross(p[3] - p[0])) / 6;
}

std::array<Vector, 4> corners(const TetrahedronMesh& mesh, Offset t) {
  std::array<Vector, 4> p;
  for (int a = 0; a < 4; ++a) p[a] = to_eigen(mesh.position[mesh.tetrahedron[t][a]]);
  return p;
}

Eigen::Matrix3d matrix_of(const block<double, 3, 3>& b) {
  return Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(b.component);
}

/// Three translations and three infinitesimal rotations about the origin.
Vector rigid_motion(int mode, const Vector& x) {
  return mode < 3 ? Vector(Vector::Unit(mode)) : Vector(Vector::Unit(mode - 3).cross(x));
}

TEST(RandomSolid, TetrahedraArePositiveAndWellShaped) {
  for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
    for (const double irregularity : {0.0, 0.5, 1.0}) {
      SCOPED_TRACE("seed " + std::to_string(seed) + " irregularity " +
                   std::to_string(irregularity));
      const TetrahedronMesh mesh = random_solid(1500, seed, irregularity);
      for (Offset t = 0; t < static_cast<Offset>(mesh.tetrahedron.size()); ++t) {
        const auto p = corners(mesh, t);
        double squares = 0;
        for (int a = 0; a < 4; ++a) {
          for (int b = 0; b < a; ++b) squares += (p[a] - p[b]).squaredNorm();
        }
        ASSERT_GT(volume(p), 0);
        ASSERT_GE(12 * std::cbrt(std::pow(3 * volume(p), 2)) / squares, 0.25 - 1e-12) << t;
      }
    }
  }
}

TEST(RandomSolid, ConformsAndIsABall) {
  const TetrahedronMesh mesh = random_solid(2000, 7, 1.0);
  std::map<std::array<Index, 3>, int> faces;
  std::set<std::array<Index, 2>> edges;
  for (const auto& t : mesh.tetrahedron) {
    for (int a = 0; a < 4; ++a) {
      std::array<Index, 3> face = {t[(a + 1) % 4], t[(a + 2) % 4], t[(a + 3) % 4]};
      std::sort(face.begin(), face.end());
      ++faces[face];
      for (int b = 0; b < a; ++b) edges.insert({std::min(t[a], t[b]), std::max(t[a], t[b])});
    }
  }
  Offset boundary = 0;
  std::map<std::array<Index, 2>, int> boundary_edges;
  for (const auto& [face, count] : faces) {
    ASSERT_LE(count, 2);
    if (count == 2) continue;
    ++boundary;
    ++boundary_edges[{face[0], face[1]}];
    ++boundary_edges[{face[0], face[2]}];
    ++boundary_edges[{face[1], face[2]}];
  }
  // The surface has no hole, so there is no crack between cells; Euler's number of a ball.
  for (const auto& [edge, count] : boundary_edges) EXPECT_EQ(count, 2);
  EXPECT_GT(boundary, 0);
  const auto count = [](auto n) { return static_cast<Offset>(n); };
  EXPECT_EQ(count(mesh.position.size()) - count(edges.size()) + count(faces.size()) -
                count(mesh.tetrahedron.size()),
            1);
}

TEST(TetrahedronStiffness, LetsRigidMotionsPassAndIsSymmetric) {
  std::mt19937 random(11);
  const auto draw = [&] { return random() / 4294967296.0 - 0.5; };
  for (int trial = 0; trial < 100; ++trial) {
    SCOPED_TRACE("trial " + std::to_string(trial));
    std::array<Point, 4> points;
    for (Point& p : points) p = {draw(), draw(), draw()};
    std::array<Vector, 4> p;
    for (int a = 0; a < 4; ++a) p[a] = to_eigen(points[a]);
    if (volume(p) < 0) std::swap(points[0], points[1]), std::swap(p[0], p[1]);
    if (volume(p) < 1e-3) continue;
    const auto stiffness = tetrahedron_stiffness(points, 1, 0.3);
    Eigen::Matrix<double, 12, 12> K;
    for (int a = 0; a < 4; ++a) {
      for (int b = 0; b < 4; ++b) K.block<3, 3>(3 * a, 3 * b) = matrix_of(stiffness[a][b]);
    }
    EXPECT_TRUE(K == K.transpose());
    for (int mode = 0; mode < 6; ++mode) {
      Eigen::Matrix<double, 12, 1> u;
      for (int a = 0; a < 4; ++a) u.segment<3>(3 * a) = rigid_motion(mode, p[a]);
      EXPECT_LE((K * u).norm(), 1e-14 * K.norm() * u.norm()) << "mode " << mode;
    }
    // Six motions take no energy, six strains do.
    const Eigen::VectorXd values = test::eigenvalues_of(K);
    EXPECT_LE(std::abs(values[5]), 1e-14 * K.norm());
    EXPECT_GT(values[6], 1e-8 * K.norm());
  }
}

TEST(TetrahedronStiffness, HoldsTheEnergyOfAUniformStretch) {
  // u = (x, 0, 0): energy density (lambda + 2 mu) / 2, here E = 2.6, nu = 0.3: lambda 1.5, mu 1.
  const std::array<Point, 4> p = {{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
  const auto stiffness = tetrahedron_stiffness(p, 2.6, 0.3);
  EXPECT_NEAR(0.5 * stiffness[1][1].component[0], 3.5 / 2 / 6, 1e-15);
}

TEST(Elasticity, LetsRigidMotionsPassWithoutAClamp) {
  TetrahedronMesh mesh = random_solid(1500, 3);
  mesh.free_vertices = static_cast<Index>(mesh.position.size());
  const auto matrix = elasticity(mesh);
  ASSERT_EQ(matrix.rows(), mesh.free_vertices);
  for (int mode = 0; mode < 6; ++mode) {
    for (Index row = 0; row < matrix.rows(); ++row) {
      Vector force = Vector::Zero();
      double scale = 0;
      for (Offset i = matrix.offsets()[row]; i < matrix.offsets()[row + 1]; ++i) {
        const Vector u = rigid_motion(mode, to_eigen(mesh.position[matrix.column()[i]]));
        force += matrix_of(matrix.entry(i)) * u;
        scale += matrix_of(matrix.entry(i)).norm() * u.norm();
      }
      ASSERT_LE(force.norm(), 1e-14 * scale) << "mode " << mode << " row " << row;
    }
  }
}

TEST(Elasticity, IsSymmetricPositiveDefinite) {
  for (const Index size : {1, 9, 60, 120}) {
    for (const std::uint64_t seed : {1, 2}) {
      SCOPED_TRACE("size " + std::to_string(size) + " seed " + std::to_string(seed));
      const auto matrix = elasticity(size, seed);
      test::expect_hermitian(matrix);
      EXPECT_GT(test::spectrum(test::dense(matrix)).first, 0);
    }
  }
  test::expect_hermitian(elasticity(5000, 3));
}

TEST(Elasticity, RowsAreIrregular) {
  const auto matrix = elasticity(20000, 1);
  EXPECT_NEAR(matrix.rows(), 20000, 600);
  const test::RowLengths lengths = test::row_lengths(matrix);
  EXPECT_GT(lengths.mean, 14);
  EXPECT_LT(lengths.mean, 15);
  EXPECT_GT(lengths.deviation, 2.5);
  EXPECT_GE(lengths.least, 4);
  EXPECT_LE(lengths.most, 27);
  const auto regular = test::row_lengths(elasticity(5000, 1, {.irregularity = 0}));
  EXPECT_EQ(regular.most, 15);
}

TEST(Elasticity, NumbersNeighboursClosely) {
  const auto matrix = elasticity(20000, 1);
  Offset near = 0;
  for (Index row = 0; row < matrix.rows(); ++row) {
    for (Offset i = matrix.offsets()[row]; i < matrix.offsets()[row + 1]; ++i) {
      near += std::abs(matrix.column()[i] - row) < 512;
    }
  }
  EXPECT_GT(static_cast<double>(near), 0.7 * static_cast<double>(matrix.entries()));
}

TEST(Elasticity, DependsOnSeedAlone) {
  test::expect_deterministic([](std::uint64_t seed) { return elasticity(3000, seed); });
}

TEST(Elasticity, RefusesWhatHasNoMeaning) {
  test::expect_usage_error([] { elasticity(0); }, "not 0");
  test::expect_usage_error([] { elasticity(10, 1, {.young = 0}); }, "Young's modulus");
  test::expect_usage_error([] { elasticity(10, 1, {.poisson = 0.5}); }, "Poisson's ratio");
  test::expect_usage_error([] { elasticity(10, 1, {.irregularity = 2}); }, "irregularity");
  TetrahedronMesh mesh = random_solid(10);
  std::swap(mesh.tetrahedron[4][0], mesh.tetrahedron[4][1]);
  try {
    elasticity(mesh);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::singular);
    EXPECT_NE(std::string(error.what()).find("tetrahedron 4 "), std::string::npos) << error.what();
  }
  mesh.tetrahedron[3][2] = 1000;
  EXPECT_THROW(elasticity(mesh), Error);
}

}  // namespace
}  // namespace heddle
