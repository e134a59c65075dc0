// Slabs in tetrahedra, for programs that need no file of a mesh.
#pragma once

#include "solid_mesh.hpp"

namespace heddle::mesh {

/// How a cube becomes tetrahedra.
enum class CubeSplit {
  six,  // around the diagonal from the least to the greatest corner, of all cubes alike (Kuhn 1960)
  five  // a regular tetrahedron and four corners, turned from each cube to the next
};

/// [0, x] x [0, y] x [0, z] in cubes of side h, which divides the sides to 1e-9 of them. Vertices
/// count along x, then y, then z. The group `slab` has all tetrahedra; the groups x-least,
/// x-greatest, y-least, ..., z-greatest have the triangles of the six sides. Throws `Error`: usage
/// for a side that h does not divide or that is not above 0, unsupported for more vertices than an
/// Index counts.
SolidMesh make_slab(const Point& sides, double h, CubeSplit split);

}  // namespace heddle::mesh
