// Surfaces from .obj, .off and .stl files.
#include "read/surface_readers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "heddle/tools/team.hpp"
#include "refused.hpp"
#include "support/message_of.hpp"
#include "surface_texts.hpp"

namespace heddle::mesh {
namespace {

TEST(ObjSurface, TakesWhatOthersWrite) {
  expect_tetrahedron(
      from_obj("\xEF\xBB\xBF# named\r\nmtllib a.mtl\ro t\r\tv 0 0 0 1\r  v +1 0e5 0\r\nv 0 1. 0 "
               "0.1 0.2 0.3\n"
               "vn 0 0 1\ng a b\nusemtl none\ns off\nl 1 2\np 1\nf\t1//1 3//1 2//1\nv 0 0 1\nf 1 2 "
               "4 # last\n"
               "f 2 3 4\nf -2 1 -1"));
}

/// Numbers after a slash may be missing, and a line may continue in the next one.
TEST(ObjSurface, TakesSlashesAtTheEndAndLinesThatGoOn) {
  const std::string v = "v 0 0 \\\n0\nv 1 0 0\r\nv 0 1 0\nv 0\\\r\n 0 1\n";
  expect_tetrahedron(from_obj(v + "f 1/ 3/ 2/\nf 1// 2// 4//\nf \\\n2 \\\r3\\\n 4\nf 3 1 4"));
  // A comment does not continue.
  expect_tetrahedron(from_obj(v + "# C:\\\nf 1 3 2\nl 1 \\\n2\nf 1 2 4\nf 2 3 4\nf 3 1 4"));
  const SurfaceMesh textured = from_obj(v + "vt 0.5 1\nf 1/1/ 2/1/ 3/1/\n");
  EXPECT_EQ(textured.texture[0][2], (TextureCoordinate{0.5, 1}));
  EXPECT_TRUE(from_obj(v + "vt 0.5 1\nf 1/1/ 2/1/ 3//\n").texture.empty());
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

/// A long text, which threads read in parts.
TEST(ObjSurface, IsTheSameByAnyNumberOfThreads) {
  constexpr Index side = 100;
  std::string text;
  for (Index i = 0; i < side * side; ++i) {
    text += "v " + std::to_string(i % side) + " " + std::to_string(i / side) + " 0.25\n";
  }
  const auto corner = [](Index i) { return std::to_string(i + 1) + "/" + std::to_string(i + 1); };
  for (Index i = 0; i + side + 1 < side * side; ++i) {
    text += "vt 0." + std::to_string(i) + " 1\n";
    text += "f " + corner(i) + " " + corner(i + 1) + " " + corner(i + side) + "\n";
  }
  for (Index i = 0; i <= side; ++i) text += "vt 0 0.5\n";
  const auto read_by = [](int threads, const std::string& bytes) {
    set_default_threads(threads);
    const SurfaceMesh mesh = read_obj({"a.obj", bytes});
    set_default_threads(0);
    return mesh;
  };
  const std::string back = text + "f -1/-1 -2/-2 -3/-3\n";  // which is read as a whole
  for (const std::string& bytes : {text, back}) {
    const SurfaceMesh one = read_by(1, bytes), many = read_by(4, bytes);
    EXPECT_EQ(one.texture.size(), one.triangles.triangle.size());
    EXPECT_TRUE(std::ranges::equal(one.triangles.position, many.triangles.position));
    EXPECT_TRUE(std::ranges::equal(one.triangles.triangle, many.triangles.triangle));
    EXPECT_EQ(one.texture, many.texture);
  }
  for (const std::string wrong : {"f 1/1 2/2 12345/1\n", "f 1/1 2/2\n", "v 0 0 zero\n"}) {
    const auto refusal = [&](int threads) {
      return test::message_of([&] { read_by(threads, text + wrong + "v 0 0 0\n"); });
    };
    EXPECT_EQ(refusal(4), refusal(1));
    EXPECT_NE(refusal(4).find("a.obj:29900: "), std::string::npos) << refusal(4);
  }
  set_default_threads(0);
}

TEST(ObjSurface, RefusesWhatIsWrong) {
  const std::string v = "v 0 0 0\nv 1 0 0\nv 0 1 0\n";
  const std::string corner = " is not a corner of the form v, v/vt, v//vn or v/vt/vn";
  expect_refused(
      {
          {"v 0 0 0\n v nan 0 0\n", "f.obj:2: 'nan' is not finite", not_finite},
          {"v 0 0 0\rv 0 1e999 0\r", "f.obj:2: '1e999' is not finite", not_finite},
          {"v 0 0 0\r\nv 1 1\r\n", "f.obj:2: the line ends where a number is needed"},
          {"v", "f.obj:1: the line ends where a number is needed"},
          {"v 0 0 x\n", "f.obj:1: 'x' is not a number"},
          {"v 0 0 0 \\", "f.obj:1: '\\' is not a number"},
          {"vt\n", "f.obj:1: the line ends where a number is needed"},
          {"vt 0 inf\n", "f.obj:1: 'inf' is not finite", not_finite},
          {v + "1 2 3\n", "f.obj:4: '1' is not a keyword"},
          {v + "f 1 2\n", "f.obj:4: face 1 has 2 corners; 3 or more are needed"},
          {v + "f 1 2 3\nf 1\n", "f.obj:5: face 2 has 1 corner; 3 or more are needed"},
          {v + "f 1 2 \\ \n3\n", "f.obj:4: '\\'" + corner},
          {v + "f 1 2 \\\n3 x\n", "f.obj:5: 'x'" + corner},
          {v + "f 1 2\x04 3\n", "f.obj:4: control byte 0x04 in the text"},
          {v + "f 1 2 3/1/1/1\n", "f.obj:4: '3/1/1/1'" + corner},
          {v + "f 1 2 /1\n", "f.obj:4: '/1'" + corner},
          {v + "f 1 2 3.5\n", "f.obj:4: '3.5'" + corner},
          {v + "f 1 2 99999999999999999999\n",
           "f.obj:4: '99999999999999999999' is too large a number"},
          {v + "f 1 2 3\nf 1 2 4\nv 5 x 5\n", "f.obj:6: 'x' is not a number"},
          {v + "f 1 2 3\nf 1 2 5\nv 5 5 5\n",
           "f.obj:5: face 2 refers to vertex 5, which does not exist", out_of_range},
          {v + "f 1 2 99999999999\n",
           "f.obj:4: face 1 refers to vertex 99999999999, which does not exist", out_of_range},
          {v + "f 1 2 0\n", "f.obj:4: face 1 refers to vertex 0, which does not exist",
           out_of_range},
          {v + "f 1 2 -4\n", "f.obj:4: face 1 refers to vertex -4, which does not exist",
           out_of_range},
          {v + "vt 0 0\nf 1/1 2/1 3/2\n",
           "f.obj:5: face 1 refers to texture coordinate 2, which does not exist", out_of_range},
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
  expect_tetrahedron(from_off("\xEF\xBB\xBF" + off));
  for (const char* keyword : {"COFF ", "NOFF\n", "STOFF\n", "STCNOFF\n", "coff\n"}) {
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
          {"", "f.off:1: not an OFF file: it is empty"},
          {"ply\n", "f.off:1: not an OFF file: it must begin with OFF, not 'ply'"},
          {"4 4 6\n", "f.off:1: not an OFF file: it must begin with OFF, not '4'"},
          {"4OFF\n1 1 1\n",
           "f.off:1: '4OFF' is not supported; OFF is, also with ST, C and N before it, in this "
           "order"},
          {"OFF BINARY\n", "f.off:1: binary OFF files are not supported"},
          {replaced(off, "4 4 6", "4 4\x06"), "f.off:2: control byte 0x06 in the text"},
          {"OFF\n1\n0 0 0\n", "f.off:2: the line ends where a number is needed"},
          {"OFF\n999999999999 1 0\n0 0 0\n",
           "f.off:2: 999999999999 vertices do not fit in the 11 bytes that follow"},
          {"OFF\n1 999999999999 0\n0 0 0\n",
           "f.off:2: 999999999999 faces do not fit in the 9 bytes that follow"},
          {"OFF\n-1 0 0\n", "f.off:2: -1 is not a valid number of vertices"},
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
           "f.off:8: face 1 refers to vertex 4, which does not exist", out_of_range},
          {replaced(off, "3 0 1 3", "3 0 1 -1"),
           "f.off:8: face 1 refers to vertex -1, which does not exist", out_of_range},
          {replaced(off, "3 0 1 3", "2 0 1"),
           "f.off:8: face 2 of 4: 2 corners; a face has 3 or more"},
          {replaced(off, "3 0 1 3", "99999 0 1 3"),
           "f.off:8: face 2 of 4: 99999 corners do not fit in the 23 bytes that follow"},
          {replaced(off, "3 0 1 3", "3 0 1"),
           "f.off:8: face 2 of 4: the line ends where a number is needed"},
          {replaced(off, "3 0 1 3", "3 0 1 3 red"), "f.off:8: face 2 of 4: 'red' is not a number"},
      },
      from_off);
}

TEST(StlSurface, CornersOfOnePositionAreOneVertex) {
  expect_welded(from_stl(text_stl()));
  expect_welded(from_stl(replaced(text_stl(), "\n", "\r")));
  expect_welded(from_stl(binary_stl()));
  // Several solids form one surface.
  const std::string twice = text_stl() + "\nsolid\nendsolid\n" + text_stl();
  EXPECT_EQ(from_stl(twice).triangles.triangle.size(), 8U);
  EXPECT_EQ(from_stl(twice).triangles.position.size(), 4U);
}

TEST(StlSurface, TakesKeywordsAsOthersWriteThem) {
  std::string upper = text_stl();
  std::ranges::transform(upper, upper.begin(), [](char c) { return std::toupper(c); });
  expect_welded(from_stl(upper));
  expect_welded(from_stl("\xEF\xBB\xBF" + text_stl()));
  std::string parted = text_stl();
  for (const std::string keyword : {"loop", "facet", "solid"}) {
    parted = replaced(parted, "end" + keyword, "End " + keyword);
  }
  expect_welded(from_stl(parted));
}

/// Programs pad blocks, or append a few bytes of their own; an additional triangle would be lost.
TEST(StlSurface, TakesBytesAfterItsTriangles) {
  expect_welded(from_stl(binary_stl() + "\n"));
  expect_welded(from_stl(binary_stl() + std::string(49, 'x')));
  expect_welded(from_stl(binary_stl() + std::string(4096, '\0')));
}

TEST(StlSurface, RefusesWhatIsWrong) {
  const auto with = [](const std::string& from, const std::string& to) {
    return replaced(text_stl(), from, to);
  };
  const std::string binary = binary_stl();
  expect_refused(
      {
          {"",
           "f.stl: not an STL file: neither text that begins with 'solid' nor a header of 84 bytes "
           "and triangles"},
          {"facet normal 0 0 1\n",
           "f.stl: not an STL file: neither text that begins with 'solid' nor a header of 84 bytes "
           "and triangles"},
          {binary.substr(0, 200),
           "f.stl: the header and the triangles that it counts take 284 bytes, but the file has "
           "200"},
          {binary + std::string(50, 'x'),
           "f.stl: the header and the triangles that it counts take 284 bytes, but the file has "
           "334"},
          {with("normal nan", "normal \x05"), "f.stl:2: control byte 0x05 in the text"},
          {with("vertex", std::string("vertex\0", 7)), "f.stl:4: control byte 0x00 in the text"},
          {binary_stl(NAN), "f.stl: triangle 1 of 4: a number is not finite", not_finite},
          {with("vertex 1 -0 -0", "vertex nan 0 0"), "f.stl:6: 'nan' is not finite", not_finite},
          {with("vertex 1 -0 -0", "vertex 1 0"), "f.stl:7: 'endloop' is not a number"},
          {with("outer", "inner"), "f.stl:3: 'inner' where 'outer' is needed"},
          {with("endloop", "vertex 0 0 0"), "f.stl:7: 'vertex' where 'endloop' is needed"},
          {with("endsolid t", "face"), "f.stl:30: 'face' where 'facet' or 'endsolid' is needed"},
          {with("endsolid t\n", ""), "f.stl:30: the file ends too early"},
          {text_stl() + "x\n", "f.stl:31: 'x' where 'solid' is needed"},
      },
      from_stl);
}

}  // namespace
}  // namespace heddle::mesh
