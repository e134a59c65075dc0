// Meshes of solids by the names of their files, plain and compressed.
#include "solid_mesh.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include "heddle/error.hpp"
#include "io/temporary_folder.hpp"
#include "support/test_data.hpp"

using namespace heddle;
using namespace heddle::mesh;

namespace {

const std::string medit =
    "MeshVersionFormatted 1\nDimension 3\nVertices\n4\n0 0 0 0\n1 0 0 0\n0 1 0 0\n0 0 1 0\n"
    "Tetrahedra\n1\n1 2 3 4 5\nEnd\n";
const std::string gmsh =
    "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n"
    "$EndNodes\n$Elements\n1\n1 4 2 5 1 1 2 3 4\n$EndElements\n";
const std::string node = "4 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n";
const std::string ele = "1 4 1\n1 1 2 3 4 5\n";
const std::string face = "1 1\n1 1 2 3 6\n";

void write_gzip(const std::string& path, const std::string& text) {
  const gzFile file = gzopen(path.c_str(), "wb");
  ASSERT_EQ(gzwrite(file, text.data(), static_cast<unsigned>(text.size())),
            static_cast<int>(text.size()));
  ASSERT_EQ(gzclose(file), Z_OK);
}

void expect_tetrahedron(const SolidMesh& mesh) {
  EXPECT_EQ(mesh.position.size(), 4u);
  EXPECT_EQ(mesh.tetrahedron, (std::vector<std::array<Index, 4>>{{0, 1, 2, 3}}));
  EXPECT_EQ(mesh.region, (std::vector<int>{5}));
}

void expect_error(const std::string& path, ErrorKind kind, const std::string& message) {
  try {
    read_solid_mesh(path);
    ADD_FAILURE() << path;
  } catch (const Error& error) {
    EXPECT_EQ(error.what(), path + message);
    EXPECT_EQ(error.kind(), kind);
  }
}

TEST(SolidMesh, IsReadByItsName) {
  const TemporaryFolder folder;
  expect_tetrahedron(read_solid_mesh(folder.write("a.mesh", medit)));
  expect_tetrahedron(read_solid_mesh(folder.write("a.msh", gmsh)));
  expect_tetrahedron(read_solid_mesh(folder.write("B.MSH", gmsh)));
  write_gzip(folder / "a.mesh.gz", medit);
  expect_tetrahedron(read_solid_mesh(folder / "a.mesh.gz"));
  write_gzip(folder / "a.msh.gz", gmsh);
  expect_tetrahedron(read_solid_mesh(folder / "a.msh.gz"));
  // The contents show whether a file is compressed.
  write_gzip(folder / "c.mesh", medit);
  expect_tetrahedron(read_solid_mesh(folder / "c.mesh"));
}

TEST(SolidMesh, FindsTheOtherFilesOfTetGen) {
  const TemporaryFolder folder;
  const std::string a_node = folder.write("a.1.node", node), a_ele = folder.write("a.1.ele", ele);
  expect_tetrahedron(read_solid_mesh(a_node));
  expect_tetrahedron(read_solid_mesh(a_ele));
  EXPECT_TRUE(read_solid_mesh(a_ele).triangle.empty());
  folder.write("a.1.face", face);
  EXPECT_EQ(read_solid_mesh(a_node).surface, (std::vector<int>{6}));

  write_gzip(folder / "b.node.gz", node);
  write_gzip(folder / "b.ele.gz", ele);
  write_gzip(folder / "b.face.gz", face);
  for (const char* name : {"b.node.gz", "b.ele.gz"}) {
    const SolidMesh mesh = read_solid_mesh(folder / name);
    expect_tetrahedron(mesh);
    EXPECT_EQ(mesh.surface, (std::vector<int>{6}));
  }
}

TEST(SolidMesh, RefusesNamesAndFiles) {
  const TemporaryFolder folder;
  const std::string known =
      ": meshes of tetrahedra are read from .mesh, .msh, .node, .ele, .vtk and .vtu files, also "
      "with .gz appended";
  for (const char* name : {"a.stl", "a", "a.mesh.zip", ".gz", "a.meshb", ""}) {
    expect_error(name, ErrorKind::usage, known);
  }
  expect_error(folder / "none.mesh", ErrorKind::io, ": No such file or directory");
  std::filesystem::create_directory(folder / "d.msh");
  expect_error(folder / "d.msh", ErrorKind::io, ": is a directory");
  expect_error(folder.write("a.mesh", gmsh), ErrorKind::malformed_file,
               ":1: not a Medit mesh: it must begin with MeshVersionFormatted");

  const std::string lone = folder.write("lone.node", node);
  try {
    read_solid_mesh(lone);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.what(), (folder / "lone.ele") + ": No such file or directory");
    EXPECT_EQ(error.kind(), ErrorKind::io);
  }
}

