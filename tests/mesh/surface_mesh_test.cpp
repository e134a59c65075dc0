// Surfaces in files, and what makes a triangle soup a closed surface.
#include "surface_mesh.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <limits>

#include "heddle/error.hpp"
#include "heddle/tools/points.hpp"
#include "io/temporary_folder.hpp"
#include "refused.hpp"
#include "support/message_of.hpp"
#include "support/test_data.hpp"
#include "surface_readers.hpp"

namespace heddle::mesh {
namespace {

using test::message_of;

using Triangle = std::array<Index, 3>;

const std::vector<Point> corners = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
const std::vector<Triangle> faces = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {2, 0, 3}};

TriangleMesh mesh_of(const std::vector<Point>& position, const std::vector<Triangle>& triangle) {
  return {Array<Point>(position), Array<Triangle>(triangle)};
}

std::string refusal_of(const std::vector<Point>& position, const std::vector<Triangle>& triangle) {
  return message_of([&] { check_closed(mesh_of(position, triangle)); });
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
                ": surfaces are read from .obj, .off, .ply, .stl, .vtk, .vtu and .vtp files, or "
                "those with .gz behind");
}

SurfaceMesh from_obj(const std::string& text) { return read_obj({"f.obj", text}); }
SurfaceMesh from_off(const std::string& text) { return read_off({"f.off", text}); }
SurfaceMesh from_ply(const std::string& text) { return read_ply({"f.ply", text}); }
SurfaceMesh from_stl(const std::string& text) { return read_stl({"f.stl", text}); }

constexpr auto out_of_range = ErrorKind::out_of_range;
constexpr auto not_finite = ErrorKind::not_finite;

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  std::size_t at = text.find(from);
  EXPECT_NE(at, text.npos) << from;
  for (; at != text.npos; at = text.find(from, at + to.size())) text.replace(at, from.size(), to);
  return text;
}

void expect_tetrahedron(const SurfaceMesh& mesh) {
  const auto& [position, triangle] = mesh.triangles;
  ASSERT_EQ(position.size(), corners.size());
  ASSERT_EQ(triangle.size(), faces.size());
  EXPECT_TRUE(std::equal(corners.begin(), corners.end(), position.begin()));
  EXPECT_TRUE(std::equal(faces.begin(), faces.end(), triangle.begin()));
}

