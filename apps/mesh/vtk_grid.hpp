// Points and cells as VTK's files hold them, and the solid or the surface that they make.
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
  std::vector<long long> corner;  // of all cells, from 0
  std::vector<long long> end;     // of each cell's corners
  std::vector<long long> type;    // by VTK's numbers
  std::vector<long long> group;   // of each cell; empty where the file has none
};

/// VTK's number of a polygon of any number of corners.
constexpr long long vtk_polygon = 7;

/// Whether numbers of cells under this name are groups: as meshio and Gmsh name them, or "group".
bool is_group_name(std::string_view name);

// Each throws `Error` as `read_solid_mesh` does. Messages count cells and points from 0.

/// Legacy files of the versions 2 to 5, text or bytes: UNSTRUCTURED_GRID and POLYDATA.
VtkGrid read_vtk(const NamedBytes& file);

/// XML (https://docs.vtk.org/en/latest/design_documents/VTKFileFormats.html), UnstructuredGrid and
/// PolyData in one piece: text, base64 or bytes, within the XML or behind it, plain or compressed
/// by zlib.
VtkGrid read_vtk_xml(const NamedBytes& file);

/// Tetrahedra and triangles; vertices and lines are left out, other cells refused by name.
SolidMesh solid_of(const VtkGrid& grid, std::string_view path);
/// Triangles, quadrilaterals and polygons; vertices and lines are left out, others refused by name.
SurfaceMesh surface_of(const VtkGrid& grid, std::string_view path);

}  // namespace heddle::mesh
