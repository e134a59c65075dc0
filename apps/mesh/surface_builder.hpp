// Vertices and faces as a file tells them; the arrays of a mesh are made at the end.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "surface_mesh.hpp"

namespace heddle::mesh {

struct SurfaceBuilder {
  std::vector<Point> position;
  /// Of the corners of faces, one after the other; without effect unless every corner has one.
  std::vector<TextureCoordinate> texture;

  /// A face of three corners or more.
  void add_polygon(std::span<const Index> corner);

  /// The vertices and faces of another behind these; corners count vertices of both.
  void append(const SurfaceBuilder& other);

  /// Cuts faces into triangles, in their order: into fans around their first corners, but where a
  /// diagonal of that is an edge already, of this face or another, another one is taken, so that no
  /// edge belongs to more triangles than the faces make it. Throws `Error` (malformed_file) for
  /// more than an index can count.
  SurfaceMesh finish(std::string_view path) &&;

 private:
  std::vector<Index> corner_;
  std::vector<std::size_t> end_;  // of each face's corners
};

}  // namespace heddle::mesh
