// Surfaces from .ply files, in text and in bytes of either order.
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <limits>
#include <string>

#include "read/surface_readers.hpp"
#include "refused.hpp"
#include "surface_texts.hpp"

namespace heddle::mesh {
namespace {

TEST(PlySurface, TakesWhatOthersWrite) {
  expect_tetrahedron(from_ply(ply));
  expect_tetrahedron(from_ply(replaced(ply, "\n", "\r\n")));
  expect_tetrahedron(from_ply(replaced(ply, "\n", "\r")));
  expect_tetrahedron(from_ply(binary_ply(std::endian::little)));
  expect_tetrahedron(from_ply(binary_ply(std::endian::big)));
  // Faces come first, with other columns in between.
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
          {"", "f.ply:1: not a PLY file: it must begin with ply"},
          {"plyformat", "f.ply:1: not a PLY file: it must begin with ply"},
          {"ply\nthis is none\n", "f.ply:2: unknown keyword 'this'"},
          {"ply\nend_header\n", "f.ply:2: the header names no format"},
          {with("ascii", "text"),
           "f.ply:2: 'text' is not a format: use ascii, binary_little_endian or binary_big_endian"},
          {with("1.0", "2.0"), "f.ply:2: version '2.0' is not supported; 1.0 is"},
          {with("1.0", ""), "f.ply:2: the line ends where a version is needed"},
          {with("comment of", "format ascii 1.0\ncomment"), "f.ply:3: format is given twice"},
          {with("1.0", "1.0 x"), "f.ply:2: 'x' where the line must end"},
          {with("element vertex", "property int a\nelement vertex"),
           "f.ply:5: a property before any element"},
          {with("element vertex 4", "element vertex"),
           "f.ply:5: the line ends where a number is needed"},
          {with("element vertex 4", "element vertex -4"),
           "f.ply:5: -4 is not a valid number of elements 'vertex'"},
          {with("element face", "element vertex"), "f.ply:9: element 'vertex' is given twice"},
          {with("element face", "element faces"), "f.ply:11: the header has no element 'face'"},
          {with("element vertex", "element vertices"),
           "f.ply:11: the header has no element 'vertex'"},
          {with("float y", "float x"), "f.ply:7: property 'x' is given twice"},
          {with("float y", "float w"), "f.ply:11: element 'vertex' has no property 'y'"},
          {with("float y", "list uchar float y"),
           "f.ply:11: property 'y' of element 'vertex' is a list"},
          {with("float y", "real y"), "f.ply:7: 'real' is not a type"},
          {with("float y", "float"),
           "f.ply:7: the line ends where the name of a property is needed"},
          {with("uchar int vertex_indices", "uchar int indices"),
           "f.ply:11: element 'face' has no property 'vertex_indices'"},
          {with("uchar int vertex_indices", "uchar float vertex_indices"),
           "f.ply:11: property 'vertex_indices' of element 'face' is not a list of whole numbers"},
          {with("list uchar int", "int"),
           "f.ply:11: property 'vertex_indices' of element 'face' is not a list of whole numbers"},
          {with("uchar int", "float int"),
           "f.ply:10: the length of a list must have a whole-number type"},
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
          {with("3 0 1 3", "3 0 1 4"), "f.ply:17: face 1 refers to vertex 4, which does not exist",
           out_of_range},
          {with("3 0 1 3", "2 0 1"), "f.ply:17: face 2 of 4: 2 corners; a face has 3 or more"},
          {with("3 0 1 3", "-1 0 1"),
           "f.ply:17: face 2 of 4: -1 is not a valid number of entries of a list"},
          {with("3 0 1 3", "3 0 1 2.5"), "f.ply:17: face 2 of 4: '2.5' is not a whole number"},
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
          {with(8, bytes_of(4U)), "f.ply: face 3 refers to vertex 4, which does not exist",
           out_of_range},
          {with(8, bytes_of(~0U)),
           "f.ply: face 3 refers to vertex 4294967295, which does not exist", out_of_range},
          {with(face - 4, bytes_of(std::int16_t{2})),
           "f.ply: face 4 of 4: 2 corners; a face has 3 or more"},
          {with(face - 4, bytes_of(std::int16_t{-3})),
           "f.ply: face 4 of 4: -3 is not a valid number of entries of a list"},
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

}  // namespace
}  // namespace heddle::mesh
