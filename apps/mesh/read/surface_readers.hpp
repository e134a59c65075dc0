// The readers of surfaces, one for each format, from bytes in memory.
#pragma once

#include "named_bytes.hpp"
#include "surface_mesh.hpp"

namespace heddle::mesh {

// Each throws `Error` like `read_surface_mesh`.

/// Wavefront OBJ: https://paulbourke.net/dataformats/obj/. Only v, vt and f are read.
SurfaceMesh read_obj(const NamedBytes& file);

/// Geomview's OFF, text: http://www.geomview.org/docs/html/OFF.html.
SurfaceMesh read_off(const NamedBytes& file);

/// Stanford's PLY, text and binary: G. Turk, "The PLY polygon file format", 1994.
SurfaceMesh read_ply(const NamedBytes& file);

/// STL, text and binary: 3D Systems, "StereoLithography interface specification", 1989.
SurfaceMesh read_stl(const NamedBytes& file);

}  // namespace heddle::mesh
