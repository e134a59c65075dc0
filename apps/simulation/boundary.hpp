// The surface of a solid in tetrahedra.
#pragma once

#include <array>
#include <span>
#include <utility>
#include <vector>

#include "heddle/problems.hpp"

namespace heddle::simulation {

using Tetrahedron = std::array<Index, 4>;
using Triangle = std::array<Index, 3>;

/// The faces that belong to one tetrahedron only, counterclockwise seen from outside, in an order
/// that depends on their vertices alone.
class Boundary {
 public:
  explicit Boundary(std::span<const Tetrahedron> tetrahedra);

  const std::vector<Triangle>& triangles() const& { return triangles_; }
  std::vector<Triangle> triangles() && { return std::move(triangles_); }
  /// The triangle with these vertices in any order, or null if it is not a face of the boundary.
  const Triangle* find(Triangle vertices) const;

 private:
  std::vector<Triangle> sorted_;     // sorted increasingly, and so are their vertices
  std::vector<Triangle> triangles_;  // the same, oriented
};

}  // namespace heddle::simulation
