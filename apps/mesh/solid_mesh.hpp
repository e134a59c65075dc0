// A solid in tetrahedra, as files describe it: with groups of tetrahedra and of surface triangles.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "heddle/problems.hpp"
#include "heddle/tools/progress.hpp"

namespace heddle::mesh {

/// A group that a file names (Gmsh's physical groups).
struct Group {
  std::string name;
  int dimension = 3;  // 2: of triangles, 3: of tetrahedra
  int number = 0;
};

struct SolidMesh {
  std::vector<Point> position;
  std::vector<std::array<Index, 4>> tetrahedron;  // corners count from 0
  std::vector<int> region;                        // the group of each tetrahedron; 0 without one
  std::vector<std::array<Index, 3>> triangle;     // surface triangles that the file lists
  std::vector<int> surface;                       // the group of each triangle; 0 without one
  std::vector<Group> names;
  std::vector<Index> left_out;  // vertices of the file, from 0, that no element refers to
  long long turned = 0;         // tetrahedra that the file orients the other way around
};

/// Reads Medit (.mesh), Gmsh (.msh, formats 1, 2 and 4), VTK (.vtk, .vtu) and TetGen (.node
/// with its .ele, and .face where there is one; either name will do) files, also compressed (.gz).
/// Which one it is follows from the name. Throws `Error`: usage for a name of none of them; io for
/// a file that cannot be read; malformed_file, not_finite and out_of_range with "path:line: " (in a
/// binary file "path: ") in front of what is wrong: an element that refers to a vertex that is not
/// there is named with that vertex, as the file counts. Vertices that neither tetrahedra nor
/// triangles refer to are left out; the others keep the order of the file. Tetrahedra of negative
/// volume are turned: their last two corners change places. What the readers accept is in
/// docs/reference/mesh-files.md.
SolidMesh read_solid_mesh(const std::string& path, Progress* progress = nullptr);

/// The files that it reads under that name: itself, and those beside it that belong to it.
std::vector<std::string> files_of_solid_mesh(const std::string& path);

}  // namespace heddle::mesh
