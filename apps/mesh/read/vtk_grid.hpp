// Points and cells as in VTK's files, and the solid or the surface that they make.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "named_bytes.hpp"
#include "solid_mesh.hpp"
#include "surface_mesh.hpp"

namespace heddle::mesh {

struct VtkGrid {
  std::vector<Point> position;
  std::vector<long long> corner;  // corners of all cells, from 0
  std::vector<long long> end;     // end of each cell's corners
  std::vector<long long> type;    // by VTK's numbers
  std::vector<long long> group;   // per cell; empty if the file has none
};

/// VTK's number for a polygon of any number of corners.
constexpr long long vtk_polygon = 7;

/// True if cell data of this name are groups: the names that meshio and Gmsh use, or "group".
bool is_group_name(std::string_view name);

// Each throws `Error` like `read_solid_mesh`. Messages count cells and points from 0.

/// Legacy files of versions 2 to 5, text or bytes: UNSTRUCTURED_GRID and POLYDATA.
VtkGrid read_vtk(const NamedBytes& file);

/// XML (https://docs.vtk.org/en/latest/design_documents/VTKFileFormats.html), UnstructuredGrid and
/// PolyData in one piece: text, base64 or bytes, within the XML or after it, plain or compressed by
/// zlib.
VtkGrid read_vtk_xml(const NamedBytes& file);

/// Tetrahedra and triangles; vertices and lines are left out, other cells refused by name.
SolidMesh solid_of(const VtkGrid& grid, std::string_view path);
/// Triangles, quadrilaterals and polygons; vertices and lines are left out, others refused by name.
SurfaceMesh surface_of(const VtkGrid& grid, std::string_view path);

}  // namespace heddle::mesh
