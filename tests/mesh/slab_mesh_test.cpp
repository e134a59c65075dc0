// Slabs: complete, conforming, and with named groups.
#include "slab_mesh.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "heddle/error.hpp"
#include "heddle/tools/points.hpp"

namespace heddle::mesh {
namespace {

double volume6_of(const SolidMesh& mesh, const std::array<Index, 4>& t) {
  const auto at = [&](std::size_t a) { return mesh.position[static_cast<std::size_t>(t[a])]; };
  return points::volume6(at(0), at(1), at(2), at(3));
}

double area_of(const SolidMesh& mesh, const std::array<Index, 3>& t) {
  const auto at = [&](std::size_t a) { return mesh.position[static_cast<std::size_t>(t[a])]; };
  using namespace points;
  return length(cross(at(1) - at(0), at(2) - at(0))) / 2;
}

TEST(Slab, IsFilledOnce) {
  for (const auto& [split, tetrahedra] : {std::pair{CubeSplit::six, 6}, {CubeSplit::five, 5}}) {
    const SolidMesh mesh = make_slab({2, 1.5, 1}, 0.5, split);
    EXPECT_EQ(mesh.position.size(), 5U * 4 * 3);
    ASSERT_EQ(mesh.tetrahedron.size(), 4U * 3 * 2 * static_cast<std::size_t>(tetrahedra));
    std::map<std::array<Index, 3>, int> faces;
    double volume = 0;
    for (const auto& t : mesh.tetrahedron) {
      EXPECT_GT(volume6_of(mesh, t), 0);
      volume += volume6_of(mesh, t) / 6;
      for (std::size_t a = 0; a < 4; ++a) {
        std::array<Index, 3> face{};
        for (std::size_t k = 0; k < 3; ++k) face[k] = t[(a + k + 1) % 4];
        std::sort(face.begin(), face.end());
        ++faces[face];
      }
    }
    EXPECT_NEAR(volume, 3, 1e-14);
    // A face of only one tetrahedron is on a side, and no face belongs to more than two.
    std::size_t outside = 0;
    for (const auto& [face, count] : faces) {
      EXPECT_LE(count, 2);
      outside += count == 1 ? 1 : 0;
    }
    EXPECT_EQ(outside, mesh.triangle.size());
    std::map<int, double> area;
    for (std::size_t i = 0; i < mesh.triangle.size(); ++i) {
      area[mesh.surface[i]] += area_of(mesh, mesh.triangle[i]);
    }
    const double expected[] = {1.5, 1.5, 2, 2, 3, 3};
    for (int side = 1; side <= 6; ++side) EXPECT_NEAR(area[side], expected[side - 1], 1e-14);
    for (std::size_t i = 0; i < mesh.triangle.size(); ++i) {
      if (mesh.surface[i] != 4) continue;
      for (const Index v : mesh.triangle[i]) {
        EXPECT_EQ(mesh.position[static_cast<std::size_t>(v)][1], 1.5);
      }
    }
    ASSERT_EQ(mesh.names.size(), 7U);
    EXPECT_EQ(mesh.names[4].name, "y-greatest");
    EXPECT_EQ(mesh.names[4].number, 4);
  }
}

TEST(Slab, HasWholeCubes) {
  for (const auto& [sides, h] : {std::pair{Point{1, 1, 1}, 0.3},
                                 {Point{1, 0, 1}, 0.5},
                                 {Point{1, 1, -1}, 0.5},
                                 {Point{0.1, 1, 1}, 0.5}}) {
    try {
      make_slab(sides, h, CubeSplit::six);
      ADD_FAILURE() << "nothing was thrown";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
    }
  }
  EXPECT_EQ(make_slab({20, 7, 3}, 0.1, CubeSplit::six).position.size(), 201U * 71 * 31);
}

}  // namespace
}  // namespace heddle::mesh