/// Every file that ends before `whole` does is refused, or is the whole mesh.
template <class Read>
void expect_cuts_are_refused(const std::string& whole, const Read& read) {
  std::size_t refused = 0;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    SCOPED_TRACE(size);
    // Of its own, so that a look behind the end is seen.
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

template <class T>
std::string bytes_of(T value, std::endian order = std::endian::little) {
  std::string bytes(sizeof(T), '\0');
  std::memcpy(bytes.data(), &value, sizeof(T));
  if (order != std::endian::native) std::reverse(bytes.begin(), bytes.end());
  return bytes;
}

const std::string off =
    "OFF\n4 4 6\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 2 1\n3 0 1 3\n3 1 2 3\n3 2 0 3\n";
const std::string ply_header =
    "ply\nformat ascii 1.0\ncomment of no use\nobj_info none\nelement vertex 4\n"
    "property float x\nproperty float y\nproperty float z\nelement face 4\n"
    "property list uchar int vertex_indices\nend_header\n";
const std::string ply =
    ply_header + "0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 2 1\n3 0 1 3\n3 1 2 3\n3 2 0 3\n";

/// With elements, properties and types that are of no use.
std::string binary_ply(std::endian order) {
  const std::string name = order == std::endian::little ? "little" : "big";
  std::string text = "ply\nformat binary_" + name +
                     "_endian 1.0\nelement camera 2\nproperty list uint8 double rows\n"
                     "property int8 kind\nelement vertex 4\nproperty double z\n"
                     "property ushort flags\nproperty float32 x\nproperty short y\n"
                     "element face 4\nproperty uint colour\n"
                     "property list int16 uint vertex_index\nproperty float quality\nend_header\n";
  for (const int rows : {2, 0}) {
    text += bytes_of(static_cast<std::uint8_t>(rows), order);
    for (int i = 0; i < rows; ++i) text += bytes_of(NAN, order) + bytes_of(0, order);
    text += bytes_of(std::int8_t{-1}, order);
  }
  for (const Point& p : corners) {
    text += bytes_of(p[2], order) + bytes_of(std::uint16_t{513}, order);
    text += bytes_of(static_cast<float>(p[0]), order);
    text += bytes_of(static_cast<std::int16_t>(p[1]), order);
  }
  for (const Triangle& face : faces) {
    text += bytes_of(7U, order) + bytes_of(std::int16_t{3}, order);
    for (const Index v : face) text += bytes_of(static_cast<std::uint32_t>(v), order);
    text += bytes_of(NAN, order);
  }
  return text;
}

std::string text_stl() {
  std::string text = "solid t facet\n";
  for (const Triangle& face : faces) {
    text += "  facet normal nan 0 0\n    outer loop\n";
    for (const Index v : face) {
      text += "      vertex";
      for (const double x : corners[static_cast<std::size_t>(v)]) text += x == 1 ? " 1" : " -0";
      text += "\n";
    }
    text += "    endloop\n  endfacet\n";
  }
  return text + "endsolid t\n";
}

std::string binary_stl(float unit = 1) {
  std::string text = "solid, although it is binary";
  text.resize(80);
  text += bytes_of(static_cast<std::uint32_t>(faces.size()));
  for (const Triangle& face : faces) {
    text += bytes_of(NAN) + bytes_of(0.0F) + bytes_of(0.0F);
    for (const Index v : face) {
      for (const double x : corners[static_cast<std::size_t>(v)]) {
        text += bytes_of(x == 1 ? unit : v % 2 == 0 ? -0.0F : 0.0F);
      }
    }
    text += "ab";
  }
  return text;
}

/// STL tells vertices in the order of their first use.
void expect_welded(const SurfaceMesh& mesh) {
  EXPECT_EQ(mesh.triangles.position.size(), 4U);
  ASSERT_EQ(mesh.triangles.triangle.size(), 4U);
  EXPECT_EQ(mesh.triangles.triangle[0], (Triangle{0, 1, 2}));
  EXPECT_EQ(mesh.triangles.triangle[1], (Triangle{0, 2, 3}));
  EXPECT_EQ(mesh.triangles.position[1], (Point{0, 1, 0}));
  EXPECT_NO_THROW(check_closed(mesh.triangles));
  EXPECT_EQ(genus(mesh.triangles), 0);
}

TEST_F(SurfaceFiles, AreToldByTheirEndings) {
  expect_tetrahedron("t.off", off);
  expect_tetrahedron("t.Off", off);
  expect_tetrahedron("t.PLY", ply);
  expect_tetrahedron("b.ply", binary_ply(std::endian::little));
  expect_welded(read_surface_mesh(folder.write("t.stl", text_stl())));
  expect_welded(read_surface_mesh(folder.write("b.STL", binary_stl())));
}

TEST(ObjSurface, TakesWhatOthersWrite) {
  expect_tetrahedron(
      from_obj("\xEF\xBB\xBF# named\r\nmtllib a.mtl\ro t\r\tv 0 0 0 1\r  v +1 0e5 0\r\nv 0 1. 0 "
               "0.1 0.2 0.3\n"
               "vn 0 0 1\ng a b\nusemtl none\ns off\nl 1 2\np 1\nf\t1//1 3//1 2//1\nv 0 0 1\nf 1 2 "
               "4 # last\n"
               "f 2 3 4\nf -2 1 -1"));
}

TEST(ObjSurface, PolygonsMayHaveAnyNumberOfCorners) {
  std::string text, face = "f";
  for (int i = 1; i <= 300; ++i) {
    text += "v " + std::to_string(i) + " 0 0\n";
    face += " " + std::to_string(i);
  }
  const SurfaceMesh mesh = from_obj(text + face + "\n");
  ASSERT_EQ(mesh.triangles.triangle.size(), 298U);
  EXPECT_EQ(mesh.triangles.triangle[297], (Triangle{0, 298, 299}));
}

TEST(ObjSurface, HasTextureWhereAllCornersHave) {
  const std::string text = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1/-1 2/1 3/1\n";
  EXPECT_EQ(from_obj("vt 0.5\n" + text).texture[0][2], (TextureCoordinate{0.5, 0}));
  EXPECT_TRUE(from_obj("vt 0 0 0\n" + text + "f 3 2 1\n").texture.empty());
}

TEST(ObjSurface, RefusesWhatIsWrong) {
  const std::string v = "v 0 0 0\nv 1 0 0\nv 0 1 0\n";
  const std::string corner = " is no corner: v, v/vt, v//vn or v/vt/vn";
  expect_refused(
      {
          {"v 0 0 0\n v nan 0 0\n", "f.obj:2: 'nan' is not finite", not_finite},
          {"v 0 0 0\rv 0 1e999 0\r", "f.obj:2: '1e999' is not finite", not_finite},
          {"v 0 0 0\r\nv 1 1\r\n", "f.obj:2: the line ends where a number is needed"},
          {"v", "f.obj:1: the line ends where a number is needed"},
          {"v 0 0 x\n", "f.obj:1: 'x' is no number"},
          {"v 0 0 0 \\\n1\n", "f.obj:1: '\\' is no number"},
          {"vt\n", "f.obj:1: the line ends where a number is needed"},
          {"vt 0 inf\n", "f.obj:1: 'inf' is not finite", not_finite},
          {v + "1 2 3\n", "f.obj:4: '1' is no keyword"},
          {v + "f 1 2\n", "f.obj:4: face 1 has 2 corners; 3 or more are needed"},
          {v + "f 1 2 3\nf 1\n", "f.obj:5: face 2 has 1 corner; 3 or more are needed"},
          {v + "f 1 2 \\\n3\n", "f.obj:4: '\\'" + corner},
          {v + "f 1 2 3/\n", "f.obj:4: '3/'" + corner},
          {v + "f 1 2 3//\n", "f.obj:4: '3//'" + corner},
          {v + "f 1 2 3/1/1/1\n", "f.obj:4: '3/1/1/1'" + corner},
          {v + "f 1 2 /1\n", "f.obj:4: '/1'" + corner},
          {v + "f 1 2 3.5\n", "f.obj:4: '3.5'" + corner},
          {v + "f 1 2 99999999999999999999\n",
           "f.obj:4: '99999999999999999999' is too large a number"},
          {v + "f 1 2 3\nf 1 2 4\nv 5 x 5\n", "f.obj:6: 'x' is no number"},
          {v + "f 1 2 3\nf 1 2 5\nv 5 5 5\n",
           "f.obj:5: face 2 refers to vertex 5, which is not there", out_of_range},
          {v + "f 1 2 99999999999\n",
           "f.obj:4: face 1 refers to vertex 99999999999, which is not there", out_of_range},
          {v + "f 1 2 0\n", "f.obj:4: face 1 refers to vertex 0, which is not there", out_of_range},
          {v + "f 1 2 -4\n", "f.obj:4: face 1 refers to vertex -4, which is not there",
           out_of_range},
          {v + "vt 0 0\nf 1/1 2/1 3/2\n",
           "f.obj:5: face 1 refers to texture coordinate 2, which is not there", out_of_range},
      },
      from_obj);
}

TEST(OffSurface, TakesWhatOthersWrite) {
  const std::string by_hand =
      "# made by hand\nOFF 4 4 # counts\n\n0 0 0\n+1 0 0\n0 1e0 0 # a\n"
      "0 0 1\n\n3 0 2 1 255 0 0\n3 0 1 3 0.1 0.2 0.3 1\n3 1 2 3 7\n3 2 0 3";
  expect_tetrahedron(from_off(by_hand));
  expect_tetrahedron(from_off(replaced(by_hand, "\n", "\r")));
  expect_tetrahedron(from_off(replaced(off, "\n", "\r\n")));
  expect_tetrahedron(from_off(replaced(off, "\n", "\r")));
  const std::string coloured =
      "4 4 6\n0 0 0 9 9\n1 0 0\n0 1 0 1 1 1 255\n0 0 1\n3 0 2 1\n3 0 1 3\n3 1 2 3\n3 2 0 3\n";
  for (const char* keyword : {"COFF ", "NOFF\n", "STOFF\n", "STCNOFF\n"}) {
    expect_tetrahedron(from_off(keyword + coloured));
  }
}

TEST(OffSurface, PolygonsAreFans) {
  const SurfaceMesh mesh = from_off("OFF\n5 1 0\n0 0 0\n1 0 0\n2 1 0\n1 2 0\n0 1 0\n5 4 0 1 2 3\n");
  ASSERT_EQ(mesh.triangles.triangle.size(), 3U);
  EXPECT_EQ(mesh.triangles.triangle[0], (Triangle{4, 0, 1}));
  EXPECT_EQ(mesh.triangles.triangle[2], (Triangle{4, 2, 3}));
}

TEST(OffSurface, RefusesWhatIsWrong) {
  expect_refused(
      {
          {"", "f.off:1: no OFF file: it is empty"},
          {"ply\n", "f.off:1: no OFF file: it must begin with OFF, not 'ply'"},
          {"4 4 6\n", "f.off:1: no OFF file: it must begin with OFF, not '4'"},
          {"4OFF\n1 1 1\n",
           "f.off:1: '4OFF' is not read; OFF is, also with ST, C and N in front, in this order"},
          {"OFF BINARY\n", "f.off:1: binary OFF files are not read"},
          {"OFF\n1\n0 0 0\n", "f.off:2: the line ends where a number is needed"},
          {"OFF\n999999999999 1 0\n0 0 0\n",
           "f.off:2: 999999999999 vertices do not fit in the 11 bytes that follow"},
          {"OFF\n1 999999999999 0\n0 0 0\n",
           "f.off:2: 999999999999 faces do not fit in the 9 bytes that follow"},
          {"OFF\n-1 0 0\n", "f.off:2: -1 is no number of vertices"},
          {replaced(off, "4 4 6", "4 4 6 1"),
           "f.off:2: the line holds more than the counts of vertices, faces and edges"},
          {replaced(off, "4 4 6", "4 3 6"),
           "f.off:10: more lines than the 4 vertices and 3 faces that line 2 promises"},
          {replaced(off, "4 4 6", "4 5 6"), "f.off:11: face 5 of 5: the file ends too early"},
          {replaced(off, "1 0 0", "1 nan 0"), "f.off:4: vertex 2 of 4: 'nan' is not finite",
           not_finite},
          {replaced(off, "1 0 0", "1 -1e999 0"), "f.off:4: vertex 2 of 4: '-1e999' is not finite",
           not_finite},
          {replaced(off, "1 0 0", "1 0"),
           "f.off:4: vertex 2 of 4: the line ends where a number is needed"},
          {replaced(off, "1 0 0", "1 0 0 255"),
           "f.off:4: vertex 2 of 4: the line holds more than three coordinates"},
          {replaced(off, "3 0 1 3", "3 0 1 4"),
           "f.off:8: face 1 refers to vertex 4, which is not there", out_of_range},
          {replaced(off, "3 0 1 3", "3 0 1 -1"),
           "f.off:8: face 1 refers to vertex -1, which is not there", out_of_range},
          {replaced(off, "3 0 1 3", "2 0 1"),
           "f.off:8: face 2 of 4: 2 corners; a face has 3 or more"},
          {replaced(off, "3 0 1 3", "99999 0 1 3"),
           "f.off:8: face 2 of 4: 99999 corners do not fit in the 23 bytes that follow"},
          {replaced(off, "3 0 1 3", "3 0 1"),
           "f.off:8: face 2 of 4: the line ends where a number is needed"},
          {replaced(off, "3 0 1 3", "3 0 1 3 red"), "f.off:8: face 2 of 4: 'red' is no number"},
      },
      from_off);
}

TEST(PlySurface, TakesWhatOthersWrite) {
  expect_tetrahedron(from_ply(ply));
  expect_tetrahedron(from_ply(replaced(ply, "\n", "\r\n")));
  expect_tetrahedron(from_ply(replaced(ply, "\n", "\r")));
  expect_tetrahedron(from_ply(binary_ply(std::endian::little)));
  expect_tetrahedron(from_ply(binary_ply(std::endian::big)));
  // Faces in front, other columns between.
  expect_tetrahedron(from_ply(
      "ply\nformat ascii 1.0\nelement face 4\nproperty list uchar float uv\n"
      "property list uint8 int32 vertex_index\nelement edge 1\nproperty int a\nelement vertex 4\n"
      "property double z\nproperty float nx\nproperty int y\nproperty uchar x\nend_header\n"
      "2 0 0 3 0 2 1\n0 3 0 1 3\n0 3 1 2 3\n1 nan 3 2 0 3\n5\n0 nan 0 0\n0 0 0 1\n0 0 1 0\n"
      "1 0 0 0\n"));
}

TEST(PlySurface, PolygonsAreFans) {
  const SurfaceMesh mesh = from_ply(replaced(replaced(ply, "element face 4", "element face 1"),
                                             "3 0 2 1\n3 0 1 3\n3 1 2 3\n3 2 0 3", "4 3 2 1 0"));
  ASSERT_EQ(mesh.triangles.triangle.size(), 2U);
  EXPECT_EQ(mesh.triangles.triangle[1], (Triangle{3, 1, 0}));
}

TEST(PlySurface, RefusesAHeaderThatIsWrong) {
  const auto with = [](const std::string& from, const std::string& to) {
    return replaced(ply, from, to);
  };
  expect_refused(
      {
          {"", "f.ply:1: no PLY file: it must begin with ply"},
          {"plyformat", "f.ply:1: no PLY file: it must begin with ply"},
          {"ply\nthis is none\n", "f.ply:2: unknown keyword 'this'"},
          {"ply\nend_header\n", "f.ply:2: the header names no format"},
          {with("ascii", "text"),
           "f.ply:2: 'text' is no format: ascii, binary_little_endian or binary_big_endian"},
          {with("1.0", "2.0"), "f.ply:2: version '2.0' is not read; 1.0 is"},
          {with("1.0", ""), "f.ply:2: the line ends where a version is needed"},
          {with("comment of", "format ascii 1.0\ncomment"), "f.ply:3: format for the second time"},
          {with("1.0", "1.0 x"), "f.ply:2: 'x' where the line must end"},
          {with("element vertex", "property int a\nelement vertex"),
           "f.ply:5: a property in front of any element"},
          {with("element vertex 4", "element vertex"),
           "f.ply:5: the line ends where a number is needed"},
          {with("element vertex 4", "element vertex -4"),
           "f.ply:5: -4 is no number of elements 'vertex'"},
          {with("element face", "element vertex"), "f.ply:9: element 'vertex' for the second time"},
          {with("element face", "element faces"), "f.ply:11: the header has no element 'face'"},
          {with("element vertex", "element vertices"),
           "f.ply:11: the header has no element 'vertex'"},
          {with("float y", "float x"), "f.ply:7: property 'x' for the second time"},
          {with("float y", "float w"), "f.ply:11: element 'vertex' has no property 'y'"},
          {with("float y", "list uchar float y"),
           "f.ply:11: property 'y' of element 'vertex' is a list"},
          {with("float y", "real y"), "f.ply:7: 'real' is no type"},
          {with("float y", "float"),
           "f.ply:7: the line ends where the name of a property is needed"},
          {with("uchar int vertex_indices", "uchar int indices"),
           "f.ply:11: element 'face' has no property 'vertex_indices'"},
          {with("uchar int vertex_indices", "uchar float vertex_indices"),
           "f.ply:11: property 'vertex_indices' of element 'face' is no list of whole numbers"},
          {with("list uchar int", "int"),
           "f.ply:11: property 'vertex_indices' of element 'face' is no list of whole numbers"},
          {with("uchar int", "float int"), "f.ply:10: a list is counted in whole numbers"},
          {with("end_header", "property list uchar int vertex_index\nend_header"),
           "f.ply:12: element 'face' has both vertex_indices and vertex_index"},
          {with("end_header", "element none 99999999999\nend_header"),
           "f.ply:12: element 'none' has no properties"},
          {with("end_header", "element edge 99999999999\nproperty int a\nend_header"),
           "f.ply:13: 99999999999 elements 'edge' do not fit in the 57 bytes that follow"},
          {with("end_header", "end_header 1"), "f.ply:11: '1' where the line must end"},
          {ply_header.substr(0, ply_header.size() - 12), "f.ply:10: the file ends too early"},
      },
      from_ply);
}

TEST(PlySurface, RefusesTextThatIsWrong) {
  const auto with = [](const std::string& from, const std::string& to) {
    return ply_header + replaced(ply.substr(ply_header.size()), from, to);
  };
  expect_refused(
      {
          {with("1 0 0", "1 0"), "f.ply:13: vertex 2 of 4: the line ends where a number is needed"},
          {with("1 0 0", "1 0 0 0"),
           "f.ply:13: vertex 2 of 4: the line holds more than the header promises"},
          {with("1 0 0", "1 inf 0"), "f.ply:13: vertex 2 of 4: 'inf' is not finite", not_finite},
          {with("3 0 1 3", "3 0 1 4"), "f.ply:17: face 1 refers to vertex 4, which is not there",
           out_of_range},
          {with("3 0 1 3", "2 0 1"), "f.ply:17: face 2 of 4: 2 corners; a face has 3 or more"},
          {with("3 0 1 3", "-1 0 1"),
           "f.ply:17: face 2 of 4: -1 is no number of entries of a list"},
          {with("3 0 1 3", "3 0 1 2.5"), "f.ply:17: face 2 of 4: '2.5' is no whole number"},
          {with("3 0 1 3\n", ""), "f.ply:19: face 4 of 4: the file ends too early"},
          {ply + "0 0 0\n", "f.ply:20: more lines than the header promises"},
      },
      from_ply);
}

TEST(PlySurface, RefusesBytesThatAreWrong) {
  const std::string whole = binary_ply(std::endian::little);
  const auto with = [&](std::size_t from_end, const std::string& bytes) {
    std::string text = whole;
    return text.replace(text.size() - from_end, bytes.size(), bytes);
  };
  constexpr std::size_t face = 4 + 2 + 3 * 4 + 4;
  expect_refused(
      {
          {with(8, bytes_of(4U)), "f.ply: face 3 refers to vertex 4, which is not there",
           out_of_range},
          {with(8, bytes_of(~0U)), "f.ply: face 3 refers to vertex 4294967295, which is not there",
           out_of_range},
          {with(face - 4, bytes_of(std::int16_t{2})),
           "f.ply: face 4 of 4: 2 corners; a face has 3 or more"},
          {with(face - 4, bytes_of(std::int16_t{-3})),
           "f.ply: face 4 of 4: -3 is no number of entries of a list"},
          {with(face - 4, bytes_of(std::int16_t{30})),
           "f.ply: face 4 of 4: 30 entries of a list do not fit in the 16 bytes that follow"},
          {with(4 * face + 16, bytes_of(std::numeric_limits<double>::quiet_NaN())),
           "f.ply: vertex 4 of 4: a number is not finite", not_finite},
          {with(4 * face + 6, bytes_of(std::numeric_limits<float>::infinity())),
           "f.ply: vertex 4 of 4: a number is not finite", not_finite},
          {whole.substr(0, whole.size() - 1), "f.ply: face 4 of 4: the file ends too early"},
          {whole + "\n", "f.ply: more bytes than the header promises"},
          {replaced(whole, "vertex 4", "vertex 99999"),
           "f.ply: 99999 elements 'vertex' do not fit in the 172 bytes that follow"},
      },
      from_ply);
}

TEST(StlSurface, CornersOfOnePositionAreOneVertex) {
  expect_welded(from_stl(text_stl()));
  expect_welded(from_stl(replaced(text_stl(), "\n", "\r")));
  expect_welded(from_stl(binary_stl()));
  // Several solids are one surface.
  const std::string twice = text_stl() + "\nsolid\nendsolid\n" + text_stl();
  EXPECT_EQ(from_stl(twice).triangles.triangle.size(), 8U);
  EXPECT_EQ(from_stl(twice).triangles.position.size(), 4U);
}

TEST(StlSurface, RefusesWhatIsWrong) {
  const auto with = [](const std::string& from, const std::string& to) {
    return replaced(text_stl(), from, to);
  };
  const std::string binary = binary_stl();
  expect_refused(
      {
          {"",
           "f.stl: no STL file: neither text that begins with 'solid' nor 84 bytes and triangles"},
          {"facet normal 0 0 1\n",
           "f.stl: no STL file: neither text that begins with 'solid' nor 84 bytes and triangles"},
          {binary.substr(0, 200),
           "f.stl: the triangles that its header counts take 284 bytes with it, the file has 200"},
          {binary + "\n",
           "f.stl: the triangles that its header counts take 284 bytes with it, the file has 285"},
          {binary_stl(NAN), "f.stl: triangle 1 of 4: a number is not finite", not_finite},
          {with("vertex 1 -0 -0", "vertex nan 0 0"), "f.stl:6: 'nan' is not finite", not_finite},
          {with("vertex 1 -0 -0", "vertex 1 0"), "f.stl:7: 'endloop' is no number"},
          {with("outer", "inner"), "f.stl:3: 'inner' where 'outer' is needed"},
          {with("endloop", "vertex 0 0 0"), "f.stl:7: 'vertex' where 'endloop' is needed"},
          {with("endsolid t", "face"), "f.stl:30: 'face' where 'facet' or 'endsolid' is needed"},
          {with("endsolid t\n", ""), "f.stl:30: the file ends too early"},
          {text_stl() + "x\n", "f.stl:31: 'x' where 'solid' is needed"},
      },
      from_stl);
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

TEST(ClosedSurface, IsWhatATetrahedronIs) { EXPECT_EQ(refusal_of(corners, faces), "accepted"); }

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
