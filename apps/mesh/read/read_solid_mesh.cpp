#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "file_ending.hpp"
#include "heddle/error.hpp"
#include "heddle/tools/points.hpp"
#include "heddle/tools/text.hpp"
#include "lonely_vertices.hpp"
#include "mesh_readers.hpp"
#include "vtk_grid.hpp"

namespace heddle::mesh {

namespace {

namespace fs = std::filesystem;

/// The contents of a file, inflated.
struct MeshFile {
  std::string path, contents;

  NamedBytes bytes() const { return {path, contents}; }
};

MeshFile load(const std::string& path, Progress* progress) {
  return {path, io::read_file(path, progress)};
}

/// The file of a TetGen mesh with another ending, compressed or not.
std::optional<std::string> neighbour(const std::string& stem, const char* ending) {
  for (const char* compression : {"", ".gz"}) {
    std::error_code ignored;
    std::string path = stem + ending + compression;
    if (fs::exists(path, ignored)) return path;
  }
  return std::nullopt;
}

SolidMesh read_tetgen_files(const std::string& path, const std::string& stem,
                            const std::string& ending, Progress* progress) {
  const auto load_part = [&](const char* part) {
    return load(ending == part ? path : neighbour(stem, part).value_or(stem + part), progress);
  };
  const MeshFile node = load_part(".node"), ele = load_part(".ele");
  const auto face_path = neighbour(stem, ".face");
  if (!face_path) return read_tetgen(node.bytes(), ele.bytes(), nullptr);
  const MeshFile face = load(*face_path, progress);
  const NamedBytes face_bytes = face.bytes();
  return read_tetgen(node.bytes(), ele.bytes(), &face_bytes);
}

SolidMesh read_by_ending(const std::string& path, Progress* progress) {
  std::string stem = path;
  std::string ending = take_ending(stem);
  if (ending == ".gz") ending = take_ending(stem);
  if (ending == ".mesh") return read_medit(load(path, progress).bytes());
  if (ending == ".msh") return read_gmsh(load(path, progress).bytes());
  if (ending == ".vtk") return solid_of(read_vtk(load(path, progress).bytes()), path);
  if (ending == ".vtu") return solid_of(read_vtk_xml(load(path, progress).bytes()), path);
  if (ending == ".node" || ending == ".ele") {
    return read_tetgen_files(path, stem, ending, progress);
  }
  throw Error(ErrorKind::usage, path +
                                    ": meshes of tetrahedra are read from .mesh, .msh, .node, "
                                    ".ele, .vtk and .vtu files, also with .gz appended");
}

void leave_lonely_vertices_out(SolidMesh& mesh) {
  LonelyVertices vertices(mesh.position.size());
  vertices.take_out_corners_of(mesh.tetrahedron);
  vertices.take_out_corners_of(mesh.triangle);
  mesh.left_out = vertices.list();
  if (mesh.left_out.empty()) return;
  mesh.position = vertices.without(mesh.position);
  vertices.renumber(mesh.tetrahedron);
  vertices.renumber(mesh.triangle);
}

/// Programs orient tetrahedra one way or the other, some inconsistently.
void turn_negative(SolidMesh& mesh) {
  for (auto& corners : mesh.tetrahedron) {
    const auto at = [&](std::size_t k) -> const Point& {
      return mesh.position[static_cast<std::size_t>(corners[k])];
    };
    if (!(points::volume6(at(0), at(1), at(2), at(3)) < 0)) continue;
    std::swap(corners[2], corners[3]);
    ++mesh.reoriented;
  }
}

}  // namespace

std::vector<std::string> files_of_solid_mesh(const std::string& path) {
  std::vector<std::string> files = {path};
  std::string stem = path;
  std::string ending = take_ending(stem);
  if (ending == ".gz") ending = take_ending(stem);
  if (ending != ".node" && ending != ".ele") return files;
  for (const char* const part : {".node", ".ele", ".face"}) {
    const auto other = neighbour(stem, part);
    if (ending != part && other) files.push_back(*other);
  }
  return files;
}

SolidMesh read_solid_mesh(const std::string& path, Progress* progress) {
  SolidMesh mesh = read_by_ending(path, progress);
  leave_lonely_vertices_out(mesh);
  turn_negative(mesh);
  return mesh;
}

}  // namespace heddle::mesh
