// A tetrahedron, and its description in various surface files.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "heddle/error.hpp"
#include "heddle/tools/points.hpp"
#include "read/surface_readers.hpp"
#include "surface_mesh.hpp"

namespace heddle::mesh {

using Triangle = std::array<Index, 3>;

inline const std::vector<Point> corners = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
inline const std::vector<Triangle> faces = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {2, 0, 3}};

inline TriangleMesh mesh_of(const std::vector<Point>& position,
                            const std::vector<Triangle>& triangle) {
  return {Array<Point>(position), Array<Triangle>(triangle)};
}

inline SurfaceMesh from_obj(const std::string& text) { return read_obj({"f.obj", text}); }
inline SurfaceMesh from_off(const std::string& text) { return read_off({"f.off", text}); }
inline SurfaceMesh from_ply(const std::string& text) { return read_ply({"f.ply", text}); }
inline SurfaceMesh from_stl(const std::string& text) { return read_stl({"f.stl", text}); }

inline constexpr auto out_of_range = ErrorKind::out_of_range;
inline constexpr auto not_finite = ErrorKind::not_finite;

inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  std::size_t at = text.find(from);
  EXPECT_NE(at, text.npos) << from;
  for (; at != text.npos; at = text.find(from, at + to.size())) text.replace(at, from.size(), to);
  return text;
}

inline void expect_tetrahedron(const SurfaceMesh& mesh) {
  const auto& [position, triangle] = mesh.triangles;
  ASSERT_EQ(position.size(), corners.size());
  ASSERT_EQ(triangle.size(), faces.size());
  EXPECT_TRUE(std::equal(corners.begin(), corners.end(), position.begin()));
  EXPECT_TRUE(std::equal(faces.begin(), faces.end(), triangle.begin()));
}

template <class T>
inline std::string bytes_of(T value, std::endian order = std::endian::little) {
  std::string bytes(sizeof(T), '\0');
  std::memcpy(bytes.data(), &value, sizeof(T));
  if (order != std::endian::native) std::reverse(bytes.begin(), bytes.end());
  return bytes;
}

inline const std::string off =
    "OFF\n4 4 6\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 2 1\n3 0 1 3\n3 1 2 3\n3 2 0 3\n";
inline const std::string ply_header =
    "ply\nformat ascii 1.0\ncomment of no use\nobj_info none\nelement vertex 4\n"
    "property float x\nproperty float y\nproperty float z\nelement face 4\n"
    "property list uchar int vertex_indices\nend_header\n";
inline const std::string ply =
    ply_header + "0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 2 1\n3 0 1 3\n3 1 2 3\n3 2 0 3\n";

/// Includes elements, properties and types that the reader does not need.
inline std::string binary_ply(std::endian order) {
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

inline std::string text_stl() {
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

inline std::string binary_stl(float unit = 1) {
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

/// STL yields vertices in the order of their first use.
inline void expect_welded(const SurfaceMesh& mesh) {
  EXPECT_EQ(mesh.triangles.position.size(), 4U);
  ASSERT_EQ(mesh.triangles.triangle.size(), 4U);
  EXPECT_EQ(mesh.triangles.triangle[0], (Triangle{0, 1, 2}));
  EXPECT_EQ(mesh.triangles.triangle[1], (Triangle{0, 2, 3}));
  EXPECT_EQ(mesh.triangles.position[1], (Point{0, 1, 0}));
  EXPECT_NO_THROW(check_closed(mesh.triangles));
  EXPECT_EQ(genus(mesh.triangles), 0);
}

}  // namespace heddle::mesh
