#include "parts.hpp"

#include <algorithm>
#include <numeric>

namespace heddle::elastic {

Parts find_parts(Index vertices, std::span<const Tetrahedron> tetrahedra) {
  // Disjoint sets; each set's root is its least vertex.
  std::vector<Index> parent(static_cast<std::size_t>(vertices));
  std::iota(parent.begin(), parent.end(), 0);
  const auto root = [&](Index v) {
    while (parent[static_cast<std::size_t>(v)] != v) {
      Index& above = parent[static_cast<std::size_t>(v)];
      above = parent[static_cast<std::size_t>(above)];
      v = above;
    }
    return v;
  };
  for (const Tetrahedron& corners : tetrahedra) {
    for (std::size_t a = 1; a < 4; ++a) {
      const Index r = root(corners[0]), s = root(corners[a]);
      parent[static_cast<std::size_t>(std::max(r, s))] = std::min(r, s);
    }
  }
  Parts parts;
  parts.of_vertex.resize(static_cast<std::size_t>(vertices));
  for (Index v = 0; v < vertices; ++v) {
    const Index r = root(v);
    if (r == v) parts.first_vertex.push_back(v);
    parts.of_vertex[static_cast<std::size_t>(v)] =
        r == v ? parts.count() - 1 : parts.of_vertex[static_cast<std::size_t>(r)];
  }
  return parts;
}

}  // namespace heddle::elastic
