// What a mesh is, in a few numbers, for reports.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "solid_mesh.hpp"

namespace heddle::mesh {

/// Along the axes; both corners are 0 where there are no points.
struct Box {
  Point least{}, most{};
};
Box box_of(std::span<const Point> points);

struct GroupSize {
  Group group;  // without a name where the file gives it none
  long long elements = 0;
};

/// Groups that the file names and those that elements are of, but 0, which is none: of tetrahedra,
/// then of triangles, each by number.
std::vector<GroupSize> group_sizes(const SolidMesh& mesh);

}  // namespace heddle::mesh
