#include "surface_builder.hpp"

#include <limits>
#include <string>
#include <utility>

#include "heddle/error.hpp"

namespace heddle::mesh {

void SurfaceBuilder::add_polygon(std::span<const Index> corner) {
  for (std::size_t i = 1; i + 1 < corner.size(); ++i) {
    triangle.push_back({corner[0], corner[i], corner[i + 1]});
  }
}

SurfaceMesh SurfaceBuilder::finish(std::string_view path) && {
  constexpr auto most = static_cast<std::size_t>(std::numeric_limits<Index>::max());
  for (const auto& [count, what] :
       {std::pair{position.size(), "vertices"}, std::pair{triangle.size(), "triangles"}}) {
    if (count <= most) continue;
    throw Error(ErrorKind::malformed_file, std::string(path) + ": " + std::to_string(count) + " " +
                                               what + " are too many, " + std::to_string(most) +
                                               " are possible");
  }
  return {{Array<Point>(std::span<const Point>(position)),
           Array<std::array<Index, 3>>(std::span<const std::array<Index, 3>>(triangle))},
          {}};
}

}  // namespace heddle::mesh
