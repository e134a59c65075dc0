// The readers of solid meshes, one for each format, from bytes in memory.
#pragma once

#include "named_bytes.hpp"
#include "solid_mesh.hpp"

namespace heddle::mesh {

// Each throws `Error` like `read_solid_mesh`.

/// Medit, ASCII: P. Frey, "MEDIT: an interactive mesh visualization software", INRIA RT-0253, 2001.
SolidMesh read_medit(const NamedBytes& file);

/// Gmsh's MSH 2.0 to 2.2, 4.0 and 4.1, text and binary, and 1:
/// https://gmsh.info/doc/texinfo/gmsh.html, "MSH file format".
SolidMesh read_gmsh(const NamedBytes& file);

/// TetGen's user's manual, section 5, "File formats". `face` may be nullptr.
SolidMesh read_tetgen(const NamedBytes& node, const NamedBytes& ele, const NamedBytes* face);

}  // namespace heddle::mesh
