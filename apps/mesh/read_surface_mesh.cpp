// Surfaces through libraries: tinyobjloader for OBJ, since it keeps the file's vertices and its
// texture coordinates apart, Assimp for the others.
#include <tiny_obj_loader.h>

#include <algorithm>
#include <assimp/Importer.hpp>
#include <charconv>
#include <cmath>
#include <map>
#include <sstream>
#include <utility>

#include <assimp/postprocess.h>
#include <assimp/scene.h>

#include "heddle/error.hpp"
#include "heddle/text.hpp"
#include "surface_mesh.hpp"

namespace heddle::mesh {

namespace {

using Triangle = std::array<Index, 3>;

/// One line of a library's message, without what it puts around it.
std::string one_line(std::string text) {
  text.erase(std::find(text.begin(), text.end(), '\n'), text.end());
  return text;
}

/// Vertices and triangles as they come; arrays of the mesh are made at the end.
struct Builder {
  std::vector<Point> position;
  std::vector<Triangle> triangle;
  std::vector<std::array<TextureCoordinate, 3>> texture;

  SurfaceMesh finish() && {
    return {{Array<Point>(std::span<const Point>(position)),
             Array<Triangle>(std::span<const Triangle>(triangle))},
            std::move(texture)};
  }
};

/// tinyobjloader takes what is no number for 0. Throws for the first vertex that has such.
void check_vertices(const std::string& path, const std::string& bytes) {
  const char* at = bytes.data();
  const char* const end = at + bytes.size();
  for (long long line = 1; at < end; ++line) {
    const char* const behind = std::find(at, end, '\n');
    if (behind - at > 2 && at[0] == 'v' && (at[1] == ' ' || at[1] == '\t')) {
      ++at;
      for (int k = 0; k < 3; ++k) {
        while (at < behind && (*at == ' ' || *at == '\t' || *at == '+')) ++at;
        double value = 0;
        const auto [next, failed] = std::from_chars(at, behind, value);
        if (failed != std::errc() || !std::isfinite(value)) {
          throw Error(ErrorKind::malformed_file, path + ":" + std::to_string(line) +
                                                     ": a vertex is v and three finite numbers");
        }
        at = next;
      }
    }
    at = behind + (behind < end);
  }
}

SurfaceMesh read_obj(const std::string& path, const std::string& bytes) {
  check_vertices(path, bytes);
  tinyobj::attrib_t attributes;
  std::vector<tinyobj::shape_t> shapes;
  std::vector<tinyobj::material_t> materials;
  std::string warning, error;
  std::istringstream text(bytes);
  const bool is_read = tinyobj::LoadObj(&attributes, &shapes, &materials, &warning, &error, &text,
                                        nullptr, /*triangulate=*/false);
  if (!is_read || !error.empty()) {
    throw Error(ErrorKind::malformed_file, path + ": " + one_line(error));
  }
  Builder mesh;
  for (std::size_t i = 0; i + 2 < attributes.vertices.size(); i += 3) {
    mesh.position.push_back(
        {attributes.vertices[i], attributes.vertices[i + 1], attributes.vertices[i + 2]});
  }
  const auto texture_of = [&](const tinyobj::index_t& corner) -> TextureCoordinate {
    const auto at = 2 * static_cast<std::size_t>(corner.texcoord_index);
    if (corner.texcoord_index < 0 || at + 1 >= attributes.texcoords.size()) return {NAN, NAN};
    return {attributes.texcoords[at], attributes.texcoords[at + 1]};
  };
  bool has_texture = true;
  for (const tinyobj::shape_t& shape : shapes) {
    std::size_t first = 0;
    for (const auto corners : shape.mesh.num_face_vertices) {
      const auto corner = [&](std::size_t i) { return shape.mesh.indices[first + i]; };
      for (std::size_t i = 1; i + 1 < corners; ++i) {
        const std::array<tinyobj::index_t, 3> of_triangle = {corner(0), corner(i), corner(i + 1)};
        Triangle triangle;
        std::array<TextureCoordinate, 3> texture;
        for (std::size_t k = 0; k < 3; ++k) {
          triangle[k] = of_triangle[k].vertex_index;
          texture[k] = texture_of(of_triangle[k]);
          has_texture = has_texture && std::isfinite(texture[k][0]) && std::isfinite(texture[k][1]);
        }
        mesh.triangle.push_back(triangle);
        mesh.texture.push_back(texture);
      }
      first += corners;
    }
  }
  if (!has_texture) mesh.texture.clear();
  return std::move(mesh).finish();
}

/// Corners of one position become one vertex.
void weld(Builder& mesh) {
  std::map<Point, Index> vertex_at;
  std::vector<Index> number(mesh.position.size());
  std::vector<Point> position;
  for (std::size_t v = 0; v < mesh.position.size(); ++v) {
    const auto [at, is_new] =
        vertex_at.emplace(mesh.position[v], static_cast<Index>(position.size()));
    if (is_new) position.push_back(mesh.position[v]);
    number[v] = at->second;
  }
  for (Triangle& triangle : mesh.triangle) {
    for (Index& v : triangle) v = number[static_cast<std::size_t>(v)];
  }
  mesh.position = std::move(position);
}

SurfaceMesh read_by_assimp(const std::string& path, const std::string& bytes,
                           const std::string& kind) {
  Assimp::Importer importer;
  const aiScene* scene =
      importer.ReadFileFromMemory(bytes.data(), bytes.size(), aiProcess_Triangulate, kind.c_str());
  if (scene == nullptr) {
    throw Error(ErrorKind::malformed_file, path + ": " + one_line(importer.GetErrorString()));
  }
  Builder mesh;
  for (unsigned m = 0; m < scene->mNumMeshes; ++m) {
    const aiMesh& part = *scene->mMeshes[m];
    const auto first = static_cast<Index>(mesh.position.size());
    for (unsigned v = 0; v < part.mNumVertices; ++v) {
      mesh.position.push_back({part.mVertices[v].x, part.mVertices[v].y, part.mVertices[v].z});
    }
    for (unsigned f = 0; f < part.mNumFaces; ++f) {
      const aiFace& face = part.mFaces[f];
      if (face.mNumIndices != 3) continue;  // points and lines
      Triangle triangle;
      for (unsigned k = 0; k < 3; ++k) {
        triangle[k] = first + static_cast<Index>(face.mIndices[k]);
      }
      mesh.triangle.push_back(triangle);
    }
  }
  if (kind == "stl") weld(mesh);
  return std::move(mesh).finish();
}

/// The end of the name in small letters, without .gz.
std::string kind_of(const std::string& path) {
  std::string name = path;
  if (name.ends_with(".gz")) name.resize(name.size() - 3);
  std::string kind = name.substr(name.find_last_of("./") + 1);
  for (char& c : kind) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return kind;
}

}  // namespace

SurfaceMesh read_surface_mesh(const std::string& path) {
  const std::string kind = kind_of(path);
  if (kind != "obj" && kind != "off" && kind != "ply" && kind != "stl") {
    throw Error(ErrorKind::usage,
                path +
                    ": surfaces are read from .obj, .off, .ply and .stl files, or those with "
                    ".gz behind");
  }
  const std::string bytes = io::read_file(path);
  SurfaceMesh mesh = kind == "obj" ? read_obj(path, bytes) : read_by_assimp(path, bytes, kind);
  const auto& position = mesh.triangles.position;
  for (std::size_t v = 0; v < position.size(); ++v) {
    for (const double x : position[v]) {
      if (!std::isfinite(x)) {
        throw Error(ErrorKind::not_finite, path + ": vertex " + std::to_string(v + 1) +
                                               " has a coordinate that is no finite number");
      }
    }
  }
  return mesh;
}

}  // namespace heddle::mesh
