#include "surface_builder.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "face_cutter.hpp"
#include "heddle/error.hpp"

namespace heddle::mesh {

namespace {

void check_count(std::string_view path, std::size_t count, const char* what) {
  constexpr auto most = static_cast<std::size_t>(std::numeric_limits<Index>::max());
  if (count <= most) return;
  throw Error(ErrorKind::malformed_file, std::string(path) + ": " + std::to_string(count) + " " +
                                             what + " are too many; at most " +
                                             std::to_string(most) + " are possible");
}

}  // namespace

void SurfaceBuilder::add_polygon(std::span<const Index> corner) {
  corner_.insert(corner_.end(), corner.begin(), corner.end());
  end_.push_back(corner_.size());
}

void SurfaceBuilder::append(const SurfaceBuilder& other) {
  position.insert(position.end(), other.position.begin(), other.position.end());
  const std::size_t before = corner_.size();
  corner_.insert(corner_.end(), other.corner_.begin(), other.corner_.end());
  for (const std::size_t end : other.end_) end_.push_back(before + end);
}

SurfaceMesh SurfaceBuilder::finish(std::string_view path) && {
  const std::size_t triangles = corner_.size() - 2 * end_.size();
  check_count(path, position.size(), "vertices");
  check_count(path, triangles, "triangles");
  SurfaceMesh mesh;
  mesh.triangles.position = Array<Point>(std::span<const Point>(position));
  mesh.triangles.triangle = Array<std::array<Index, 3>>(triangles);
  const bool is_textured = !end_.empty() && texture.size() == corner_.size();
  if (is_textured) mesh.texture.reserve(triangles);

  const auto for_each_face = [&](const auto& act) {
    std::size_t begin = 0;
    for (const std::size_t end : end_) {
      act(begin, std::span<const Index>(corner_).subspan(begin, end - begin));
      begin = end;
    }
  };
  FaceCutter cutter;
  if (triangles > end_.size()) {
    for_each_face([&](std::size_t, std::span<const Index> face) { cutter.add_edges(face); });
  }
  auto triangle = mesh.triangles.triangle.begin();
  for_each_face([&](std::size_t begin, std::span<const Index> face) {
    cutter.cut(face, [&](const std::array<std::size_t, 3>& place) {
      *triangle++ = {face[place[0]], face[place[1]], face[place[2]]};
      if (!is_textured) return;
      mesh.texture.push_back(
          {texture[begin + place[0]], texture[begin + place[1]], texture[begin + place[2]]});
    });
  });
  return mesh;
}

}  // namespace heddle::mesh
