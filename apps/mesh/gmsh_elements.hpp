// The kinds of elements that Gmsh numbers, and what becomes of them.
#pragma once

#include <optional>
#include <string>

namespace heddle::mesh {

enum class GmshUse { skipped, triangle, tetrahedron };

struct GmshElement {
  GmshUse use;
  int nodes;
};

/// Nothing for what is refused: anything but points, lines and linear triangles and tetrahedra.
std::optional<GmshElement> gmsh_element(int type);

/// "a quadratic tetrahedron (type 11)", "of type 99".
std::string gmsh_element_name(int type);

}  // namespace heddle::mesh
