// Tetrahedra with numbers at their corners and in them, in the format that ParaView and VTK read.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

#include "heddle/problems.hpp"

namespace heddle::mesh {

/// Numbers at every point or cell: those of the first, then those of the second, ...
struct VtuArray {
  std::string_view name;
  int components =
      1;  // 1, 3 (a vector), 6 (a symmetric tensor: xx yy zz xy yz xz) or 9 (row by row)
  std::span<const double> values;
};

struct VtuContents {
  std::span<const Point> position;
  std::span<const std::array<Index, 4>> tetrahedron;  // corners count from 0
  std::span<const VtuArray> point_data;
  std::span<const VtuArray> cell_data;
};

/// Writes an UnstructuredGrid with its arrays as they are in memory, after the XML
/// (https://docs.vtk.org/en/latest/design_documents/VTKFileFormats.html). The file appears whole or
/// not at all. Throws `Error`: io; usage for a number of components other than those above and for
/// a name that is empty, holds control characters or occurs twice in points or in cells;
/// size_mismatch for an array that does not fit; out_of_range for a corner that does not exist.
void write_vtu(const std::string& path, const VtuContents& contents);

}  // namespace heddle::mesh
