#include <map>

#include "problems/problem_checks.hpp"

namespace heddle {
namespace {

using Vector = Eigen::Vector3d;

Vector vector(const Point& p) { return {p[0], p[1], p[2]}; }

TEST(RandomSurface, IsAClosedOrientedSphere) {
  for (const Index size : {1, 12, 42, 92, 500, 10000}) {
    SCOPED_TRACE("size " + std::to_string(size));
    const TriangleMesh mesh = random_surface(size, 2);
    std::map<std::pair<Index, Index>, int> half_edges;
    std::vector<int> degree(mesh.position.size());
    double volume = 0;
    for (const auto& t : mesh.triangle) {
      for (int a = 0; a < 3; ++a) {
        ++half_edges[{t[a], t[(a + 1) % 3]}];
        ++degree[t[a]];
      }
      const Vector a = vector(mesh.position[t[0]]), b = vector(mesh.position[t[1]]),
                   c = vector(mesh.position[t[2]]);
      const double v = a.dot(b.cross(c)) / 6;
      ASSERT_GT(v, 0) << "a triangle faces inwards";
      volume += v;
    }
    for (const auto& [edge, count] : half_edges) {
      ASSERT_EQ(count, 1);
      ASSERT_EQ(half_edges.count({edge.second, edge.first}), 1u);
    }
    const auto vertices = static_cast<Offset>(mesh.position.size());
    const auto edges = static_cast<Offset>(half_edges.size() / 2);
    EXPECT_EQ(vertices - edges + static_cast<Offset>(mesh.triangle.size()), 2);
    EXPECT_EQ(std::count(degree.begin(), degree.end(), 5), 12);
    EXPECT_EQ(std::count(degree.begin(), degree.end(), 6), vertices - 12);
    EXPECT_GT(volume, 0.5);
    for (const Point& p : mesh.position) {
      ASSERT_GE(vector(p).norm(), 0.7 - 1e-12);
      ASSERT_LE(vector(p).norm(), 1.3 + 1e-12);
    }
  }
}

TEST(Dirac, IsHermitianPositiveDefinite) {
  for (const Index size : {12, 42, 92}) {
    for (const std::uint64_t seed : {1, 2, 3}) {
      SCOPED_TRACE("size " + std::to_string(size) + " seed " + std::to_string(seed));
      const auto matrix = dirac(size, seed);
      test::expect_hermitian(matrix);
      EXPECT_GT(test::spectrum(test::dense(matrix)).first, 0);
    }
  }
  test::expect_hermitian(dirac(5000, 4));
}

TEST(Dirac, WithoutPotentialAnnihilatesConstantsUpToTheShift) {
  // Edges of a triangle sum to zero: what remains of a row is shift times its lumped mass.
  const TriangleMesh mesh = random_surface(2000, 5);
  const auto matrix = dirac(mesh, 5, {.potential = 0, .shift = 3});
  std::vector<double> mass(mesh.position.size());
  for (const auto& t : mesh.triangle) {
    const Vector a = vector(mesh.position[t[0]]), b = vector(mesh.position[t[1]]),
                 c = vector(mesh.position[t[2]]);
    for (const Index v : t) mass[v] += (b - a).cross(c - a).norm() / 2 / 3;
  }
  for (Index row = 0; row < matrix.rows(); ++row) {
    Eigen::Vector4d sum(-3 * mass[row], 0, 0, 0);
    for (Offset i = matrix.offsets()[row]; i < matrix.offsets()[row + 1]; ++i) {
      sum += Eigen::Vector4d(matrix.entry(i).component);
    }
    EXPECT_LE(sum.norm(), 1e-13) << row;
  }
}

TEST(Dirac, RealPartIsTheCotangentLaplacian) {
  const TriangleMesh mesh = random_surface(300, 6);
  const auto matrix = dirac(mesh, 6, {.potential = 0, .shift = 1e-12});
  std::map<std::pair<Index, Index>, double> weight;
  for (const auto& t : mesh.triangle) {
    for (int c = 0; c < 3; ++c) {
      const Index i = t[(c + 1) % 3], j = t[(c + 2) % 3];
      const Vector u = vector(mesh.position[i]) - vector(mesh.position[t[c]]),
                   v = vector(mesh.position[j]) - vector(mesh.position[t[c]]);
      weight[{std::min(i, j), std::max(i, j)}] += u.dot(v) / u.cross(v).norm() / 2;
    }
  }
  for (const auto& [edge, cotangents] : weight) {
    const Offset i = test::find_entry(matrix, edge.first, edge.second);
    EXPECT_NEAR(matrix.entry(i).w(), -cotangents, 1e-12);
  }
}

TEST(Dirac, IsTheSquareOfTheFirstOrderOperator) {
  // For a face, D_a = e_a / (2A) + rho / 3 maps corners to the face; X sums A conj(D_a) D_b.
  const TriangleMesh mesh = random_surface(300, 8);
  const auto matrix = dirac(mesh, 8, {.potential = 0, .shift = 1e-12});
  std::map<std::pair<Index, Index>, Eigen::Vector4d> expected;  // x y z w
  for (const auto& t : mesh.triangle) {
    std::array<Vector, 3> e;
    for (int a = 0; a < 3; ++a) {
      e[a] = vector(mesh.position[t[(a + 2) % 3]]) - vector(mesh.position[t[(a + 1) % 3]]);
    }
    const double area = e[0].cross(e[1]).norm() / 2;
    const auto first_order = [&](int a) {
      const Vector v = e[a] / (2 * area);
      return Eigen::Quaterniond(0, v[0], v[1], v[2]);
    };
    for (int a = 0; a < 3; ++a) {
      for (int b = 0; b < 3; ++b) {
        const auto place = expected.try_emplace({t[a], t[b]}, Eigen::Vector4d::Zero()).first;
        place->second += area * (first_order(a).conjugate() * first_order(b)).coeffs();
      }
    }
  }
  ASSERT_EQ(static_cast<Offset>(expected.size()), matrix.entries());
  for (const auto& [place, coefficients] : expected) {
    const auto entry = matrix.entry(test::find_entry(matrix, place.first, place.second));
    const Eigen::Vector4d actual(entry.x(), entry.y(), entry.z(), entry.w());
    EXPECT_LE((actual - coefficients).norm(), 1e-12) << place.first << ", " << place.second;
  }
}

TEST(Dirac, IsNeverIndefiniteWhateverThePotential) {
  for (const double potential : {0.0, 1.0, 5.0, 50.0}) {
    const auto matrix = dirac(92, 3, {.potential = potential, .shift = 1e-12});
    test::expect_hermitian(matrix);
    const auto [least, most] = test::spectrum(test::dense(matrix));
    EXPECT_GE(least, -1e-13 * most) << potential;
  }
}

TEST(Dirac, HasSevenEntriesARow) {
  const auto matrix = dirac(20000, 1);
  EXPECT_NEAR(matrix.rows(), 20000, 500);
  EXPECT_EQ(matrix.entries(), 7LL * matrix.rows() - 12);
  const test::RowLengths lengths = test::row_lengths(matrix);
  EXPECT_EQ(lengths.least, 6);
  EXPECT_EQ(lengths.most, 7);
}

TEST(Dirac, DependsOnSeedAlone) {
  test::expect_deterministic([](std::uint64_t seed) { return dirac(3000, seed); });
}

TEST(Dirac, RefusesWhatHasNoMeaning) {
  test::expect_usage_error([] { dirac(0); }, "not 0");
  test::expect_usage_error([] { dirac(10, 1, {.shift = 0}); }, "shift");
  test::expect_usage_error([] { dirac(10, 1, {.potential = -1}); }, "potential");
  TriangleMesh mesh = random_surface(42);
  mesh.triangle[5][1] = mesh.triangle[5][0];
  EXPECT_THROW(dirac(mesh), Error);
}

}  // namespace
}  // namespace heddle
