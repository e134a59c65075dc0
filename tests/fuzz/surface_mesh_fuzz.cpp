// The readers of surfaces over arbitrary bytes: they return a mesh whose corners exist and whose
// coordinates are finite, or throw Error with one line that begins with the file's name. The first
// byte selects the reader: O OBJ, F OFF, P PLY, V VTK, X VTK's XML, and anything else STL.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "heddle/error.hpp"
#include "read/surface_readers.hpp"
#include "read/vtk_grid.hpp"

using namespace heddle;
using namespace heddle::mesh;

namespace {

SurfaceMesh read(char format, std::string_view bytes) {
  switch (format) {
    case 'O':
      return read_obj({"f.obj", bytes});
    case 'F':
      return read_off({"f.off", bytes});
    case 'P':
      return read_ply({"f.ply", bytes});
    case 'V':
      return surface_of(read_vtk({"f.vtk", bytes}), "f.vtk");
    case 'X':
      return surface_of(read_vtk_xml({"f.vtp", bytes}), "f.vtp");
    default:
      return read_stl({"f.stl", bytes});
  }
}

void check(const SurfaceMesh& mesh) {
  const auto& [position, triangle] = mesh.triangles;
  for (const Point& point : position) {
    for (const double x : point) {
      if (!std::isfinite(x)) std::abort();
    }
  }
  for (const auto& corners : triangle) {
    for (const Index corner : corners) {
      if (corner < 0 || static_cast<std::size_t>(corner) >= position.size()) std::abort();
    }
  }
  if (!mesh.texture.empty() && mesh.texture.size() != triangle.size()) std::abort();
  for (const auto& corners : mesh.texture) {
    for (const TextureCoordinate& at : corners) {
      if (!std::isfinite(at[0]) || !std::isfinite(at[1])) std::abort();
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    check(read(text[0], text.substr(1)));
  } catch (const Error& error) {
    const std::string message = error.what();
    if (message.rfind("f.", 0) != 0) std::abort();
    for (const char c : message) {
      if (c < ' ' || c > '~') std::abort();
    }
  }
  return 0;
}
