// Conditions under which a set of triangles is a closed surface.
#include "surface_mesh.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "heddle/tools/points.hpp"
#include "support/message_of.hpp"
#include "surface_texts.hpp"

namespace heddle::mesh {
namespace {

std::string refusal_of(const std::vector<Point>& position, const std::vector<Triangle>& triangle) {
  return test::message_of([&] { check_closed(mesh_of(position, triangle)); });
}

TEST(ClosedSurface, IsWhatATetrahedronIs) { EXPECT_EQ(refusal_of(corners, faces), "accepted"); }

TEST(ClosedSurface, RefusesAHole) {
  EXPECT_EQ(refusal_of(corners, {faces[0], faces[1], faces[2]}),
            "the edge from vertex 1 to 3 belongs to one triangle only: the surface is not closed");
}

TEST(ClosedSurface, RefusesTrianglesThatDifferInOrientation) {
  EXPECT_EQ(refusal_of(corners, {{0, 1, 2}, faces[1], faces[2], faces[3]}),
            "the edge from vertex 1 to 2 is traversed in that direction by two triangles: the "
            "surface is not manifold there, or its triangles are not oriented the same way");
}

TEST(ClosedSurface, RefusesAVertexThatIsNotThere) {
  EXPECT_EQ(refusal_of(corners, {{0, 2, 1}, {0, 1, 4}}),
            "triangle 2 refers to vertex 5; there are 4");
  EXPECT_EQ(refusal_of(corners, {{0, -1, 1}}), "triangle 1 refers to vertex 0; there are 4");
}

TEST(ClosedSurface, RefusesATriangleWithoutArea) {
  EXPECT_EQ(refusal_of({{0, 0, 0}, {1, 0, 0}, {2, 0, 0}}, {{0, 1, 2}}),
            "triangle 1 (vertices 1, 2, 3) has no area");
}

TEST(ClosedSurface, RefusesALonelyVertex) {
  std::vector<Point> more = corners;
  more.push_back({3, 3, 3});
  EXPECT_EQ(refusal_of(more, faces), "vertex 5 belongs to no triangle");
}

std::vector<Triangle> shifted(Index by) {
  std::vector<Triangle> triangles = faces;
  for (Triangle& t : triangles) {
    for (Index& v : t) v += by;
  }
  return triangles;
}

TEST(ClosedSurface, RefusesTwoParts) {
  std::vector<Point> position = corners;
  for (const Point& p : corners) position.push_back({p[0] + 5, p[1], p[2]});
  std::vector<Triangle> triangles = faces;
  for (const Triangle& t : shifted(4)) triangles.push_back(t);
  EXPECT_EQ(refusal_of(position, triangles),
            "vertices 1 and 5 are in parts of the surface that are not connected");
}

/// Two tetrahedra that share one vertex.
TEST(ClosedSurface, RefusesSheetsThatTouch) {
  std::vector<Point> position = corners;
  for (const Point& p : corners) position.push_back({p[0] + 5, p[1], p[2]});
  position.erase(position.begin() + 4);
  std::vector<Triangle> triangles = faces;
  for (Triangle t : shifted(3)) {
    for (Index& v : t) v = v == 3 ? 0 : v;
    triangles.push_back(t);
  }
  EXPECT_EQ(refusal_of(position, triangles),
            "at vertex 1 two sheets of the surface touch: it is not manifold there");
}

TEST(ClosedSurface, RefusesNothing) { EXPECT_EQ(refusal_of({}, {}), "there are no triangles"); }

}  // namespace
}  // namespace heddle::mesh
