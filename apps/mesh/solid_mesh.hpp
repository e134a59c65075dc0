// A solid in tetrahedra, as files describe it: with groups of tetrahedra and of surface triangles.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "heddle/problems.hpp"
#include "heddle/tools/progress.hpp"

namespace heddle::mesh {

/// A group that a file names (a physical group in Gmsh).
struct Group {
  std::string name;
  int dimension = 3;  // 2: triangles, 3: tetrahedra
  int number = 0;
};

struct SolidMesh {
  std::vector<Point> position;
  std::vector<std::array<Index, 4>> tetrahedron;  // corners count from 0
  std::vector<int> region;                        // group of each tetrahedron; 0 if it has none
  std::vector<std::array<Index, 3>> triangle;     // surface triangles that the file lists
  std::vector<int> surface;                       // group of each triangle; 0 if it has none
  std::vector<Group> names;
  std::vector<Index> left_out;  // vertices of the file, from 0, that no element uses
  long long reoriented = 0;     // tetrahedra that the file orients the other way around
};

/// Reads Medit (.mesh), Gmsh (.msh, formats 1, 2 and 4), VTK (.vtk, .vtu) and TetGen (.node with
/// its .ele, and .face if there is one; either name will do) files, optionally compressed (.gz).
/// The name determines the kind of file. Throws `Error`: usage for a name that is none of these; io
/// for a file that cannot be read; malformed_file, not_finite and out_of_range with "path:line: "
/// (in a binary file "path: ") in front of the fault. An element that refers to a vertex that does
/// not exist is named along with that vertex, both counted as in the file. Vertices that neither
/// tetrahedra nor triangles refer to are left out; the others keep the order of the file. In
/// tetrahedra of negative volume the last two corners are swapped. The accepted input is described
/// in docs/reference/mesh-files.md.
SolidMesh read_solid_mesh(const std::string& path, Progress* progress = nullptr);

/// The files that are read under that name: it, and those next to it that belong to it.
std::vector<std::string> files_of_solid_mesh(const std::string& path);

}  // namespace heddle::mesh
