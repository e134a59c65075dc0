// Faces of more than three corners, and vertices that belong to no face.
#include <gtest/gtest.h>

#include <map>

#include "face_cutter.hpp"
#include "io/temporary_folder.hpp"
#include "surface_builder.hpp"

namespace heddle::mesh {
namespace {

using Triangle = std::array<Index, 3>;

std::vector<Triangle> triangles_of(const std::vector<std::vector<Index>>& faces) {
  SurfaceBuilder builder;
  for (const auto& face : faces) builder.add_polygon(face);
  const SurfaceMesh mesh = std::move(builder).finish("f");
  return {mesh.triangles.triangle.begin(), mesh.triangles.triangle.end()};
}

/// Number of occurrences of each edge, in either direction.
std::map<std::array<Index, 2>, int> edges_of(const std::vector<Triangle>& triangles) {
  std::map<std::array<Index, 2>, int> count;
  for (const Triangle& corner : triangles) {
    for (std::size_t i = 0; i < 3; ++i) {
      const auto [a, b] = std::minmax(corner[i], corner[(i + 1) % 3]);
      ++count[{a, b}];
    }
  }
  return count;
}

TEST(Polygons, AreFansWhereNothingIsInTheWay) {
  EXPECT_EQ(triangles_of({{4, 5, 6, 7, 8}, {0, 1, 2}}),
            (std::vector<Triangle>{{4, 5, 6}, {4, 6, 7}, {4, 7, 8}, {0, 1, 2}}));
}

/// Two quadrilaterals that share two opposite corners, as around a vertex with two edges.
TEST(Polygons, DoNotDoubleADiagonal) {
  EXPECT_EQ(triangles_of({{0, 1, 2, 3}, {2, 4, 0, 5}}),
            (std::vector<Triangle>{{0, 1, 2}, {0, 2, 3}, {4, 0, 5}, {4, 5, 2}}));
}

TEST(Polygons, DoNotDoubleAnEdgeOfAnotherFace) {
  EXPECT_EQ(triangles_of({{0, 1, 2, 3}, {0, 2, 4}}),
            (std::vector<Triangle>{{1, 2, 3}, {1, 3, 0}, {0, 2, 4}}));
}

/// A pillow: two hexagons on the same corners. Each edge of the triangles belongs to two of them.
TEST(Polygons, OfTheSameCornersAreCutApart) {
  const auto triangles = triangles_of({{0, 1, 2, 3, 4, 5}, {5, 4, 3, 2, 1, 0}});
  ASSERT_EQ(triangles.size(), 8U);
  for (const auto& [edge, count] : edges_of(triangles)) {
    EXPECT_EQ(count, 2) << edge[0] << " " << edge[1];
  }
}

TEST(Polygons, ThatCannotBeCutApartEndAllTheSame) {
  EXPECT_EQ(triangles_of({{0, 1, 2, 3}, {3, 2, 1, 0}, {0, 2, 1, 3}}).size(), 6U);
  EXPECT_EQ(triangles_of({{0, 0, 0, 0, 0}, {1, 0, 1, 0}}).size(), 5U);
}

TEST(Polygons, KeepTheTextureOfTheirCorners) {
  SurfaceBuilder builder;
  builder.add_polygon(std::array<Index, 4>{0, 1, 2, 3});
  builder.add_polygon(std::array<Index, 4>{2, 4, 0, 5});
  for (const double u : {0, 1, 2, 3, 2, 4, 0, 5}) builder.texture.push_back({u, 0});
  const SurfaceMesh mesh = std::move(builder).finish("f");
  ASSERT_EQ(mesh.texture.size(), 4U);
  for (std::size_t t = 0; t < 4; ++t) {
    for (std::size_t k = 0; k < 3; ++k) {
      EXPECT_EQ(mesh.texture[t][k][0], mesh.triangles.triangle[t][k]);
    }
  }
}

TEST(LonelyVertices, OfASurfaceAreLeftOut) {
  const TemporaryFolder folder;
  const SurfaceMesh mesh = read_surface_mesh(
      folder.write("a.obj", "v 9 9 9\nv 0 0 0\nv 8 8 8\nv 1 0 0\nv 0 1 0\nf 2 4 5\n"));
  EXPECT_EQ(mesh.left_out, (std::vector<Index>{0, 2}));
  ASSERT_EQ(mesh.triangles.position.size(), 3U);
  EXPECT_EQ(mesh.triangles.position[1], (Point{1, 0, 0}));
  EXPECT_EQ(mesh.triangles.triangle[0], (Triangle{0, 1, 2}));
}

}  // namespace
}  // namespace heddle::mesh
