#include "mesh_summary.hpp"

#include <algorithm>
#include <map>

namespace heddle::mesh {

namespace {

void add_groups(const SolidMesh& mesh, int dimension, const std::vector<int>& group_of,
                std::vector<GroupSize>& sizes) {
  std::map<int, GroupSize> by_number;
  for (const Group& group : mesh.names) {
    if (group.dimension == dimension) by_number.try_emplace(group.number, GroupSize{group, 0});
  }
  for (const int number : group_of) {
    if (number == 0) continue;
    const auto at = by_number.try_emplace(number, GroupSize{{"", dimension, number}, 0}).first;
    ++at->second.elements;
  }
  for (auto& [number, size] : by_number) sizes.push_back(std::move(size));
}

}  // namespace

Box box_of(std::span<const Point> points) {
  if (points.empty()) return {};
  Box box{points[0], points[0]};
  for (const Point& point : points) {
    for (std::size_t k = 0; k < 3; ++k) {
      box.least[k] = std::min(box.least[k], point[k]);
      box.most[k] = std::max(box.most[k], point[k]);
    }
  }
  return box;
}

std::vector<GroupSize> group_sizes(const SolidMesh& mesh) {
  std::vector<GroupSize> sizes;
  add_groups(mesh, 3, mesh.region, sizes);
  add_groups(mesh, 2, mesh.surface, sizes);
  return sizes;
}

}  // namespace heddle::mesh
