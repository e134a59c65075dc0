// The kinds of elements that Gmsh numbers, and how each is used.
#pragma once

#include <optional>
#include <string>

namespace heddle::mesh {

enum class GmshUse { skipped, triangle, tetrahedron };

struct GmshElement {
  GmshUse use;
  int nodes;
};

/// None for refused types: anything except points, lines and linear triangles and tetrahedra.
std::optional<GmshElement> gmsh_element(int type);

/// "a quadratic tetrahedron (type 11)", "of type 99".
std::string gmsh_element_name(int type);

}  // namespace heddle::mesh
