#include "slab_mesh.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "heddle/error.hpp"
#include "heddle/tools/points.hpp"
#include "heddle/tools/text.hpp"

namespace heddle::mesh {

namespace {

using Corners = std::array<int, 4>;  // in a cube: bit k is set at the greater side along axis k

/// Paths along the edges from corner 0 to corner 7, one for each order of the axes.
constexpr std::array<Corners, 6> six = {
    {{0, 1, 3, 7}, {0, 5, 1, 7}, {0, 3, 2, 7}, {0, 2, 6, 7}, {0, 4, 5, 7}, {0, 6, 4, 7}}};
/// The four corners of odd parity, each with its neighbours, and the tetrahedron between them.
constexpr std::array<Corners, 5> five = {
    {{1, 3, 0, 5}, {2, 0, 3, 6}, {4, 5, 0, 6}, {7, 6, 3, 5}, {0, 5, 3, 6}}};

class Slab {
 public:
  Slab(const Point& sides, double h) : sides_(sides) {
    for (std::size_t k = 0; k < 3; ++k) {
      const double cells = std::round(sides[k] / h);
      if (!(cells >= 1) || !(std::abs(cells * h - sides[k]) <= 1e-9 * sides[k])) {
        std::string text = "the slab's side of ";
        io::append_number(text, sides[k]);
        text += " is not a whole number of cubes of ";
        io::append_number(text, h);
        throw Error(ErrorKind::usage, text);
      }
      if (cells >= std::numeric_limits<Index>::max()) refuse_size();
      cells_[k] = static_cast<Index>(cells);
    }
    const double vertices = (cells_[0] + 1.0) * (cells_[1] + 1.0) * (cells_[2] + 1.0);
    if (vertices > std::numeric_limits<Index>::max()) refuse_size();
  }

  std::vector<Point> positions() const {
    std::vector<Point> position;
    for (Index z = 0; z <= cells_[2]; ++z) {
      for (Index y = 0; y <= cells_[1]; ++y) {
        for (Index x = 0; x <= cells_[0]; ++x) {
          position.push_back(
              {sides_[0] * x / cells_[0], sides_[1] * y / cells_[1], sides_[2] * z / cells_[2]});
        }
      }
    }
    return position;
  }

  std::vector<std::array<Index, 4>> tetrahedra(CubeSplit split) const {
    std::vector<std::array<Index, 4>> all;
    for (Index z = 0; z < cells_[2]; ++z) {
      for (Index y = 0; y < cells_[1]; ++y) {
        for (Index x = 0; x < cells_[0]; ++x) {
          if (split == CubeSplit::six) {
            for (const Corners& corners : six) all.push_back(of_cube({x, y, z}, corners, false));
          } else {
            const bool is_mirrored = (x + y + z) % 2 != 0;
            for (const Corners& corners : five)
              all.push_back(of_cube({x, y, z}, corners, is_mirrored));
          }
        }
      }
    }
    return all;
  }

  /// The side of the slab that all of these vertices lie on, 0 to 5, or -1.
  int side_of(const std::array<Index, 3>& vertices) const {
    for (int side = 0; side < 6; ++side) {
      const auto k = static_cast<std::size_t>(side / 2);
      const Index wanted = side % 2 == 0 ? 0 : cells_[k];
      if (std::all_of(vertices.begin(), vertices.end(),
                      [&](Index v) { return place_of(v)[k] == wanted; })) {
        return side;
      }
    }
    return -1;
  }

 private:
  [[noreturn]] static void refuse_size() {
    throw Error(ErrorKind::unsupported, "the slab has more vertices than can be numbered");
  }

  std::array<Index, 3> place_of(Index v) const {
    const Index row = v / (cells_[0] + 1);
    return {v % (cells_[0] + 1), row % (cells_[1] + 1), row / (cells_[1] + 1)};
  }

  /// A mirrored cube is mirrored along x, which would turn its tetrahedra inside out.
  std::array<Index, 4> of_cube(const std::array<Index, 3>& cube, Corners corners,
                               bool is_mirrored) const {
    if (is_mirrored) std::swap(corners[2], corners[3]);
    std::array<Index, 4> vertices{};
    for (std::size_t a = 0; a < 4; ++a) {
      const int corner = is_mirrored ? corners[a] ^ 1 : corners[a];
      vertices[a] = ((cube[2] + (corner >> 2)) * (cells_[1] + 1) + cube[1] + ((corner >> 1) & 1)) *
                        (cells_[0] + 1) +
                    cube[0] + (corner & 1);
    }
    return vertices;
  }

  Point sides_;
  std::array<Index, 3> cells_{};
};

}  // namespace

SolidMesh make_slab(const Point& sides, double h, CubeSplit split) {
  const Slab slab(sides, h);
  SolidMesh mesh;
  mesh.position = slab.positions();
  mesh.tetrahedron = slab.tetrahedra(split);
  mesh.region.assign(mesh.tetrahedron.size(), 1);
  mesh.names = {{"slab", 3, 1}};
  const char* const names[] = {"x-least",    "x-greatest", "y-least",
                               "y-greatest", "z-least",    "z-greatest"};
  for (int side = 0; side < 6; ++side) mesh.names.push_back({names[side], 2, side + 1});
  for (const auto& [a, b, c, d] : mesh.tetrahedron) {
    for (const std::array<Index, 3>& face :
         {std::array<Index, 3>{b, c, d}, {a, d, c}, {a, b, d}, {a, c, b}}) {
      if (const int side = slab.side_of(face); side >= 0) {
        mesh.triangle.push_back(face);
        mesh.surface.push_back(side + 1);
      }
    }
  }
  return mesh;
}

}  // namespace heddle::mesh