TEST(SolidMesh, RefusesDamagedCompression) {
  const TemporaryFolder folder;
  write_gzip(folder / "a.mesh.gz", medit);
  const std::string bytes = contents(folder / "a.mesh.gz");
  for (std::size_t size = 2; size < bytes.size(); ++size) {
    expect_error(folder.write("cut.mesh.gz", bytes.substr(0, size)), ErrorKind::malformed_file,
                 ": the compressed file is truncated");
  }
}

/// gzip's checksum reveals a flipped bit in the data; one in the header has no effect.
TEST(SolidMesh, RefusesFlippedBitsOfCompressedFiles) {
  const TemporaryFolder folder;
  write_gzip(folder / "a.mesh.gz", medit);
  const std::string bytes = contents(folder / "a.mesh.gz");
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    std::string flipped = bytes;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ 1 << bit % 8);
    try {
      expect_tetrahedron(read_solid_mesh(folder.write("b.mesh.gz", flipped)));
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::malformed_file) << bit << ": " << error.what();
    }
  }
}

/// Some programs write tetrahedra with inconsistent orientation.
TEST(SolidMesh, TurnsTetrahedraOfNegativeVolume) {
  const TemporaryFolder folder;
  const SolidMesh mesh = read_solid_mesh(folder.write(
      "a.mesh",
      "MeshVersionFormatted 2\nDimension 3\nVertices\n5\n0 0 0 0\n1 0 0 0\n0 1 0 0\n0 0 1 0\n"
      "1 1 1 0\nTetrahedra\n3\n1 2 3 4 5\n2 3 5 4 6\n1 2 3 3 7\n"));
  EXPECT_EQ(mesh.tetrahedron,
            (std::vector<std::array<Index, 4>>{{0, 1, 2, 3}, {1, 2, 3, 4}, {0, 1, 2, 2}}));
  EXPECT_EQ(mesh.region, (std::vector<int>{5, 6, 7}));
  EXPECT_EQ(mesh.reoriented, 1);
}

/// Viewers do the same; a triangle keeps its vertices.
TEST(SolidMesh, LeavesVerticesOfNoElementOut) {
  const TemporaryFolder folder;
  const std::string path = folder.write(
      "a.mesh",
      "MeshVersionFormatted 1\nDimension 3\nVertices\n7\n9 9 9 0\n0 0 0 0\n1 0 0 0\n8 8 8 0\n"
      "0 1 0 0\n0 0 1 0\n5 5 5 0\nTetrahedra\n1\n2 3 5 6 5\nTriangles\n1\n2 3 7 4\n");
  const SolidMesh mesh = read_solid_mesh(path);
  EXPECT_EQ(mesh.left_out, (std::vector<Index>{0, 3}));
  ASSERT_EQ(mesh.position.size(), 5U);
  EXPECT_EQ(mesh.position[4], (Point{5, 5, 5}));
  EXPECT_EQ(mesh.tetrahedron[0], (std::array<Index, 4>{0, 1, 2, 3}));
  EXPECT_EQ(mesh.triangle[0], (std::array<Index, 3>{0, 1, 4}));
}

TEST(SolidMesh, TellsItsProgress) {
  struct Heard final : Progress {
    void report(double fraction, std::string_view what) override {
      last = fraction;
      EXPECT_EQ(what, "reading");
    }
    double last = -1;
  } heard;
  const TemporaryFolder folder;
  read_solid_mesh(folder.write("a.mesh", medit), &heard);
  EXPECT_EQ(heard.last, 1);
}

/// For the meshes that the measurements use, if they are available.
void expect_sizes(const std::string& name, std::size_t vertices, std::size_t tetrahedra) {
  if (!test::has_test_data(name)) GTEST_SKIP() << test::no_test_data(name);
  const SolidMesh mesh = read_solid_mesh(test::test_data(name));
  EXPECT_EQ(mesh.position.size(), vertices);
  EXPECT_EQ(mesh.tetrahedron.size(), tetrahedra);
  EXPECT_EQ(mesh.region, std::vector<int>(tetrahedra));
  EXPECT_EQ(mesh.triangle.size(), mesh.surface.size());
}

TEST(SolidMesh, ReadsTheFemur) { expect_sizes("tets/femur.mesh.gz", 7486, 27678); }
TEST(SolidMesh, ReadsTheBlade) { expect_sizes("tets/blade.mesh.gz", 20331, 79413); }

}  // namespace
