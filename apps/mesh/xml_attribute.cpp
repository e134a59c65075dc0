#include "xml_attribute.hpp"

#include <bit>

#include "heddle/error.hpp"

namespace heddle::mesh {

std::string xml_attribute(std::string_view text, std::string_view what) {
  std::string escaped;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < ' ') {
      throw Error(ErrorKind::usage, std::string(what) + " has a control character");
    }
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string_view vtk_byte_order() {
  return std::endian::native == std::endian::little ? "LittleEndian" : "BigEndian";
}

}  // namespace heddle::mesh
