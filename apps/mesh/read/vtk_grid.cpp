#include "vtk_grid.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <span>
#include <string>

#include "heddle/error.hpp"
#include "surface_builder.hpp"

namespace heddle::mesh {

namespace {

enum CellType : long long { triangle = 5, polygon = 7, pixel = 8, quadrilateral = 9, tetra = 10 };

std::string name_of(long long type) {
  static constexpr const char* names[] = {"empty",
                                          "a vertex",
                                          "vertices",
                                          "a line",
                                          "a polyline",
                                          "a triangle",
                                          "a strip of triangles",
                                          "a polygon",
                                          "a pixel",
                                          "a quadrilateral",
                                          "a tetrahedron",
                                          "a voxel",
                                          "a hexahedron",
                                          "a wedge",
                                          "a pyramid",
                                          "a pentagonal prism",
                                          "a hexagonal prism"};
  static constexpr const char* quadratic[] = {
      "edge", "triangle", "quadrilateral", "tetrahedron", "hexahedron", "wedge", "pyramid"};
  const std::string number = "type " + std::to_string(type);
  constexpr long long first_quadratic = 21;
  if (type >= 0 && type < std::ssize(names)) return std::string(names[type]) + " (" + number + ")";
  if (type >= first_quadratic && type - first_quadratic < std::ssize(quadratic)) {
    return std::string("a quadratic ") + quadratic[type - first_quadratic] + " (" + number + ")";
  }
  return "of " + number;
}

/// Points and lines of any order, which are not part of a solid or a surface.
bool is_thin(long long type) {
  constexpr long long quadratic_edge = 21, cubic_line = 35;
  return (type >= 0 && type < triangle) || type == quadratic_edge || type == cubic_line;
}

/// The cells of a grid one after the other, each checked.
class Cells {
 public:
  Cells(const VtkGrid& grid, std::string_view path) : grid_(grid), path_(path) {
    if (grid.type.size() != grid.end.size()) {
      refuse(std::to_string(grid.type.size()) + " types for " + std::to_string(grid.end.size()) +
             " cells");
    }
    if (!grid.group.empty() && grid.group.size() != grid.end.size()) {
      refuse("groups for " + std::to_string(grid.group.size()) + " of " +
             std::to_string(grid.end.size()) + " cells");
    }
  }

  /// Calls `take` with type, corners and group of all cells except points and lines.
  template <class Take>
  void for_each(const Take& take) {
    long long begin = 0;
    std::vector<Index> corners;
    for (at_ = 0; at_ < grid_.end.size(); ++at_) {
      const long long end = grid_.end[at_];
      if (end < begin || end > std::ssize(grid_.corner)) {
        refuse(name() + " ends at corner " + std::to_string(end) + " of " +
               std::to_string(grid_.corner.size()));
      }
      const auto given =
          std::span(grid_.corner)
              .subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
      begin = end;
      if (is_thin(grid_.type[at_])) continue;
      corners.clear();
      for (const long long v : given) corners.push_back(checked(v));
      take(grid_.type[at_], corners, group());
    }
  }

  void need_corners(const std::vector<Index>& corners, std::size_t wanted) const {
    if (corners.size() == wanted) return;
    refuse(name() + " is " + name_of(grid_.type[at_]) + " of " + std::to_string(corners.size()) +
           " corners");
  }

  [[noreturn]] void refuse_type(const char* read) const {
    refuse(name() + " is " + name_of(grid_.type[at_]) + "; only " + read + " are read");
  }
  [[noreturn]] void refuse(const std::string& what,
                           ErrorKind kind = ErrorKind::malformed_file) const {
    throw Error(kind, std::string(path_) + ": " + what);
  }

 private:
  std::string name() const { return "cell " + std::to_string(at_); }

  Index checked(long long v) const {
    if (v < 0 || v >= std::ssize(grid_.position)) {
      refuse(name() + " refers to point " + std::to_string(v) + ", which does not exist",
             ErrorKind::out_of_range);
    }
    return static_cast<Index>(v);
  }

  int group() const {
    if (grid_.group.empty()) return 0;
    constexpr long long most = std::numeric_limits<int>::max();
    const long long group = grid_.group[at_];
    if (group < -most || group > most) refuse(name() + " is in a group with too large a number");
    return static_cast<int>(group);
  }

  const VtkGrid& grid_;
  std::string_view path_;
  std::size_t at_ = 0;
};

}  // namespace

bool is_group_name(std::string_view name) {
  constexpr std::string_view names[] = {"gmsh:physical", "medit:ref", "tetgen:ref", "CellEntityIds",
                                        "group"};
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

SolidMesh solid_of(const VtkGrid& grid, std::string_view path) {
  SolidMesh mesh;
  Cells cells(grid, path);
  cells.for_each([&](long long type, const std::vector<Index>& corner, int group) {
    if (type == tetra) {
      cells.need_corners(corner, 4);
      mesh.tetrahedron.push_back({corner[0], corner[1], corner[2], corner[3]});
      mesh.region.push_back(group);
    } else if (type == triangle) {
      cells.need_corners(corner, 3);
      mesh.triangle.push_back({corner[0], corner[1], corner[2]});
      mesh.surface.push_back(group);
    } else {
      cells.refuse_type("tetrahedra and triangles");
    }
  });
  if (mesh.tetrahedron.empty()) cells.refuse("the file has no tetrahedra");
  mesh.position = grid.position;
  return mesh;
}

SurfaceMesh surface_of(const VtkGrid& grid, std::string_view path) {
  SurfaceBuilder mesh;
  Cells cells(grid, path);
  cells.for_each([&](long long type, std::vector<Index>& corner, int /*group*/) {
    if (type == triangle || (type == polygon && corner.size() < 3)) {
      cells.need_corners(corner, 3);
    } else if (type == quadrilateral || type == pixel) {
      cells.need_corners(corner, 4);
      if (type == pixel) std::swap(corner[2], corner[3]);
    } else if (type != polygon) {
      cells.refuse_type("triangles, quadrilaterals and polygons");
    }
    mesh.add_polygon(corner);
  });
  mesh.position = grid.position;
  return std::move(mesh).finish(path);
}

}  // namespace heddle::mesh
