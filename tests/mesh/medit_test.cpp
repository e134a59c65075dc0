// Medit's meshes: the sections that are read or skipped, and one line for every fault.
#include <gtest/gtest.h>

#include "read/mesh_readers.hpp"
#include "refused.hpp"

using namespace heddle;
using namespace heddle::mesh;

namespace {

using Corners = std::vector<std::array<Index, 4>>;
using Triangles = std::vector<std::array<Index, 3>>;

const std::string medit_head = "MeshVersionFormatted 1\nDimension 3\n";
const std::string vertices = "Vertices\n4\n0 0 0 0\n1 0 0 0\n0 1 0 0\n0 0 1 0\n";

SolidMesh read_text(const std::string& text) { return read_medit({"m.mesh", text}); }

TEST(Medit, ReadsVerticesTetrahedraAndTriangles) {
  const SolidMesh mesh = read_text(
      "MeshVersionFormatted 2\r\n# of a test\r\n\r\nDimension\r\n3\r\nVertices 5\r\n"
      "0 0 0 1\r\n1. 0 0 1\r\n0 .5 -0 2 # a comment\r\n0 1e0 +1.5D-03 1\r\n"
      "1.0000000000000002 2 3 -4\r\nTriangles\r\n2\r\n1 2 3 7\r\n3\r\n2\r\n5 -8\r\n"
      "Tetrahedra\r\n2\r\n1 2 3 4  9\r\n2 3 4 5 0\r\nEnd\r\nwhat follows is ignored");
  ASSERT_EQ(mesh.position.size(), 5u);
  EXPECT_EQ(mesh.position[2], (Point{0, 0.5, 0}));
  EXPECT_EQ(mesh.position[3], (Point{0, 1, 0.0015}));
  EXPECT_EQ(mesh.position[4], (Point{1.0000000000000002, 2, 3}));
  EXPECT_EQ(mesh.tetrahedron, (Corners{{0, 1, 2, 3}, {1, 2, 3, 4}}));
  EXPECT_EQ(mesh.region, (std::vector<int>{9, 0}));
  EXPECT_EQ(mesh.triangle, (Triangles{{0, 1, 2}, {2, 1, 4}}));
  EXPECT_EQ(mesh.surface, (std::vector<int>{7, -8}));
  EXPECT_TRUE(mesh.names.empty());
}

TEST(Medit, TakesSectionsInAnyOrderAndAnEndOfFileForEnd) {
  const SolidMesh mesh = read_text(medit_head + "Tetrahedra 1 1 2 3 4 5 " + vertices);
  EXPECT_EQ(mesh.tetrahedron, (Corners{{0, 1, 2, 3}}));
  EXPECT_EQ(read_text(medit_head + vertices + "Tetrahedra 1 1 2 3 4 567").region,
            (std::vector<int>{567}));
}

/// Old programs and editors write such files; versions differ only in binary files.
TEST(Medit, TakesVersionsKeywordsInAnyCaseAndAByteOrderMark) {
  for (const std::string version : {"3", "4"}) {
    const SolidMesh mesh = read_text("\xEF\xBB\xBFmeshversionformatted " + version +
                                     "\nDIMENSION 3\nvertices 4\n0 0 0 0\n1 0 0 0\n0 1 0 0\n"
                                     "0 0 1 0\ncorners 1\n1\nTETRAHEDRA 1\n1 2 3 4 5\nend\n");
    EXPECT_EQ(mesh.tetrahedron, (Corners{{0, 1, 2, 3}}));
    EXPECT_EQ(mesh.region, (std::vector<int>{5}));
  }
}

/// Readers once treated control bytes as blanks, so that a damaged number became two.
TEST(Medit, RefusesControlBytes) {
  using namespace std::string_literals;
  const std::string more = " 0 0\n1 0 0 0\n0 1 0 0\n0 0 1 0\nTetrahedra 1\n1 2 3 4 5\n";
  expect_refused({{medit_head + "Vertices 4\n0\x01"s + more,
                   "m.mesh:4: vertex 1 of 4: control byte 0x01 in the text"},
                  {medit_head + "Vertices 4\n0 \0"s + more,
                   "m.mesh:4: vertex 1 of 4: control byte 0x00 in the text"},
                  {medit_head + "Vertices 4\n0 0 0 \x1b\n"s + more,
                   "m.mesh:4: vertex 1 of 4: control byte 0x1b in the text"},
                  {medit_head + "\x7f"s + vertices, "m.mesh:3: control byte 0x7f in the text"}},
                 read_text);
  EXPECT_EQ(read_text(medit_head + "# \x01\n"s + vertices + "\f\vTetrahedra 1\n1 2 3 4 5").region,
            (std::vector<int>{5}));
}

TEST(Medit, SkipsWhatSaysNothingOfTheSolid) {
  const SolidMesh mesh =
      read_text(medit_head + "Corners 2\n1 2\nRequiredVertices\n1\n1\n" + vertices +
                "Edges\n2\n1 2 0\n2 3 0\nRidges 1\n1\nRequiredEdges 1\n1\nNormals 1\n0 0 1.0\n"
                "NormalAtVertices 1\n1 1\nNormalAtTriangleVertices 1 1 1 1\nTangents 1 0.5 0 0\n"
                "TangentAtEdgeVertices 1 1 1 1\nSubDomainFromMesh 1\n3 1 1 0\nQuadrilaterals 0\n"
                "Hexahedra\n0\nTetrahedra\n1\n1 2 3 4 5\nEnd\n");
  EXPECT_EQ(mesh.tetrahedron.size(), 1u);
  EXPECT_TRUE(mesh.triangle.empty());
}

TEST(Medit, RefusesWhatItDoesNotKnow) {
  expect_refused(
      {{"", "m.mesh:1: not a Medit mesh: it must begin with MeshVersionFormatted"},
       {"$MeshFormat\n", "m.mesh:1: not a Medit mesh: it must begin with MeshVersionFormatted"},
       {"MeshVersionFormatted 5\n", "m.mesh:1: version 5 is not supported; 1 to 4 are"},
       {"MeshVersionFormatted x\n", "m.mesh:1: 'x' is not a whole number"},
       {"MeshVersionFormatted", "m.mesh:1: the file ends too early"},
       {"MeshVersionFormatted 1\n\nDimension 2\n",
        "m.mesh:3: a mesh in 2 dimensions; 3 are needed"},
       {"MeshVersionFormatted 1\n" + vertices, "m.mesh:2: Vertices before Dimension"},
       {medit_head + "Tetraeders 1\n", "m.mesh:3: unknown keyword 'Tetraeders'"},
       {medit_head + "\x9b\x7f"
                     "a\n",
        "m.mesh:3: unknown keyword '??a'"},
       {medit_head + vertices + "Hexahedra\n1\n",
        "m.mesh:9: 'Hexahedra': only tetrahedra and triangles are read"},
       {medit_head + "Quadrilaterals 2\n",
        "m.mesh:3: 'Quadrilaterals': only tetrahedra and triangles are read"},
       {medit_head + "Prisms 1\n0", "m.mesh:3: 'Prisms': only tetrahedra and triangles are read"},
       {medit_head + "TetrahedraP2 1\n", "m.mesh:3: 'TetrahedraP2': only linear elements are read"},
       {medit_head + "ExtraVerticesAtTetrahedra 1\n",
        "m.mesh:3: 'ExtraVerticesAtTetrahedra': only linear elements are read"},
       {medit_head + vertices + vertices, "m.mesh:9: Vertices is given twice"},
       {medit_head + "Triangles 0\nTriangles 0\n", "m.mesh:4: Triangles is given twice"},
       {medit_head + vertices + "End", "m.mesh:9: the file has no tetrahedra"}},
      read_text);
}

TEST(Medit, RefusesCountsThatDoNotMatch) {
  expect_refused({{medit_head + vertices + "1 1 1 0\n",
                   "m.mesh:9: more vertices than the 4 that line 4 promises"},
                  {medit_head + "Vertices 3\n0 0 0 0\n1 0 0 0\nTetrahedra 1\n1 2 3 4 0\n",
                   "m.mesh:6: vertex 3 of 3: 'Tetrahedra' is not a number"},
                  {medit_head + vertices + "Tetrahedra 2\n1 2 3 4 5\nEnd   \t  \n",
                   "m.mesh:11: tetrahedron 2 of 2: 'End' is not a whole number"},
                  {medit_head + vertices + "Edges\n1\n1 2 0\n2 3 0\n",
                   "m.mesh:12: more entries than the 1 that line 10 promises"},
                  {medit_head + "Vertices 99999999999\n0 0 0 0\n",
                   "m.mesh:3: 99999999999 vertices do not fit in the 9 bytes that follow"},
                  {medit_head + "Vertices 99999999999999999999\n",
                   "m.mesh:3: '99999999999999999999' is too large a number"},
                  {medit_head + "Vertices -1\n", "m.mesh:3: -1 is not a valid number of vertices"},
                  {medit_head + vertices + "Tetrahedra 3\n1 2 3 4 5\n",
                   "m.mesh:9: 3 tetrahedra do not fit in the 11 bytes that follow"},
                  {medit_head + "Vertices 1.5\n", "m.mesh:3: '1.5' is not a whole number"}},
                 read_text);
}

TEST(Medit, RefusesNumbersThatAreNone) {
  const auto with = [](const std::string& x) {
    return medit_head + "Vertices\n1\n0 " + x + " 0 0\n";
  };
  const std::string place = "m.mesh:5: vertex 1 of 1: ";
  const auto not_finite = ErrorKind::not_finite;
  expect_refused({{with("nan"), place + "'nan' is not finite", not_finite},
                  {with("-inf"), place + "'-inf' is not finite", not_finite},
                  {with("1e999"), place + "'1e999' is not finite", not_finite},
                  {with("1.0x"), place + "'1.0x' is not a number"},
                  {with("0x10"), place + "'0x10' is not a number"},
                  {with("+-1"), place + "'+-1' is not a number"},
                  {with("+"), place + "'+' is not a number"},
                  {medit_head + "Vertices\n1\n0 0 0 1.0\n", place + "'1.0' is not a whole number"},
                  {medit_head + vertices + "Tetrahedra 1 1 2 3 4 4294967296\n",
                   "m.mesh:9: tetrahedron 1 of 1: '4294967296' is too large a number"}},
                 read_text);
  EXPECT_EQ(read_text(medit_head +
                      "Vertices 4 1e-999 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 Tetrahedra 1 1 2 3 4 0")
                .position[0][0],
            0);
}

TEST(Medit, NamesElementsOfVerticesThatAreNotThere) {
  const auto range = ErrorKind::out_of_range;
  expect_refused(
      {{medit_head + vertices + "Tetrahedra 2\n1 2 3 4 0\n1 2\n5 4 0\n",
        "m.mesh:12: tetrahedron 2 refers to vertex 5, which does not exist", range},
       {medit_head + vertices + "Tetrahedra 1\n0 2 3 4 0\n",
        "m.mesh:10: tetrahedron 1 refers to vertex 0, which does not exist", range},
       {medit_head + vertices + "Tetrahedra 1\n1 2 3 4000000000 0\n",
        "m.mesh:10: tetrahedron 1 refers to vertex 4000000000, which does not exist", range},
       {medit_head + vertices + "Triangles 1\n1 2 9 0\nTetrahedra 1\n1 2 3 4 0\n",
        "m.mesh:10: triangle 1 refers to vertex 9, which does not exist", range},
       {medit_head + "Tetrahedra 1\n1 2 3 4 0\n",
        "m.mesh:4: tetrahedron 1 refers to vertex 1, which does not exist", range}},
      read_text);
}

TEST(Medit, CutAnywhereIsRefusedOrWhole) {
  const std::string text = medit_head + vertices + "Tetrahedra\n1\n1 2 3 4 5\n";
  const std::size_t whole = text.size() - 1;  // without the line end
  for (std::size_t size = 0; size < whole; ++size) {
    EXPECT_THROW(read_text(text.substr(0, size)), Error) << size;
  }
  EXPECT_EQ(read_text(text.substr(0, whole)).tetrahedron.size(), 1u);
}

}  // namespace
