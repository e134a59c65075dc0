// VTK's files as meshes: files written by meshio (tests/fuzz/corpus) and by this library, and
// refused files.
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <cctype>

#include "io/temporary_folder.hpp"
#include "read/vtk_data.hpp"
#include "read/vtk_grid.hpp"
#include "refused.hpp"
#include "support/message_of.hpp"
#include "vtu_file.hpp"

namespace heddle::mesh {
namespace {

/// Contents of a corpus file, after the letter that selects the reader for fuzzers.
std::string corpus(const std::string& name) {
  return contents(std::string(HEDDLE_SOURCE_DIR) + "/tests/fuzz/corpus/" + name).substr(1);
}

VtkGrid grid_of(const std::string& bytes) {
  return bytes.starts_with('#') ? read_vtk({"f", bytes}) : read_vtk_xml({"f", bytes});
}
SolidMesh solid(const std::string& bytes) { return solid_of(grid_of(bytes), "f"); }
SurfaceMesh surface(const std::string& bytes) { return surface_of(grid_of(bytes), "f"); }

std::string replaced_once(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, text.npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(VtkFiles, OfMeshioAreSolids) {
  for (const std::string name : {"ascii.vtk", "binary.vtk", "ascii.vtu", "plain.vtu", "zlib.vtu"}) {
    SCOPED_TRACE(name);
    const SolidMesh mesh = solid(corpus("solid_mesh/" + name));
    ASSERT_EQ(mesh.position.size(), 5U);
    EXPECT_EQ(mesh.position[3], (Point{0, 0, 1}));
    EXPECT_EQ(mesh.tetrahedron, (std::vector<std::array<Index, 4>>{{0, 1, 2, 3}, {1, 2, 3, 4}}));
    EXPECT_EQ(mesh.region, (std::vector<int>{5, 6}));
    EXPECT_EQ(mesh.triangle, (std::vector<std::array<Index, 3>>{{0, 2, 1}}));
    EXPECT_EQ(mesh.surface, (std::vector<int>{7}));
  }
}

TEST(VtkFiles, OfMeshioAreSurfaces) {
  for (const std::string name : {"ascii.vtk", "binary.vtk", "zlib.vtu"}) {
    SCOPED_TRACE(name);
    EXPECT_NO_THROW(check_closed(surface(corpus("surface_mesh/" + name)).triangles));
  }
}

TEST(VtkFiles, CutAnywhereAreRefusedOrWhole) {
  for (const std::string name : {"ascii.vtk", "binary.vtk", "ascii.vtu", "plain.vtu", "zlib.vtu"}) {
    const std::string whole = corpus("solid_mesh/" + name);
    for (std::size_t size = 0; size < whole.size(); ++size) {
      try {
        EXPECT_EQ(solid(whole.substr(0, size)).tetrahedron.size(), 2U) << name << " " << size;
      } catch (const Error& error) {
        EXPECT_EQ(std::string(error.what()).find("f"), 0U);
      }
    }
  }
}

TEST(VtkFiles, AreReadAsTheyAreWritten) {
  const TemporaryFolder folder;
  const std::vector<Point> position = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1.5}};
  const std::vector<std::array<Index, 4>> tetrahedron = {{0, 1, 2, 3}};
  const std::vector<double> values = {1, 2, 3, 4};
  const VtuArray data{"u", 1, values};
  write_vtu(folder / "a.vtu", {position, tetrahedron, {&data, 1}, {}});
  const SolidMesh mesh = read_solid_mesh(folder / "a.vtu");
  EXPECT_EQ(mesh.position, position);
  EXPECT_EQ(mesh.tetrahedron, tetrahedron);
}

/// Version 5 has offsets instead of counts; lines and vertices are not part of a surface.
TEST(VtkFiles, OfPolygonsAreSurfaces) {
  const std::string head =
      "# vtk DataFile Version 5.1\na title\nASCII\nDATASET POLYDATA\nPOINTS 5 float\n"
      "0 0 0 1 0 0 1 1 0\n0 1 0 2 2 2\nMETADATA\nINFORMATION 1\nNAME L2\n\n";
  const std::string lines =
      "LINES 2 2\nOFFSETS vtktypeint64\n0 2\nCONNECTIVITY vtktypeint64\n0 1\n";
  const std::string polygons =
      "POLYGONS 3 7\nOFFSETS vtktypeint64\n0 3 7\nCONNECTIVITY vtktypeint64\n0 1 2 3 2 1 0\n"
      "CELL_DATA 3\nSCALARS group int\nLOOKUP_TABLE default\n1 2 3\nPOINT_DATA 5\n"
      "NORMALS n float\n0 0 nan 0 0 1 0 0 1 0 0 1 0 0 1\n";
  EXPECT_EQ(surface(head + lines + polygons).triangles.triangle.size(), 3U);
  const std::string old =
      replaced_once(replaced_once(head, "5.1", "3.0"), "METADATA\nINFORMATION 1\nNAME L2\n",
                    "POLYGONS 1 5\n4 0 1 2 3\n");
  EXPECT_EQ(surface(old).triangles.triangle.size(), 2U);
  const std::string xml =
      "<VTKFile type=\"PolyData\"><PolyData><Piece NumberOfPoints=\"4\" NumberOfPolys=\"1\">"
      "<Points><DataArray type=\"Float32\" NumberOfComponents=\"3\" format=\"ascii\">"
      "0 0 0 1 0 0 1 1 0 0 1 0</DataArray></Points><Polys>"
      "<DataArray type=\"Int32\" Name=\"connectivity\" format=\"ascii\">0 1 2 3</DataArray>"
      "<DataArray type=\"Int32\" Name=\"offsets\" format=\"ascii\">4</DataArray>"
      "</Polys></Piece></PolyData></VTKFile>";
  EXPECT_EQ(surface(xml).triangles.triangle.size(), 2U);
}

/// VTK accepts keywords and types in any case, and a byte order mark is not part of the text.
TEST(VtkFiles, TakeKeywordsInAnyCase) {
  for (const std::string folder : {"solid_mesh/", "surface_mesh/"}) {
    const std::string text = corpus(folder + "ascii.vtk");
    std::string lower = text, upper = text;
    std::ranges::transform(lower, lower.begin(), [](char c) { return std::tolower(c); });
    std::ranges::transform(upper, upper.begin(), [](char c) { return std::toupper(c); });
    for (const std::string& other : {lower, upper, "\xEF\xBB\xBF" + text}) {
      const VtkGrid grid = read_vtk({"f", other}), wanted = grid_of(text);
      EXPECT_EQ(grid.position, wanted.position);
      EXPECT_EQ(grid.corner, wanted.corner);
      EXPECT_EQ(grid.type, wanted.type);
    }
  }
  EXPECT_EQ(solid("\xEF\xBB\xBF" + corpus("solid_mesh/ascii.vtu")).region,
            (std::vector<int>{5, 6}));
}

TEST(VtkFiles, AreRefusedInOneLine) {
  const std::string text = corpus("solid_mesh/ascii.vtk"), xml = corpus("solid_mesh/ascii.vtu");
  expect_refused(
      {{"# vtk", "f:1: not a VTK file: it must begin with # vtk DataFile Version"},
       {replaced_once(text, "POINTS 5", "POINTS 1000000000000"),
        "f:5: 1000000000000 points do not fit in the 277 bytes that follow"},
       {replaced_once(text, "CELLS 3 14", "CELLS 3 1000000000000"),
        "f:7: 1000000000000 numbers do not fit in the 199 bytes that follow"},
       {replaced_once(text, "1.0 1.0 1.0", "1.0 nan 1.0"), "f:6: point 5 of 5: 'nan' is not finite",
        ErrorKind::not_finite},
       {replaced_once(text, "\n10\n10", "\n12\n10"),
        "f: cell 0 is a hexahedron (type 12); only tetrahedra and triangles are read"},
       {replaced_once(text, "\n10\n10", "\n24\n10"),
        "f: cell 0 is a quadratic tetrahedron (type 24); only tetrahedra and triangles are read"},
       {replaced_once(text, "\n4\n0\n1", "\n4\n0\n9"),
        "f: cell 0 refers to point 9, which does not exist", ErrorKind::out_of_range},
       {replaced_once(text, "UNSTRUCTURED_GRID", "RECTILINEAR_GRID"),
        "f:4: dataset 'RECTILINEAR_GRID' is not supported; UNSTRUCTURED_GRID and POLYDATA are"},
       {"<a/>", "f: not a VTK file: it has no element VTKFile"},
       {"<VTKFile", "f: not valid XML: Error parsing start element tag"},
       {replaced_once(xml, "NumberOfPoints=\"5\"", "NumberOfPoints=\"1000000000000\""),
        "f: Points has 15 numbers where 3 of each of 1000000000000 are needed"},
       {replaced_once(xml, "type=\"UnstructuredGrid\"", "type=\"ImageData\""),
        "f: a file of type 'ImageData' is not supported; UnstructuredGrid and PolyData are"},
       {replaced_once(corpus("solid_mesh/zlib.vtu"), "vtkZLib", "vtkLZMA"),
        "f: data of 'vtkLZMADataCompressor' are not supported; those of vtkZLibDataCompressor are"},
       {replaced_once(text, "1.0 1.0 1.0", "1.0\x07 1.0 1.0"),
        "f:6: point 4 of 5: control byte 0x07 in the text"},
       {replaced_once(xml, "<Points>", "<Points>\n\x08"), "f:7: control byte 0x08 in the text"},
       {replaced_once(xml, "NumberOfCells=\"3\"", "NumberOfCells=\"2\""),
        "f: offsets has 3 numbers where 2 are needed"}},
      solid);
}

std::string lengths(const std::vector<std::uint32_t>& values) {
  return std::string(reinterpret_cast<const char*>(values.data()), 4 * values.size());
}

/// A block that zlib cannot inflate is not examined if its size differs from the required one.
TEST(VtkFiles, AreInflatedAsFarAsTheirCountsNeed) {
  const auto file = [](const std::string& points, std::uint32_t size) {
    return "<VTKFile type=\"PolyData\" compressor=\"vtkZLibDataCompressor\"><PolyData><Piece "
           "NumberOfPoints=\"" +
           points +
           "\" NumberOfPolys=\"1\"><Points><DataArray type=\"Float64\" format=\"appended\" "
           "offset=\"0\"/></Points></Piece></PolyData><AppendedData encoding=\"raw\">_" +
           lengths({1, size, 0, 1000000}) + std::string(1000000, 'x');
  };
  EXPECT_EQ(test::message_of([&] { surface(file("5", 400000000)); }),
            "f: Points has 50000000 numbers where 3 of each of 5 are needed");
  EXPECT_EQ(test::message_of([&] { surface(file("5", 120)); }),
            "f: array '': a compressed block is damaged");
}

/// zlib's checksum reveals a flipped bit.
TEST(VtkData, ComparesChecksums) {
  const std::string plain = "0123456789 and so on, and so on";
  uLongf size = compressBound(plain.size());
  std::string packed(size, '\0');
  ASSERT_EQ(compress(reinterpret_cast<Bytef*>(packed.data()), &size,
                     reinterpret_cast<const Bytef*>(plain.data()), plain.size()),
            Z_OK);
  packed.resize(size);
  const std::string head = lengths(
      {1, static_cast<std::uint32_t>(plain.size()), 0, static_cast<std::uint32_t>(packed.size())});
  EXPECT_EQ(unpacked(head + packed, {.is_compressed = true}, "f: "), plain);
  EXPECT_EQ(unpacked_size(head + packed, {.is_compressed = true}, "f: "), plain.size());
  for (std::size_t bit = 0; bit < 8 * packed.size(); ++bit) {
    std::string flipped = packed;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ 1 << bit % 8);
    EXPECT_EQ(test::message_of([&] { unpacked(head + flipped, {.is_compressed = true}, "f: "); }),
              "f: a compressed block is damaged")
        << bit;
  }
}

TEST(VtkData, SpendsNoMemoryOnWhatItCannotHold) {
  const auto refusal = [](const std::string& bytes, bool is_compressed) {
    return test::message_of([&] { unpacked(bytes, {.is_compressed = is_compressed}, "f: "); });
  };
  EXPECT_EQ(refusal(lengths({4000000000U}), false), "f: the data end too early");
  EXPECT_EQ(refusal(lengths({4000000000U, 1, 1}), true), "f: more blocks than bytes");
  EXPECT_EQ(refusal(lengths({1, 4000000000U, 0, 4, 0}), true),
            "f: a compressed block is larger than its bytes can be");
  EXPECT_EQ(refusal(lengths({1, 8, 0, 4, 0}), true), "f: a compressed block is damaged");
  EXPECT_EQ(from_base64("AQ==\n Ag=="), "\1\2");
  EXPECT_EQ(from_base64("AQID"), "\1\2\3");
}

}  // namespace
}  // namespace heddle::mesh
