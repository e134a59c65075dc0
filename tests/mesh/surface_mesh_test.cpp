// Surfaces in files: endings, compression, and files that end too early.
#include "surface_mesh.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <bit>
#include <string>

#include "heddle/error.hpp"
#include "io/temporary_folder.hpp"
#include "read/surface_readers.hpp"
#include "support/message_of.hpp"
#include "support/test_data.hpp"
#include "surface_texts.hpp"

namespace heddle::mesh {
namespace {

using test::message_of;

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

TEST_F(SurfaceFiles, Compressed) {
  const gzFile file = gzopen((folder / "t.obj.gz").c_str(), "wb");
  gzwrite(file, obj.data(), static_cast<unsigned>(obj.size()));
  gzclose(file);
  const SurfaceMesh mesh = read_surface_mesh(folder / "t.obj.gz");
  EXPECT_EQ(mesh.triangles.triangle.size(), 4U);
  const std::string whole = contents(folder / "t.obj.gz");
  folder.write("T.OBJ.GZ", whole);
  EXPECT_EQ(read_surface_mesh(folder / "T.OBJ.GZ").triangles.triangle.size(), 4U);
  folder.write("cut.obj.gz", whole.substr(0, whole.size() - 12));
  EXPECT_EQ(
      message_of([&] { read_surface_mesh(folder / "cut.obj.gz"); }).find(folder / "cut.obj.gz: "),
      0U);
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
  EXPECT_EQ(message_of([&] { read_surface_mesh(none); }), none + ": No such file or directory");
  const std::string other = folder.write("t.3ds", "");
  EXPECT_EQ(message_of([&] { read_surface_mesh(other); }),
            other +
                ": surfaces are read from .obj, .off, .ply, .stl, .vtk, .vtu and .vtp files, also "
                "with .gz appended");
}

TEST_F(SurfaceFiles, AreKnownByTheirEndings) {
  expect_tetrahedron("t.off", off);
  expect_tetrahedron("t.Off", off);
  expect_tetrahedron("t.PLY", ply);
  expect_tetrahedron("b.ply", binary_ply(std::endian::little));
  expect_welded(read_surface_mesh(folder.write("t.stl", text_stl())));
  expect_welded(read_surface_mesh(folder.write("b.STL", binary_stl())));
}

/// Every truncation of `whole` is refused, or yields the whole mesh.
template <class Read>
void expect_cuts_are_refused(const std::string& whole, const Read& read) {
  std::size_t refused = 0;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    SCOPED_TRACE(size);
    // A separate string, so that reads past its end are detected.
    const std::string cut = whole.substr(0, size);
    try {
      expect_tetrahedron(read(cut));
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()).find("f."), 0U);
      ++refused;
    }
  }
  EXPECT_GE(refused + 8, whole.size());  // "endsolid t", without its name and line end
}

TEST(CutSurfaceFiles, AreRefused) {
  expect_cuts_are_refused(off, from_off);
  expect_cuts_are_refused(ply, from_ply);
  expect_cuts_are_refused(binary_ply(std::endian::little), from_ply);
  expect_cuts_are_refused(binary_ply(std::endian::big), from_ply);
  const auto welded = [](const std::string& text) {
    SurfaceMesh mesh = from_stl(text);
    expect_welded(mesh);
    mesh.triangles = mesh_of(corners, faces);
    return mesh;
  };
  expect_cuts_are_refused(text_stl(), welded);
  expect_cuts_are_refused(binary_stl(), welded);
}

struct Scan {
  const char* name;
  std::size_t vertices, triangles;
  int genus;
};

TEST(ScannedSurface, IsClosed) {
  for (const Scan& scan : {Scan{"bunny_closed_34835.off.gz", 34835, 69666, 0},
                           Scan{"kitten.obj.gz", 53123, 106246, 1}}) {
    SCOPED_TRACE(scan.name);
    const std::string name = std::string("meshes/") + scan.name;
    if (!test::has_test_data(name)) GTEST_SKIP() << test::no_test_data(name);
    const TriangleMesh mesh = read_surface_mesh(test::test_data(name)).triangles;
    EXPECT_EQ(mesh.position.size(), scan.vertices);
    EXPECT_EQ(mesh.triangle.size(), scan.triangles);
    EXPECT_NO_THROW(check_closed(mesh));
    EXPECT_EQ(genus(mesh), scan.genus);
  }
}

}  // namespace
}  // namespace heddle::mesh
