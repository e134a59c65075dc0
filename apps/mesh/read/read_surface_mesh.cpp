#include <span>
#include <string>

#include "file_ending.hpp"
#include "heddle/error.hpp"
#include "heddle/tools/text.hpp"
#include "lonely_vertices.hpp"
#include "surface_readers.hpp"
#include "vtk_grid.hpp"

namespace heddle::mesh {

namespace {

SurfaceMesh read_vtk_surface(const NamedBytes& file) {
  return surface_of(read_vtk(file), file.path);
}
SurfaceMesh read_vtk_xml_surface(const NamedBytes& file) {
  return surface_of(read_vtk_xml(file), file.path);
}

void leave_lonely_vertices_out(SurfaceMesh& mesh) {
  auto& [position, triangle] = mesh.triangles;
  LonelyVertices vertices(position.size());
  vertices.take_out_corners_of(triangle);
  mesh.left_out = vertices.list();
  if (mesh.left_out.empty()) return;
  const std::vector<Point> left = vertices.without(std::span<const Point>(position));
  position = Array<Point>(std::span<const Point>(left));
  vertices.renumber(triangle);
}

}  // namespace

SurfaceMesh read_surface_mesh(const std::string& path) {
  std::string stem = path;
  std::string ending = take_ending(stem);
  if (ending == ".gz") ending = take_ending(stem);
  const auto read_by = [&](SurfaceMesh (*read)(const NamedBytes&)) {
    const std::string bytes = io::read_file(path);
    SurfaceMesh mesh = read({path, bytes});
    leave_lonely_vertices_out(mesh);
    return mesh;
  };
  if (ending == ".obj") return read_by(read_obj);
  if (ending == ".off") return read_by(read_off);
  if (ending == ".ply") return read_by(read_ply);
  if (ending == ".stl") return read_by(read_stl);
  if (ending == ".vtk") return read_by(read_vtk_surface);
  if (ending == ".vtu" || ending == ".vtp") return read_by(read_vtk_xml_surface);
  throw Error(ErrorKind::usage, path +
                                    ": surfaces are read from .obj, .off, .ply, .stl, .vtk, .vtu "
                                    "and .vtp files, also with .gz appended");
}

}  // namespace heddle::mesh
