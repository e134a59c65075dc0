#include "boundary.hpp"

#include <algorithm>

namespace heddle::simulation {

namespace {

struct Face {
  Triangle sorted;
  Triangle oriented;
};

Triangle sorted(Triangle triangle) {
  std::sort(triangle.begin(), triangle.end());
  return triangle;
}

}  // namespace

Boundary::Boundary(std::span<const Tetrahedron> tetrahedra) {
  std::vector<Face> faces;
  faces.reserve(tetrahedra.size() * 4);
  for (const auto& [a, b, c, d] : tetrahedra) {
    for (const Triangle& face : {Triangle{b, c, d}, {a, d, c}, {a, b, d}, {a, c, b}}) {
      faces.push_back({sorted(face), face});
    }
  }
  std::sort(faces.begin(), faces.end(),
            [](const Face& a, const Face& b) { return a.sorted < b.sorted; });
  for (std::size_t i = 0; i < faces.size();) {
    std::size_t next = i + 1;
    while (next < faces.size() && faces[next].sorted == faces[i].sorted) ++next;
    if (next == i + 1) {
      sorted_.push_back(faces[i].sorted);
      triangles_.push_back(faces[i].oriented);
    }
    i = next;
  }
}

const Triangle* Boundary::find(Triangle vertices) const {
  std::sort(vertices.begin(), vertices.end());
  const auto at = std::lower_bound(sorted_.begin(), sorted_.end(), vertices);
  if (at == sorted_.end() || *at != vertices) return nullptr;
  return &triangles_[static_cast<std::size_t>(at - sorted_.begin())];
}

}  // namespace heddle::simulation
