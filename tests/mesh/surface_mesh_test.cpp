// Surfaces in files, and what makes a triangle soup a closed surface.
#include "surface_mesh.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>

#include "heddle/error.hpp"
#include "heddle/points.hpp"
#include "io/temporary_folder.hpp"

namespace heddle::mesh {
namespace {

using Triangle = std::array<Index, 3>;

const std::vector<Point> corners = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
const std::vector<Triangle> faces = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {2, 0, 3}};

TriangleMesh mesh_of(const std::vector<Point>& position, const std::vector<Triangle>& triangle) {
  return {Array<Point>(position), Array<Triangle>(triangle)};
}

template <class Act>
std::string refusal(const Act& act) {
  try {
    act();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

std::string refusal_of(const std::vector<Point>& position, const std::vector<Triangle>& triangle) {
  return refusal([&] { check_closed(mesh_of(position, triangle)); });
}

class SurfaceFiles : public testing::Test {
 protected:
  void expect_tetrahedron(const std::string& name, const std::string& text) const {
    const SurfaceMesh mesh = read_surface_mesh(folder.write(name, text));
    ASSERT_EQ(mesh.triangles.position.size(), corners.size()) << name;
    ASSERT_EQ(mesh.triangles.triangle.size(), faces.size()) << name;
    EXPECT_TRUE(std::equal(corners.begin(), corners.end(), mesh.triangles.position.begin()))
        << name;
    EXPECT_TRUE(std::equal(faces.begin(), faces.end(), mesh.triangles.triangle.begin())) << name;
    EXPECT_NO_THROW(check_closed(mesh.triangles)) << name;
  }
  TemporaryFolder folder;
};

const std::string obj =
    "# a tetrahedron\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"
    "f 1 3 2\nf 1 2 4\nf 2//1 3//1 4//1\nf -2 -4 -1\n";

TEST_F(SurfaceFiles, Obj) {
  expect_tetrahedron("t.obj", obj);
  const SurfaceMesh mesh = read_surface_mesh(folder / "t.obj");
  EXPECT_TRUE(mesh.texture.empty());
}

TEST_F(SurfaceFiles, Off) {
  expect_tetrahedron("t.off",
                     "OFF\n4 4 6\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n"
                     "3 0 2 1\n3 0 1 3\n3 1 2 3\n3 2 0 3\n");
}

TEST_F(SurfaceFiles, Ply) {
  expect_tetrahedron("t.PLY",
                     "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\n"
                     "property float y\nproperty float z\nelement face 4\n"
                     "property list uchar int vertex_indices\nend_header\n"
                     "0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 2 1\n3 0 1 3\n3 1 2 3\n3 2 0 3\n");
}

/// Corners of one position are one vertex, counted as they come.
TEST_F(SurfaceFiles, Stl) {
  std::string text = "solid t\n";
  for (const Triangle& face : faces) {
    text += "facet normal 0 0 0\nouter loop\n";
    for (const Index v : face) {
      text += "vertex";
      for (const double x : corners[static_cast<std::size_t>(v)]) text += x == 1 ? " 1" : " 0";
      text += "\n";
    }
    text += "endloop\nendfacet\n";
  }
  const SurfaceMesh mesh = read_surface_mesh(folder.write("t.stl", text + "endsolid t\n"));
  EXPECT_EQ(mesh.triangles.position.size(), 4U);
  EXPECT_NO_THROW(check_closed(mesh.triangles));
  EXPECT_EQ(genus(mesh.triangles), 0);
}

TEST_F(SurfaceFiles, Compressed) {
  const gzFile file = gzopen((folder / "t.obj.gz").c_str(), "wb");
  gzwrite(file, obj.data(), static_cast<unsigned>(obj.size()));
  gzclose(file);
  const SurfaceMesh mesh = read_surface_mesh(folder / "t.obj.gz");
  EXPECT_EQ(mesh.triangles.triangle.size(), 4U);
  const std::string whole = contents(folder / "t.obj.gz");
  folder.write("cut.obj.gz", whole.substr(0, whole.size() - 12));
  EXPECT_EQ(
      refusal([&] { read_surface_mesh(folder / "cut.obj.gz"); }).find(folder / "cut.obj.gz: "), 0U);
}

TEST_F(SurfaceFiles, TextureCoordinatesAndPolygons) {
  const SurfaceMesh mesh = read_surface_mesh(
      folder.write("q.obj",
                   "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 1 1\nvt 0 0.5\n"
                   "f 1/1 2/2 3/3 4/4\n"));
  ASSERT_EQ(mesh.triangles.triangle.size(), 2U);
  EXPECT_EQ(mesh.triangles.triangle[1], (Triangle{0, 2, 3}));
  ASSERT_EQ(mesh.texture.size(), 2U);
  EXPECT_EQ(mesh.texture[1][2], (TextureCoordinate{0, 0.5}));
}

TEST_F(SurfaceFiles, AreWrittenAsTheyAreRead) {
  const SurfaceMesh mesh = read_surface_mesh(folder.write(
      "q.obj", "v 0 0.125 -3e-7\nv 1 0 0\nv 1 1 0\nvt 0 0\nvt 1 0.25\nvt 1 1\nf 1/1 2/2 3/3\n"));
  write_obj(folder / "again.obj", mesh);
  const SurfaceMesh again = read_surface_mesh(folder / "again.obj");
  EXPECT_EQ(again.texture, mesh.texture);
  EXPECT_EQ(again.triangles.position[0], mesh.triangles.position[0]);
  EXPECT_EQ(again.triangles.triangle[0], mesh.triangles.triangle[0]);
}

TEST_F(SurfaceFiles, RefusesWhatItCannotRead) {
  const std::string none = folder / "none.obj";
  EXPECT_EQ(refusal([&] { read_surface_mesh(none); }), none + ": No such file or directory");
  const std::string other = folder.write("t.vtk", "");
  EXPECT_EQ(refusal([&] { read_surface_mesh(other); }),
            other +
                ": surfaces are read from .obj, .off, .ply and .stl files, or those with .gz "
                "behind");
  const std::string broken = folder.write("b.ply", "ply\nthis is none\n");
  EXPECT_EQ(refusal([&] { read_surface_mesh(broken); }).find(broken + ": "), 0U);
  const std::string nan = folder.write("n.obj", "v 0 0 0\nv nan 0 0\nv 0 1 0\nf 1 2 3\n");
  EXPECT_EQ(refusal([&] { read_surface_mesh(nan); }),
            nan + ":2: a vertex is v and three finite numbers");
  const std::string few = folder.write("f.obj", "v 0 0 0\nv 1 1\n");
  EXPECT_EQ(refusal([&] { read_surface_mesh(few); }),
            few + ":2: a vertex is v and three finite numbers");
}

TEST(ClosedSurface, IsWhatATetrahedronIs) {
  EXPECT_EQ(refusal_of(corners, faces), "nothing was thrown");
}

TEST(ClosedSurface, RefusesAHole) {
  EXPECT_EQ(refusal_of(corners, {faces[0], faces[1], faces[2]}),
            "the edge from vertex 1 to 3 belongs to one triangle only: the surface is not closed");
}

TEST(ClosedSurface, RefusesTrianglesThatAreNotOrientedAlike) {
  EXPECT_EQ(refusal_of(corners, {{0, 1, 2}, faces[1], faces[2], faces[3]}),
            "the edge from vertex 1 to 2 is run through in that direction by two triangles: the "
            "surface is not manifold there, or triangles are not oriented alike");
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
            "vertices 1 and 5 are in parts of the surface that do not hang together");
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
