// Slabs in tetrahedra, for programs that use no mesh file.
#pragma once

#include "solid_mesh.hpp"

namespace heddle::mesh {

/// How a cube is split into tetrahedra.
enum class CubeSplit {
  six,  // around the diagonal from least to greatest corner, the same in all cubes (Kuhn 1960)
  five  // a regular tetrahedron and four corners, mirrored from each cube to the next
};

/// [0, x] x [0, y] x [0, z] in cubes of side h, which divides the sides to a relative 1e-9.
/// Vertices are numbered along x, then y, then z. The group `slab` has all tetrahedra; the groups
/// x-least, x-greatest, y-least, ..., z-greatest have the triangles of the six sides. Throws
/// `Error`: usage for a side that h does not divide or that is not above 0, unsupported for more
/// vertices than an Index counts.
SolidMesh make_slab(const Point& sides, double h, CubeSplit split);

}  // namespace heddle::mesh
