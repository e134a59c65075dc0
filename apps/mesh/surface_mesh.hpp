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
  /// For the three corners of each triangle; empty if the file has none.
  std::vector<std::array<TextureCoordinate, 3>> texture = {};
  /// Vertices of the file, counted from 0, that belong to no face and are not among `triangles`.
  std::vector<Index> left_out = {};
};

/// Reads Wavefront OBJ, OFF, PLY, STL and VTK (.vtk, .vtu, .vtp) files, optionally compressed
/// (.gz), chosen by the end of the name. Faces of more than three corners are cut into triangles.
/// Vertices keep the order of the file, except those that belong to no face, which are left out.
/// STL has no vertices: there, corners at one position become one vertex. Corners are in range and
/// coordinates finite. Throws `Error`: io for a file that cannot be read, usage for another kind of
/// file; malformed_file, out_of_range and not_finite with "path:line: " (in a binary file "path: ")
/// in front. Messages name faces and vertices as the file counts them, in OBJ from 1, else from 0.
/// The accepted input is described in docs/reference/mesh-files.md.
SurfaceMesh read_surface_mesh(const std::string& path);

/// Throws `Error` (malformed_file) unless the surface is closed, oriented and connected: every
/// vertex is a corner, every edge belongs to two triangles that traverse it in opposite directions,
/// the triangles around every vertex form one fan, no triangle has zero area, and all triangles are
/// connected. Names the first edge, vertex or triangle that violates this, counted from 1.
void check_closed(const TriangleMesh& mesh);

/// 2 - 2 genus = vertices - edges + triangles, for a closed connected surface.
int genus(const TriangleMesh& mesh);

/// Writes OBJ, with texture coordinates if there are any; the whole file or none.
void write_obj(const std::string& path, const SurfaceMesh& mesh);

}  // namespace heddle::mesh
