// The connected parts of a mesh.
#pragma once

#include <span>
#include <vector>

#include "model.hpp"

namespace heddle::elastic {

/// Two vertices are connected if a tetrahedron has both.
struct Parts {
  std::vector<int> of_vertex;       // part of each vertex; parts ordered by their first vertices
  std::vector<Index> first_vertex;  // per part

  int count() const { return static_cast<int>(first_vertex.size()); }
};

Parts find_parts(Index vertices, std::span<const Tetrahedron> tetrahedra);

}  // namespace heddle::elastic
