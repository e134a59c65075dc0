#include "gmsh_elements.hpp"

namespace heddle::mesh {

namespace {

const char* name_of(int type) {
  switch (type) {
    case 3:
      return "a quadrangle";
    case 5:
      return "a hexahedron";
    case 6:
      return "a prism";
    case 7:
      return "a pyramid";
    case 9:
      return "a quadratic triangle";
    case 10:
    case 16:
      return "a quadratic quadrangle";
    case 11:
      return "a quadratic tetrahedron";
    case 12:
    case 17:
      return "a quadratic hexahedron";
    case 13:
    case 18:
      return "a quadratic prism";
    case 14:
    case 19:
      return "a quadratic pyramid";
    case 21:
      return "a cubic triangle";
    case 29:
      return "a cubic tetrahedron";
    default:
      return nullptr;
  }
}

}  // namespace

std::optional<GmshElement> gmsh_element(int type) {
  switch (type) {
    case 2:
      return GmshElement{GmshUse::triangle, 3};
    case 4:
      return GmshElement{GmshUse::tetrahedron, 4};
    case 15:
      return GmshElement{GmshUse::skipped, 1};
    // Lines of order 1 to 5.
    case 1:
      return GmshElement{GmshUse::skipped, 2};
    case 8:
      return GmshElement{GmshUse::skipped, 3};
    case 26:
    case 27:
    case 28:
      return GmshElement{GmshUse::skipped, type - 22};
    default:
      return std::nullopt;
  }
}

std::string gmsh_element_name(int type) {
  const char* const name = name_of(type);
  const std::string number = "type " + std::to_string(type);
  return name == nullptr ? "of " + number : std::string(name) + " (" + number + ")";
}

}  // namespace heddle::mesh
