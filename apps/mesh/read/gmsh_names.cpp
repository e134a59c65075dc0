#include "gmsh_names.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace heddle::mesh {

namespace {

constexpr int any_dimension = -1;

}  // namespace

std::vector<Group> read_gmsh_names(TextScanner& scan) {
  constexpr std::size_t min_bytes = 4;
  const long long count = scan.count("names", min_bytes);
  std::vector<Group> names;
  for (long long i = 0; i < count; ++i) {
    scan.begin_record("name", i + 1, count);
    Group group;
    group.dimension = any_dimension;
    group.number = scan.small_integer();
    if (!scan.is_quoted_text()) {
      group.dimension = std::exchange(group.number, scan.small_integer());
    }
    group.name = scan.quoted_text();
    const int d = group.dimension;
    if (d == 2 || d == 3 || d == any_dimension) names.push_back(std::move(group));
  }
  return names;
}

void find_dimensions_of_names(SolidMesh& mesh) {
  if (std::ranges::find(mesh.names, any_dimension, &Group::dimension) == mesh.names.end()) return;
  const std::set<int> surfaces(mesh.surface.begin(), mesh.surface.end());
  const std::set<int> regions(mesh.region.begin(), mesh.region.end());
  std::vector<Group> names;
  for (const Group& group : mesh.names) {
    if (group.dimension != any_dimension) {
      names.push_back(group);
      continue;
    }
    for (const int dimension : {2, 3}) {
      const bool is_used = (dimension == 2 ? surfaces : regions).contains(group.number);
      if (is_used) names.push_back({group.name, dimension, group.number});
    }
  }
  mesh.names = std::move(names);
}

}  // namespace heddle::mesh
