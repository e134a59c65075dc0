// A mesh in a few numbers, for reports.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "solid_mesh.hpp"

namespace heddle::mesh {

/// Parallel to the axes; both corners are 0 if there are no points.
struct Box {
  Point least{}, most{};
};
Box box_of(std::span<const Point> points);

struct GroupSize {
  Group group;  // without a name if the file gives none
  long long elements = 0;
};

/// Groups that the file names and those that elements have, except 0, which means none: first of
/// tetrahedra, then of triangles, each sorted by number.
std::vector<GroupSize> group_sizes(const SolidMesh& mesh);

}  // namespace heddle::mesh
