#include "gmsh_elements.hpp"

#include <string_view>

namespace heddle::mesh {

namespace {

/// Name of a type by Gmsh's number; nullptr for lines, points and types that Gmsh does not make.
const char* name_of(int type) {
  struct Kind {
    const char* name;
    std::string_view types;  // their codes, as characters
  };
  static constexpr Kind kinds[] = {
      {"a quadrangle", "\x03"},
      {"a hexahedron", "\x05"},
      {"a prism", "\x06"},
      {"a pyramid", "\x07"},
      {"a quadratic triangle", "\x09"},
      {"a quadratic quadrangle", "\x0a\x10"},
      {"a quadratic tetrahedron", "\x0b"},
      {"a quadratic hexahedron", "\x0c\x11"},
      {"a quadratic prism", "\x0d\x12"},
      {"a quadratic pyramid", "\x0e\x13"},
      {"a cubic triangle", "\x14\x15"},
      {"a triangle of order 4", "\x16\x17"},
      {"a triangle of order 5", "\x18\x19"},
      {"a cubic tetrahedron", "\x1d"},
      {"a tetrahedron of order 4", "\x1e"},
      {"a tetrahedron of order 5", "\x1f"},
      {"a polygon", "\x22"},
      {"a polyhedron", "\x23"},
      {"a cubic quadrangle", "\x24\x27"},
      {"a quadrangle of order 4", "\x25\x28"},
      {"a cubic hexahedron", "\x5c"},
      {"a hexahedron of order 4", "\x5d"},
  };
  for (const Kind& kind : kinds) {
    if (type > 0 && type < 128 && kind.types.find(static_cast<char>(type)) != kind.types.npos) {
      return kind.name;
    }
  }
  return nullptr;
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
