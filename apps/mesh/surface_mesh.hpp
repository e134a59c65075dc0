// A surface in triangles, as files describe it.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "heddle/problems.hpp"

namespace heddle::mesh {

using TextureCoordinate = std::array<double, 2>;

struct SurfaceMesh {
  TriangleMesh triangles;
  /// Of the three corners of each triangle; empty where the file has none.
  std::vector<std::array<TextureCoordinate, 3>> texture = {};
  /// Vertices of the file, counted from 0, that belong to no face and are not among `triangles`.
  std::vector<Index> left_out = {};
};

/// Reads Wavefront OBJ, OFF, PLY, STL and VTK (.vtk, .vtu, .vtp) files, also compressed (.gz), by
/// the end of the name. Faces of more than three corners are cut into triangles. Vertices keep the
/// order of the file, but for those of no face, which are left out; STL has none, there corners of
/// one position are one vertex. Corners are in range and coordinates finite. Throws `Error`: io for
/// a file that cannot be read, usage for another kind of file; malformed_file, out_of_range and
/// not_finite with "path:line: " (in a binary file "path: ") in front, which name faces and
/// vertices as the file counts them, in OBJ from 1, else from 0. What the readers accept is in
/// docs/reference/mesh-files.md.
SurfaceMesh read_surface_mesh(const std::string& path);

/// Throws `Error` (malformed_file) unless every vertex is a corner, every edge belongs to two
/// triangles that run through it in opposite directions, the triangles around every vertex are one
/// fan, no triangle is without area, and all of them hang together: a closed oriented surface of
/// one part. Names the first edge, vertex or triangle that is not so, counted from 1.
void check_closed(const TriangleMesh& mesh);

/// 2 - 2 genus = vertices - edges + triangles of a closed surface of one part.
int genus(const TriangleMesh& mesh);

/// As OBJ, with texture coordinates where there are any; the whole file or none.
void write_obj(const std::string& path, const SurfaceMesh& mesh);

}  // namespace heddle::mesh
