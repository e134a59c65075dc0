// Collects vertices and faces as a file lists them; the arrays of a mesh are made at the end.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "surface_mesh.hpp"

namespace heddle::mesh {

struct SurfaceBuilder {
  std::vector<Point> position;
  /// For the corners of faces, one after the other; ignored unless every corner has one.
  std::vector<TextureCoordinate> texture;

  /// Adds a face of three corners or more.
  void add_polygon(std::span<const Index> corner);

  /// Appends the vertices and faces of another builder; its corners count the vertices of both.
  void append(const SurfaceBuilder& other);

  /// Cuts faces into triangles, in their order: into fans around their first corners. If a fan's
  /// diagonal is an edge already, of this face or another, another diagonal is taken, so that no
  /// edge belongs to more triangles than the faces require. Throws `Error` (malformed_file) for
  /// more vertices or triangles than an index can count.
  SurfaceMesh finish(std::string_view path) &&;

 private:
  std::vector<Index> corner_;
  std::vector<std::size_t> end_;  // end of each face's corners
};

}  // namespace heddle::mesh
