// The names that a Gmsh file gives to groups.
#pragma once

#include <vector>

#include "solid_mesh.hpp"
#include "text_scanner.hpp"

namespace heddle::mesh {

/// Reads the names after $PhysicalNames, which are text in any file: those of surfaces and volumes.
/// Names have no dimension in format 2.0, and count for any here. Throws `Error` (malformed_file).
std::vector<Group> read_gmsh_names(TextScanner& scan);

/// Gives names of any dimension the dimension of the elements that have their numbers.
void find_dimensions_of_names(SolidMesh& mesh);

}  // namespace heddle::mesh
