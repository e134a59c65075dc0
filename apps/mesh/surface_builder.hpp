// Vertices and triangles as a file tells them; the arrays of a mesh are made at the end.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "surface_mesh.hpp"

namespace heddle::mesh {

struct SurfaceBuilder {
  std::vector<Point> position;
  std::vector<std::array<Index, 3>> triangle;

  /// A polygon, cut into triangles around its first corner.
  void add_polygon(std::span<const Index> corner);

  /// Throws `Error` (malformed_file) for more than an index can count.
  SurfaceMesh finish(std::string_view path) &&;
};

}  // namespace heddle::mesh
