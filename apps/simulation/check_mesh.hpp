// Checks that a mesh is one of a solid.
#pragma once

#include <string>

#include "../mesh/solid_mesh.hpp"

namespace heddle::simulation {

/// Reverses a mesh whose tetrahedra all have negative volume, as some programs orient them. Throws
/// `Error` (singular) for the first tetrahedron that is inverted or flat, and for two that overlap
/// if the reader has reversed some but not all; (malformed_file) if there are no tetrahedra and for
/// the first vertex that belongs to none. Counted from 1.
void check_and_orient(mesh::SolidMesh& mesh);

}  // namespace heddle::simulation
