// The readers of solid meshes over arbitrary bytes: they return a mesh whose corners exist, or
// throw Error with one line that begins with the file's name. The first byte selects the reader: M
// Medit, T TetGen, whose files `@` separates, V VTK, X VTK's XML, and anything else Gmsh.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "heddle/error.hpp"
#include "read/mesh_readers.hpp"
#include "read/vtk_grid.hpp"

using namespace heddle;
using namespace heddle::mesh;

namespace {

std::string_view part_before(char separator, std::string_view& text) {
  const std::size_t end = text.find(separator);
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(end == text.npos ? text.size() : end + 1);
  return part;
}

SolidMesh read(char format, std::string_view bytes) {
  if (format == 'M') return read_medit({"f.mesh", bytes});
  if (format == 'V') return solid_of(read_vtk({"f.vtk", bytes}), "f.vtk");
  if (format == 'X') return solid_of(read_vtk_xml({"f.vtu", bytes}), "f.vtu");
  if (format != 'T') return read_gmsh({"f.msh", bytes});
  const std::string_view node = part_before('@', bytes), ele = part_before('@', bytes);
  const NamedBytes face{"f.face", bytes};
  return read_tetgen({"f.node", node}, {"f.ele", ele}, bytes.empty() ? nullptr : &face);
}

template <class Elements>
void check(const SolidMesh& mesh, const Elements& elements, const std::vector<int>& group) {
  if (elements.size() != group.size()) std::abort();
  for (const auto& corners : elements) {
    for (const Index corner : corners) {
      if (corner < 0 || static_cast<std::size_t>(corner) >= mesh.position.size()) std::abort();
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const SolidMesh mesh = read(text[0], text.substr(1));
    check(mesh, mesh.tetrahedron, mesh.region);
    check(mesh, mesh.triangle, mesh.surface);
  } catch (const Error& error) {
    const std::string message = error.what();
    if (message.rfind("f.", 0) != 0) std::abort();
    for (const char c : message) {
      if (c < ' ' || c > '~') std::abort();
    }
  }
  return 0;
}
