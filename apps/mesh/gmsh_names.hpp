// The names that a Gmsh file gives to groups.
#pragma once

#include <vector>

#include "solid_mesh.hpp"
#include "text_scanner.hpp"

namespace heddle::mesh {

/// Behind $PhysicalNames, which are text in any file: those of surfaces and volumes. In format 2.0
/// names have no dimension, and are of any here. Throws `Error` (malformed_file).
std::vector<Group> read_gmsh_names(TextScanner& scan);

/// Names of any dimension become those of the elements that have their numbers.
void find_dimensions_of_names(SolidMesh& mesh);

}  // namespace heddle::mesh
