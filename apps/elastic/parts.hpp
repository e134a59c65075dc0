// The connected parts of a mesh.
#pragma once

#include <span>
#include <vector>

#include "model.hpp"

namespace heddle::elastic {

/// Vertices hang together where a tetrahedron has both.
struct Parts {
  std::vector<int> of_vertex;       // counted in the order of their first vertices
  std::vector<Index> first_vertex;  // of each part

  int count() const { return static_cast<int>(first_vertex.size()); }
};

Parts find_parts(Index vertices, std::span<const Tetrahedron> tetrahedra);

}  // namespace heddle::elastic
